//! `git_diff` and `git_show`: what changed, for the model as bounded text and for people as a review.
//!
//! Owns the choice of revisions and the shape of the answer. How git is started is in `command`, how its output is read
//! in `patch`, which repository it is in `repository`, and what git sees of it in `stand_in`.

mod attributes;
mod checkout;
mod command;
mod commit;
mod compare;
mod patch;
mod repository;
mod revert;
mod revision;
mod snapshot;
mod stand_in;

use std::path::Path;

use crate::arguments::{self, GitDiff, GitShow};
use crate::bound::{self, CONTENT_BYTES};
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal, Review};
use command::{Git, Printed};
use patch::Patch;
use repository::Repository;
use stand_in::StandIn;

pub use checkout::Checkout;
pub use commit::Commit;
pub use compare::{Comparison, FileChange, FileLines, Side, Status};
pub use revert::{Undo, revert_text};
pub use snapshot::Taken;

/// Names of untracked files told to the model.
const MOST_UNTRACKED: usize = 50;

/// Every flag that keeps a repository's configuration from changing the format or running a program.
const DIFF_FLAGS: [&str; 14] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--patch",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames",
    "--relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--diff-algorithm=histogram",
    "--no-indent-heuristic",
];

pub(crate) async fn diff(work_dir: &Path, arguments: GitDiff) -> Answer {
    let (work_dir, git) = open(work_dir).await?;
    let path = arguments::given(&arguments.path).map(|path| work_dir.spelled(path)).transpose()?;
    let path = path.as_deref().unwrap_or(Path::new("."));
    let comparison = revision::compare(&git, &arguments).await?;

    let mut command: Vec<&str> = vec!["diff"];
    command.extend(DIFF_FLAGS);
    command.extend(comparison.flags.iter().copied());
    command.push("--end-of-options");
    command.extend(comparison.revisions.iter().map(String::as_str));
    let printed = git.run(&command, Some(path)).await?.succeeded("git diff")?;
    let patch = Patch::parse(&printed);

    let untracked = if comparison.has_working_tree { untracked(&git, path).await? } else { String::new() };
    if patch.files.is_empty() && patch.unmerged.is_empty() {
        return Ok(Output::text(format!("no changes{}", separated(&untracked))));
    }
    Ok(answer(comparison.title, "", patch, &printed, &untracked, "git_diff with path"))
}

pub(crate) async fn show(work_dir: &Path, arguments: GitShow) -> Answer {
    let (_, git) = open(work_dir).await?;
    let commit = revision::commit(&git, &arguments.commit).await?;
    let format = "--format=commit %H%nAuthor: %an <%ae>%nDate: %aI%n%n%B";
    let about = git
        .run(&["show", "--no-patch", "--no-show-signature", "--no-notes", "--no-color", format, "--end-of-options", &commit], None)
        .await?
        .succeeded("git show")?;
    let mut command: Vec<&str> = vec!["show", "--format=", "--no-show-signature", "--no-notes", "--diff-merges=first-parent"];
    command.extend(DIFF_FLAGS);
    command.extend(["--end-of-options", &commit]);
    let printed = git.run(&command, None).await?.succeeded("git show")?;
    let patch = Patch::parse(&printed);

    let about = about.text();
    let about = format!("{}\n\n", bound::clean(bound::whole_lines(&about, CONTENT_BYTES / 4).trim_end()));
    if patch.files.is_empty() {
        return Ok(Output::text(format!("{about}no changes")));
    }
    let subject = about.split("\n\n").nth(1).and_then(|message| message.lines().next()).unwrap_or_default();
    let title = format!("commit {} {}", commit.get(..12).unwrap_or(&commit), bound::name(subject));
    let parent = format!("git_diff with base {commit}~1, head {commit} and path");
    Ok(answer(title.trim().to_owned(), &about, patch, &printed, "", &parent))
}

async fn open(work_dir: &Path) -> Result<(WorkDir, Git), Refusal> {
    let given = work_dir.to_owned();
    let work_dir = tokio::task::spawn_blocking(move || WorkDir::open(&given))
        .await
        .unwrap_or_else(|_| Err(Refusal::new("the work directory cannot be opened")))?;
    let git = Git::new(work_dir.path());
    let mut repository = Repository::find(&git, work_dir.path()).await?;
    let excludes_file = repository.settings.excludes_file.take();
    let stand_in = tokio::task::spawn_blocking(move || StandIn::make(&repository))
        .await
        .unwrap_or_else(|_| Err(Refusal::new("the repository cannot be read")))?;
    let git = git.behind(stand_in, excludes_file);
    Ok((work_dir, git))
}

/// Files git does not know yet: a diff leaves them out, and a model would take that for "there are none".
async fn untracked(git: &Git, path: &Path) -> Result<String, Refusal> {
    let command = ["ls-files", "--others", "--exclude-standard", "-z"];
    let listed = git.run(&command, Some(path)).await?.succeeded("git ls-files")?;
    let text = listed.text();
    let names: Vec<&str> = text.split_terminator('\0').collect();
    if names.is_empty() {
        return Ok(String::new());
    }
    let more = if listed.was_cut { "more than " } else { "" };
    let mut told = format!("{more}{} untracked files, not in the diff:\n", names.len());
    for name in names.iter().take(MOST_UNTRACKED) {
        told.push_str(&format!("  {}\n", bound::name(name)));
    }
    if names.len() > MOST_UNTRACKED {
        told.push_str(&format!("  … and {} more\n", names.len() - MOST_UNTRACKED));
    }
    Ok(told)
}

fn answer(title: String, about: &str, patch: Patch, printed: &Printed, untracked: &str, rest: &str) -> Output {
    let summary = patch.summary(printed.was_cut);
    let unmerged = patch.unmerged_note();
    let full: String = patch.files.iter().map(|file| file.diff.as_str()).collect();
    let mut content = format!("{about}{summary}");
    if !unmerged.is_empty() {
        content.push_str(&unmerged);
    }
    if !untracked.is_empty() {
        content.push_str(&separated(untracked));
    }
    let room = CONTENT_BYTES.saturating_sub(content.len());
    let kept = bound::whole_lines(&full, room);
    content.push('\n');
    content.push_str(kept);
    if kept.len() < full.len() {
        content.push_str(&format!(
            "[the diff is cut: {} of {} shown; call {rest} to see one file]\n",
            bound::size(kept.len() as u64),
            bound::size(full.len() as u64)
        ));
    }
    let title = if printed.was_cut { format!("{title} (too large, cut)") } else { title };
    Output {
        content,
        display: Some(format!("{title}\n{summary}{unmerged}")),
        is_error: false,
        review: (!patch.files.is_empty()).then_some(Review { title, files: patch.files }),
    }
}

fn separated(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests;
