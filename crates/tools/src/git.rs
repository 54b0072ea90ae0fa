//! `git_diff` and `git_show`: what changed, for the model as bounded text and for people as a review.
//!
//! Owns the choice of revisions and the shape of the answer. How git is started is in `command`, how its output is read
//! in `patch`, which repository it is in `repository`, and what git sees of it in `stand_in`.

mod attributes;
mod binary;
mod checkout;
mod command;
mod commit;
mod compare;
mod copy;
mod index;
mod mirror;
mod module;
mod objects;
mod patch;
mod reference;
mod repository;
mod revert;
mod revision;
mod snapshot;
mod stand_in;
mod touched;

use std::ffi::OsStr;
use std::path::Path;

use crate::arguments::{self, GitDiff, GitShow};
use crate::beneath::Links;
use crate::bound::{self, CONTENT_BYTES};
use crate::{Answer, Output, Refusal, Review};
use command::{Call, Printed};
use patch::Patch;

pub use checkout::Checkout;
pub use commit::Commit;
pub use compare::{Comparison, FileChange, FileLines, Side, Status};
pub use revert::{Undo, revert_text};
pub use snapshot::Taken;
pub use touched::Touched;

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
    let checkout = Checkout::opened(work_dir, None).await?;
    let path = arguments::given(&arguments.path).map(|path| checkout.work_dir.spelled(path)).transpose()?;
    let path = path.as_deref().unwrap_or(Path::new("."));
    let mut comparison = revision::compare(&checkout.git, &arguments).await?;
    let mut left_out = Vec::new();
    if comparison.has_working_tree {
        let taken = checkout.tracked_now(path).await?;
        comparison.revisions.push(taken.tree);
        left_out = taken.left_out;
    }

    let mut command: Vec<&str> = vec!["diff"];
    command.extend(DIFF_FLAGS);
    command.extend(comparison.flags.iter().copied());
    command.push("--end-of-options");
    command.extend(comparison.revisions.iter().map(String::as_str));
    let command: Vec<&OsStr> = command.into_iter().map(OsStr::new).collect();
    let places = checkout.looked_at();
    // The tree is among the objects of the checkout; what is staged is in the index of the repository.
    let environment = &places.environment()[..2];
    let printed = checkout.git.call(Call { arguments: &command, path: Some(path), environment, ..Call::default() }).await?;
    let printed = printed.succeeded("git diff")?;
    let mut patch = Patch::parse(&printed);

    let mut notes = left_out_note(&left_out);
    if comparison.has_working_tree {
        patch.unmerged = unmerged(&checkout, path).await?;
        notes.push_str(&untracked(&checkout, path).await?);
    }
    if patch.files.is_empty() && patch.unmerged.is_empty() {
        return Ok(Output::text(format!("no changes{}", separated(&notes))));
    }
    Ok(answer(comparison.title, "", patch, &printed, &notes, "git_diff with path"))
}

pub(crate) async fn show(work_dir: &Path, arguments: GitShow) -> Answer {
    let checkout = Checkout::opened(work_dir, None).await?;
    let git = &checkout.git;
    let commit = revision::commit(git, &arguments.commit).await?;
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

/// Files git does not know yet: a diff leaves them out, and a model would take that for "there are none". A name that git came by
/// through a link is not one of the project's.
async fn untracked(checkout: &Checkout, path: &Path) -> Result<String, Refusal> {
    let command = ["ls-files", "--others", "--exclude-standard", "-z"];
    let listed = checkout.git.run(&command, Some(path)).await?.succeeded("git ls-files")?;
    let work_dir = std::sync::Arc::clone(&checkout.work_dir);
    let was_cut = listed.was_cut;
    let names = tokio::task::spawn_blocking(move || {
        let is_there = |name: &&[u8]| work_dir.root().walk(name, Links::Refuse).is_ok_and(|spot| spot.kind.is_some());
        let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).filter(is_there);
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>()
    });
    let names = names.await.map_err(|_| Refusal::new("the working tree cannot be read"))?;
    if names.is_empty() {
        return Ok(String::new());
    }
    let more = if was_cut { "more than " } else { "" };
    let mut told = format!("{more}{} untracked files, not in the diff:\n", names.len());
    for name in names.iter().take(MOST_UNTRACKED) {
        told.push_str(&format!("  {}\n", bound::name(name)));
    }
    if names.len() > MOST_UNTRACKED {
        told.push_str(&format!("  … and {} more\n", names.len() - MOST_UNTRACKED));
    }
    Ok(told)
}

/// Files with a merge conflict. Their content is compared as it is; that they are not merged is told beside it.
async fn unmerged(checkout: &Checkout, path: &Path) -> Result<Vec<String>, Refusal> {
    let listed = checkout.git.run(&["ls-files", "--unmerged", "-z"], Some(path)).await?.succeeded("git ls-files")?.text();
    let mut names: Vec<String> = listed.split_terminator('\0').filter_map(|entry| Some(entry.split_once('\t')?.1.to_owned())).collect();
    names.dedup();
    Ok(names)
}

fn left_out_note(left_out: &[String]) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    format!("left out, since they are too large or cannot be read: {}\n", left_out.join(", "))
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
