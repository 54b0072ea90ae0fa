//! The main AI's own tools: reading, listing and searching the work directory, and git.
//!
//! This crate owns what each tool may touch and how much it may answer. It must not know of turns, sessions, events or
//! people: the caller asks a person first where [`kind`] says so, and runs the delegation itself.

mod arguments;
mod beneath;
mod bound;
mod changes;
mod deadline;
mod definitions;
mod files;
mod fingerprint;
mod git;
mod glob;
mod grep;
mod ignored;
mod list;
mod paths;
mod project;
mod read;
mod view;
mod walk;
mod wild;
mod work_dir;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use beneath::{ChangeError, Shown, exists, look, real_path, write_shown, write_text};
pub use changes::changed_since;
pub use definitions::{Candidate, Definition, Kind, definitions, delegate, kind};
pub use files::{FileError, OpenDirectory, beginning, current_text, directory, read_text};
pub use fingerprint::{Fingerprint, fingerprint};
pub use git::{Checkout, Commit, Comparison, FileChange, FileLines, Side, Status, Taken, Touched, Undo, revert_text};
pub use paths::{Named, find, mentioned, search};
pub use project::Project;
pub use view::{FileView, Picture, ViewKind, image_type, picture, view, viewable};
pub use wild::Patterns;

use deadline::Deadline;
use work_dir::WorkDir;

/// Where the private directories of git are made from now on, instead of the system's own. An agent in a sandbox may write to the
/// system's, and what git reads there can name programs. `Err` where a directory is in use already.
pub fn keep_scratch_in(directory: &std::path::Path) -> Result<(), std::path::PathBuf> {
    tempfile::env::override_temp_dir(directory)
}

const TIME_LIMIT: Duration = Duration::from_secs(30);

/// What a tool call gave, whether it worked or not.
#[derive(Clone, Debug)]
pub struct Output {
    /// For the model, bounded.
    pub content: String,
    /// For people, where they need something else than the model.
    pub display: Option<String>,
    pub is_error: bool,
    pub review: Option<Review>,
}

/// A set of changes that a person can go through file by file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub title: String,
    pub files: Vec<ReviewFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFile {
    pub path: String,
    /// Where the file was before, if it was renamed.
    pub old_path: Option<String>,
    /// `added`, `modified`, `deleted` or `renamed`.
    pub status: String,
    pub additions: u32,
    pub deletions: u32,
    pub binary: bool,
    /// The unified diff of this file alone.
    pub diff: String,
}

/// Why a tool did not do what it was asked, as a sentence for the model. Nobody branches on it, so it is only that.
#[derive(Debug)]
struct Refusal(String);

type Answer = Result<Output, Refusal>;

impl Refusal {
    fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl Output {
    fn text(content: String) -> Self {
        Self { content, display: None, is_error: false, review: None }
    }
}

impl From<Refusal> for Output {
    fn from(refusal: Refusal) -> Self {
        Self { content: bound::clean(&refusal.0), display: None, is_error: true, review: None }
    }
}

/// Runs one tool. `arguments` is the raw JSON text a model wrote; every failure is an [`Output`] that says what went wrong.
pub async fn run(project: &Project, name: &str, arguments: &str) -> Output {
    run_within(project, name, arguments, TIME_LIMIT).await
}

async fn run_within(project: &Project, name: &str, arguments: &str, limit: Duration) -> Output {
    let answer = match tokio::time::timeout(limit, dispatch(project, name, arguments, limit)).await {
        Ok(answer) => answer,
        Err(_) => Err(Refusal::new(format!("{name} was stopped: it took longer than {limit:?}; narrow it down, for example with a path"))),
    };
    answer.unwrap_or_else(Output::from)
}

async fn dispatch(project: &Project, name: &str, arguments: &str, limit: Duration) -> Answer {
    match name {
        "read_file" => blocking(project, arguments::parse(name, arguments)?, limit, read::inside).await,
        "read_file_external" => blocking(project, arguments::parse(name, arguments)?, limit, read::outside).await,
        "list_directory" => blocking(project, arguments::parse(name, arguments)?, limit, list::run).await,
        "grep_search" => blocking(project, arguments::parse(name, arguments)?, limit, grep::run).await,
        "glob_search" => blocking(project, arguments::parse(name, arguments)?, limit, glob::run).await,
        "git_diff" => git::diff(&project.work_dir, arguments::parse(name, arguments)?).await,
        "git_show" => git::show(&project.work_dir, arguments::parse(name, arguments)?).await,
        "copilot_agent" | "delegate" => Err(Refusal::new(format!("{name} is a delegation to an agent and cannot be run as a plain tool"))),
        _ => {
            let known: Vec<_> = definitions().iter().map(|tool| tool.name).collect();
            Err(Refusal::new(format!("there is no tool named '{}'; the tools are {}", bound::name(name), known.join(", "))))
        }
    }
}

/// Runs file work on the blocking pool. The thread cannot be aborted, so it carries a deadline that also passes when this
/// future is dropped.
async fn blocking<A: Send + 'static>(
    project: &Project,
    arguments: A,
    limit: Duration,
    tool: fn(&WorkDir, A, &Deadline) -> Answer,
) -> Answer {
    let project = project.clone();
    let (deadline, _passes_on_drop) = Deadline::new(limit);
    let task = tokio::task::spawn_blocking(move || tool(&WorkDir::of(&project)?, arguments, &deadline));
    task.await.unwrap_or_else(|_| Err(Refusal::new("the tool stopped unexpectedly; this is a bug in it")))
}

#[cfg(test)]
mod tests;
