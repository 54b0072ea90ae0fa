//! The `voxpilot.toml` of a work directory, which anybody may have written: how it is read, and what of it needs consent.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use domain::policy::Policy;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use toml::Value;

use super::setting::{ForProject, SETTINGS};
use super::sources::FILE_NAME;
use super::{ConfigFile, open_to_others, scripts};

/// Far more than settings take.
const MOST_BYTES: u64 = 64 * 1024;

/// Reads the file in `dir`, which must be canonical. Not through a link, and nothing that could hang or never end. An error is why it is
/// passed over.
pub(super) fn read(dir: &Path, home: Option<&Path>) -> Result<Option<ConfigFile>, String> {
    let path = dir.join(FILE_NAME);
    let passed_over = |why: &str| format!("{} is ignored: {why}", path.display());
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(passed_over("it is a link")),
        Err(error) => return Err(passed_over(&format!("it cannot be read: {error}"))),
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(passed_over("it is not a file"));
    }
    let mut bytes = Vec::new();
    match file.take(MOST_BYTES + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > MOST_BYTES => return Err(passed_over("it is larger than 64 KiB")),
        Ok(_) => {}
        Err(error) => return Err(passed_over(&format!("it cannot be read: {error}"))),
    }
    let text = String::from_utf8(bytes).map_err(|_| passed_over("it is not UTF-8"))?;
    let scripts = scripts::find(dir, &text, home);
    Ok(Some(ConfigFile { open_to_others: open_to_others(&path), path, text, trusted: false, scripts }))
}

/// The file at a path that was canonical when it was consented to, if it is still there.
pub fn file(path: &Path, home: Option<&Path>) -> Option<ConfigFile> {
    read(path.parent()?, home).ok().flatten().filter(|file| file.path == path)
}

impl ConfigFile {
    /// SHA-256 in hexadecimal of all that consent is given to: its content, and that of the files it runs.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new_with_prefix(self.text.as_bytes());
        // A text of TOML holds no such byte, so no file can be taken for another with scripts.
        self.scripts.iter().for_each(|script| digest.update(format!("\0{}", script.identity())));
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a key of the file does that needs consent; none where it is harmless. `otherwise` is the policy that would hold without the file.
pub(super) fn needs_consent(key: &str, value: &Value, otherwise: Option<Policy>) -> Option<&'static str> {
    match SETTINGS.iter().find(|setting| setting.key() == key).map(|setting| setting.for_project) {
        Some(ForProject::Harmless) => None,
        Some(ForProject::Stricter(why)) => {
            let wanted = value.as_str().and_then(|text| text.parse().ok());
            let holds = otherwise.unwrap_or(Policy::Auto);
            let stricter = wanted.is_some_and(|wanted: Policy| wanted.stricter(holds) != holds);
            (!stricter && (wanted.is_none() || wanted != otherwise)).then_some(why)
        }
        Some(ForProject::Consent(why)) => Some(why),
        None if key == "agents" => Some("names a program that is started as an agent, or an address of one"),
        None if key == "mcp_servers" => Some("names a program or an address that agents are given as a tool"),
        None => Some("is no setting that VoxPilot knows"),
    }
}
