//! The commit that a repository inside the working tree is at.

use std::path::Path;

use crate::beneath::{Root, real_path};

const LINK_BYTES: u64 = 8 * 1024;
const PACKED_BYTES: u64 = 16 * 1024 * 1024;

/// None where it has none, or one that is not found in plain files. `common_dir` is that of the repository around it, which may hold
/// the module's own.
pub(super) fn head(module: &Root, common_dir: &Root) -> Option<String> {
    let git_dir = git_dir(module, common_dir)?;
    let head = line(&git_dir, "HEAD")?;
    let Some(reference) = head.strip_prefix("ref: ") else { return is_hash(&head).then_some(head) };
    let reference = reference.trim();
    let loose = line(&git_dir, reference).filter(|hash| is_hash(hash));
    loose.or_else(|| packed(&git_dir, reference))
}

fn git_dir(module: &Root, common_dir: &Root) -> Option<Root> {
    if let Ok(git_dir) = module.open_below(b".git") {
        return Some(git_dir);
    }
    let link = line(module, ".git")?;
    let target = module.path().join(link.strip_prefix("gitdir: ")?.trim());
    let real = real_path(&target).filter(|real| real.starts_with(common_dir.path().join("modules")))?;
    let below = real.strip_prefix(common_dir.path()).ok()?;
    common_dir.open_below(Path::new(below).as_os_str().as_encoded_bytes()).ok()
}

fn packed(git_dir: &Root, reference: &str) -> Option<String> {
    let text = String::from_utf8(git_dir.small_file("packed-refs", PACKED_BYTES).ok()??).ok()?;
    let hash = text.lines().find_map(|line| line.strip_suffix(reference)?.strip_suffix(' '))?;
    is_hash(hash).then(|| hash.to_owned())
}

fn line(root: &Root, name: &str) -> Option<String> {
    let bytes = root.small_file(name, LINK_BYTES).ok()??;
    String::from_utf8(bytes).ok().map(|text| text.trim_end().to_owned())
}

pub(super) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
