//! From what a model calls a commit to object names. Only object names reach a diff command.

use super::command::Git;
use crate::arguments::{self, GitDiff};
use crate::{Refusal, bound};

const NAME_BYTES: usize = 256;

/// What a diff compares.
pub(crate) struct Comparison {
    pub flags: Vec<&'static str>,
    pub revisions: Vec<String>,
    pub title: String,
    pub has_working_tree: bool,
}

pub(crate) async fn compare(git: &Git, arguments: &GitDiff) -> Result<Comparison, Refusal> {
    let base_name = arguments::given(&arguments.base);
    let head_name = arguments::given(&arguments.head);
    let staged = arguments.staged.unwrap_or(false);
    if head_name.is_some() && base_name.is_none() {
        return Err(Refusal::new("head needs a base to compare with; use git_show for one commit"));
    }
    if head_name.is_some() && staged {
        return Err(Refusal::new("staged compares with the index, so it cannot be combined with head"));
    }
    let mut base = match base_name {
        Some(name) => commit(git, name).await?,
        None => current(git).await?,
    };
    let head = match head_name {
        Some(name) => Some(commit(git, name).await?),
        None => None,
    };
    let from_merge_base = arguments.merge_base.unwrap_or(false) && base_name.is_some();
    if from_merge_base {
        base = merge_base(git, &base, head.as_deref().unwrap_or("HEAD")).await?;
    }
    let dots = if from_merge_base { "..." } else { ".." };
    let title = match (base_name, head_name) {
        (Some(base), Some(head)) => format!("{base}{dots}{head}"),
        (Some(base), None) if staged => format!("staged changes since {base}"),
        (Some(base), None) => format!("changes since {base}"),
        _ if staged => "staged changes".to_owned(),
        _ => "uncommitted changes".to_owned(),
    };
    Ok(Comparison {
        flags: if staged { vec!["--cached"] } else { Vec::new() },
        has_working_tree: head.is_none() && !staged,
        revisions: [Some(base), head].into_iter().flatten().collect(),
        title: match arguments::given(&arguments.path) {
            Some(path) => format!("{title}: {}", bound::name(path)),
            None => title,
        },
    })
}

pub(crate) async fn commit(git: &Git, name: &str) -> Result<String, Refusal> {
    check(name)?;
    let wanted = format!("{name}^{{commit}}");
    object(git, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])
        .await?
        .ok_or_else(|| Refusal::new(format!("there is no commit, branch or tag '{name}'")))
}

/// HEAD, or the empty tree in a repository without a commit.
pub(crate) async fn current(git: &Git) -> Result<String, Refusal> {
    if let Some(head) = object(git, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await? {
        return Ok(head);
    }
    object(git, &["hash-object", "-t", "tree", "--stdin"]).await?.ok_or_else(|| Refusal::new("git cannot name the empty tree"))
}

pub(crate) async fn merge_base(git: &Git, base: &str, head: &str) -> Result<String, Refusal> {
    object(git, &["merge-base", base, head]).await?.ok_or_else(|| Refusal::new("base and head have no common ancestor"))
}

pub(crate) async fn object(git: &Git, command: &[&str]) -> Result<Option<String>, Refusal> {
    let printed = git.run(command, None).await?;
    let name = printed.text().trim().to_owned();
    let is_object = printed.success && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_object.then_some(name))
}

fn check(name: &str) -> Result<(), Refusal> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > NAME_BYTES {
        "it is too long"
    } else if name.starts_with('-') {
        "it starts with '-'"
    } else if name.contains("..") {
        "it contains '..'; use base and head of git_diff for a range"
    } else if name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        "it contains a space or a control character"
    } else {
        return Ok(());
    };
    Err(Refusal::new(format!("'{}' is not a revision: {why}", bound::name(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_read_as_something_else_are_refused() {
        for name in ["", "-p", "--output=x", "a..b", "a...b", "a b", "a\nb", "a\0b", "\u{a0}x", &"x".repeat(300)] {
            assert!(check(name).is_err(), "{name:?}");
        }
        for name in ["HEAD", "HEAD~2", "main@{1}", "feature/x.y", "v1.0^2", "0123abc"] {
            assert!(check(name).is_ok(), "{name:?}");
        }
    }
}
