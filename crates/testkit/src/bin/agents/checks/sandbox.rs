//! The same agent with `sandbox = "workdir"`, on a server of its own.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::server::Rig;

use super::{Finding, Outcome, asking, expect, held, talking};
use crate::driven::Driven;
use crate::plan::{LEAVE, WRITE, WRITTEN};

const WORDS: usize = 600;

/// It says its version, answers, writes the file that it was allowed to write, and changes nothing outside.
pub(super) async fn held_inside(driven: &mut Driven) -> Outcome {
    let section = format!("[agents.{}]\nsandbox = \"workdir\"\n", driven.agent.id);
    let rig = Rig::below(&apart()).config(&section);
    let outside = rig.home().join("home/outside");
    fs::create_dir(&outside).map_err(|error| error.to_string())?;
    let mut inside = Driven::start_in(driven.agent, rig).await;
    let outcome = in_sandbox(&mut inside, &outside).await;
    let log = inside.server.log();
    inside.forget_sessions().await;
    let ending = inside.end().await;
    outcome.map_err(|why| format!("{why}\n{log}"))?;
    expect(matches!(ending, Finding::Held(_)), || format!("{ending:?}"))?;
    held()
}

async fn in_sandbox(inside: &mut Driven, outside: &Path) -> Result<(), String> {
    let entry = talking::entry(inside).await;
    expect(entry["sandbox"] == "landlock" || entry["sandbox"] == "bubblewrap", || format!("held by nothing: {entry}"))?;
    expect(entry["sandbox_open"] == serde_json::json!([]), || format!("not everything is held: {}", entry["sandbox_open"]))?;
    talking::version(inside).await?;
    talking::text(inside).await?;
    for prompt in [format!("please {WRITE}inside"), format!("please {LEAVE}tried")] {
        let mut talk = inside.straight("ask").await;
        inside.send(&talk, &prompt).await;
        asking::answer_all(inside, &mut talk, "allow_once").await?;
        expect(talk.ended().0 == "completed", || format!("`{prompt}` ended {:?}", talk.ended()))?;
    }
    expect(inside.read("inside.txt").as_deref() == Some(WRITTEN), || format!("the file holds {:?}", inside.read("inside.txt")))?;
    expect(inside.read("tried.txt").as_deref() == Some("ran\n"), || {
        format!("the command that tries to leave did not run; its model was told {}", last_words(inside))
    })?;
    let left: Vec<_> = fs::read_dir(outside).map_err(|error| error.to_string())?.flatten().map(|entry| entry.path()).collect();
    expect(left.is_empty(), || format!("it wrote outside: {left:?}"))?;
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(outside).map_err(|error| error.to_string())?);
    expect(mode & 0o777 != 0o777, || "it changed the mode of a directory outside".to_owned())
}

/// The end of what its model was last told: how the tool answered.
fn last_words(inside: &Driven) -> String {
    let told = inside.model.requests().last().map(|request| request.body["messages"].to_string()).unwrap_or_default();
    told[told.floor_char_boundary(told.len().saturating_sub(WORDS))..].to_owned()
}

/// Beside this program: no temporary directory, which agents may write to.
fn apart() -> PathBuf {
    let exe = std::env::current_exe().expect("a running program has a path");
    exe.parent().expect("a program lies in a directory").to_owned()
}
