//! What the main AI is told before the conversation begins.

use std::path::Path;

/// A project's own instructions are read up to here; the rest is cut, and said to be.
const PROJECT_MAX: usize = 32 * 1024;
const PROJECT_FILES: [&str; 2] = ["VOXPILOT.md", "AGENTS.md"];

/// The system prompt for a session in `work_dir`. Read anew for every call, so an edited file takes effect at once.
pub(crate) async fn system_prompt(work_dir: &Path, agent_title: &str, has_choice: bool) -> String {
    let mut text = format!(
        "You are the main AI of VoxPilot, a cockpit for coding agents. A person talks to you in a browser, perhaps on a phone.\n\
         The work directory is {}.\n\n\
         You can look around yourself with read_file, list_directory, grep_search, glob_search, git_diff and git_show. \
         Their paths are relative to the work directory. read_file_external reads a file outside of it and asks the person first.\n\n\
         You do not change files yourself. Delegate every coding task, and everything that must run a command, to {agent_title} with the tool \
         copilot_agent. Write its prompt so that it stands alone: the agent does not see this conversation. Use one session_name for a task and \
         its follow-ups, and another one for an independent task; calls with different names run side by side. \
         When the result comes back, tell the person briefly what was done, what was not, and what they should look at.\n\n\
         Answer questions that need no change yourself. Be brief and concrete; use Markdown.",
        work_dir.display()
    );
    if has_choice {
        text.push_str(
            "\n\nOther agents are there too: the tool delegate names the agent, and says what each is good at. Use it where the person asks for \
             one, or where another suits the task better; otherwise use copilot_agent.",
        );
    }
    let dir = work_dir.to_owned();
    let project = tokio::task::spawn_blocking(move || project_instructions(&dir)).await.unwrap_or_default();
    if let Some(Instructions { name, text: project, is_cut }) = project {
        text.push_str(&format!("\n\nThe project's own instructions, from {name}:\n\n{project}"));
        if is_cut {
            text.push_str("\n\n(cut: the file is longer)");
        }
    }
    text
}

struct Instructions {
    name: &'static str,
    text: String,
    is_cut: bool,
}

/// The first of the files that is there and may be read: a project cannot pass off a file of the person's as its own.
fn project_instructions(work_dir: &Path) -> Option<Instructions> {
    for name in PROJECT_FILES {
        match tools::beginning(work_dir, name, PROJECT_MAX) {
            Ok(Some((text, is_cut))) => return Some(Instructions { name, text, is_cut }),
            Ok(None) => {}
            Err(error) => tracing::warn!(file = name, reason = error.message(), "the project's instructions are not read"),
        }
    }
    None
}
