//! Where settings come from: the command line, the environment and the files. The only reader of all three.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches};
use domain::policy::Policy;

use super::consent::Consents;
use super::error::ConfigError;
use super::form::Given;
use super::scripts::Script;
use super::setting::{Fallback, PREFIX, SETTINGS, Setting};
use crate::main_ai;

use super::{apart, file, open_to_others, project};

/// Of the person and of a project alike.
pub const FILE_NAME: &str = "voxpilot.toml";

/// Everything that decides the settings, so that resolving them is a pure function.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// By key, as in `voxpilot.toml`.
    pub flags: BTreeMap<String, String>,
    pub env: BTreeMap<String, String>,
    /// Of the work directory: as good as whoever wrote it, so it counts whole only where the person has consented to it.
    pub project: Option<ConfigFile>,
    /// The person's own.
    pub user: Option<ConfigFile>,
    /// Chosen in the page, by key; only settings that can be chosen there.
    pub here: BTreeMap<String, String>,
    /// Set up in the page.
    pub main_ai: Option<main_ai::Stored>,
    /// Absolute.
    pub cwd: PathBuf,
    /// What was passed over, and why.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Absolute.
    pub path: PathBuf,
    pub text: String,
    /// Somebody besides the owner may read it.
    pub open_to_others: bool,
    /// All of it counts, and what is wrong in it is an error.
    pub trusted: bool,
    /// What it runs below its directory. Only a project's file is looked at for that: the person's own is theirs.
    pub scripts: Vec<Script>,
}

/// The flags of every command that needs settings.
pub fn args() -> impl Iterator<Item = Arg> {
    SETTINGS.iter().map(|setting| {
        let default = match setting.default {
            Fallback::Text(text) => format!(" [default: {text}]"),
            _ => String::new(),
        };
        let help = format!("{}{default} [env: {}]", setting.help, setting.variable());
        Arg::new(setting.name).long(setting.name).value_name(setting.value_name).help(help)
    })
}

/// The settings that were given as flags; a command need not take all of them.
pub fn flags(matches: &ArgMatches) -> BTreeMap<String, String> {
    let given = |setting: &Setting| Some((setting.key(), matches.try_get_one::<String>(setting.name).ok()??.clone()));
    SETTINGS.iter().filter_map(given).collect()
}

impl Sources {
    pub fn gather(flags: BTreeMap<String, String>) -> Result<Sources, ConfigError> {
        let cwd = std::env::current_dir()
            .map_err(|error| ConfigError { problems: vec![format!("the current directory cannot be read: {error}")] })?;
        let mut sources = Sources { flags, env: environment()?, cwd, ..Sources::default() };
        let user = sources.config_dir().map(|dir| dir.join(FILE_NAME));
        sources.user = user.as_deref().map(read).transpose()?.flatten();
        // Where there is no such directory, that is said later on, with where it was named.
        if let Ok(work_dir) = sources.own_work_dir().canonicalize() {
            sources.add_project(&work_dir);
        }
        Ok(sources)
    }

    fn add_project(&mut self, work_dir: &Path) {
        let own = self.user.as_ref().and_then(|user| user.path.canonicalize().ok());
        if own == Some(work_dir.join(FILE_NAME)) {
            return;
        }
        if own.is_some_and(|own| own.starts_with(work_dir)) {
            self.warnings.push("your own voxpilot.toml is inside the work directory: whatever works there can change it".to_owned());
        }
        match project::read(work_dir, self.home()) {
            Ok(Some(mut file)) => {
                file.trusted = self.has_consent(work_dir, &file);
                self.project = Some(file);
            }
            Ok(None) => {}
            Err(warning) => self.warnings.push(warning),
        }
    }

    /// A project could bring a consent along, in a data directory of its own.
    fn has_consent(&mut self, work_dir: &Path, file: &ConfigFile) -> bool {
        let Some(data_dir) = self.own_data_dir().filter(|data_dir| !apart::is_inside(data_dir, work_dir)) else { return false };
        match Consents::read(&data_dir) {
            Ok(consents) => consents.cover(file),
            Err(error) => {
                self.warnings.push(format!("no project is trusted: {error}"));
                false
            }
        }
    }

    /// The data directory as the person has set it, whatever the project wants.
    pub fn own_data_dir(&self) -> Option<PathBuf> {
        self.own_path("data_dir").or_else(|| self.user_directory("XDG_DATA_HOME", ".local/share"))
    }

    /// The work directory as the person has set it.
    pub fn own_work_dir(&self) -> PathBuf {
        self.own_path("work_dir").unwrap_or_else(|| self.cwd.clone())
    }

    pub fn home(&self) -> Option<&Path> {
        self.variable("HOME").map(Path::new).filter(|home| home.is_absolute())
    }

    /// Where the person's own settings are.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.user_directory("XDG_CONFIG_HOME", ".config")
    }

    /// `voxpilot` in one of the user's base directories; a relative one counts as not set, as the XDG rules say.
    pub(super) fn user_directory(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let given = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        Some(given.or_else(|| self.home().map(|home| home.join(below_home)))?.join("voxpilot"))
    }

    /// An empty variable counts as not set: that is how people switch one off.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The policy that holds where the project has none.
    pub(super) fn own_policy(&self) -> Option<Policy> {
        self.own_text("permission_policy")?.0.parse().ok()
    }

    fn own_path(&self, key: &str) -> Option<PathBuf> {
        let (text, base) = self.own_text(key)?;
        Given { text: &text, base, home: self.home() }.path()
    }

    /// A setting as the person has given it, and what a relative path in it is relative to.
    fn own_text(&self, key: &str) -> Option<(String, &Path)> {
        let variable = format!("{PREFIX}{}", key.to_uppercase());
        let given = self.flags.get(key).map(String::as_str).or_else(|| self.variable(&variable));
        match given.or_else(|| self.here.get(key).map(String::as_str)) {
            Some(text) => Some((text.to_owned(), &self.cwd)),
            None => {
                let user = self.user.as_ref()?;
                Some((file::text_of(&user.text, key)?, user.path.parent()?))
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place where the environment is read")]
fn environment() -> Result<BTreeMap<String, String>, ConfigError> {
    let mut env = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => drop(env.insert(name, value)),
            (Ok(name), Err(_)) if name.starts_with(PREFIX) => problems.push(format!("`{name}` is not valid UTF-8")),
            // Somebody else's variable.
            _ => {}
        }
    }
    ConfigError::unless_empty(problems).map(|()| env)
}

fn read(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(ConfigFile {
            path: path.to_path_buf(),
            text,
            open_to_others: open_to_others(path),
            trusted: true,
            scripts: Vec::new(),
        })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ConfigError { problems: vec![format!("{} cannot be read: {error}", path.display())] }),
    }
}
