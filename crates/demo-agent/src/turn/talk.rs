//! What the agent says of its own accord. Pure text.

use super::prompt::Attachment;
use crate::instruction::{Instruction, Recall};

/// Long prompts are repeated only in part.
const REPEATED_CHARS: usize = 400;

pub(super) fn first_thought(steps: &[Instruction]) -> String {
    match steps {
        [Instruction::Remark { .. }] => "I see no instruction that I know; I had better say what I can do.".to_owned(),
        [step] => format!("One step: {}.", step.describe()),
        _ => format!("{} steps, one after the other.", steps.len()),
    }
}

pub(super) fn thoughts_about(about: &str) -> String {
    format!("What is there to say about {about}? One could look at it from the left, or from the right. Hm.")
}

pub(super) fn attached(attachments: &[Attachment]) -> String {
    let names: Vec<String> = attachments.iter().map(|attachment| format!("`{}`", attachment.name)).collect();
    format!("You attached {}.", names.join(", "))
}

pub(super) fn intentions(steps: &[Instruction]) -> String {
    let lines: Vec<String> = steps.iter().enumerate().map(|(at, step)| format!("{}. {}", at + 1, step.describe())).collect();
    format!("I am in plan mode and touch nothing. This is what I would do:\n\n{}", lines.join("\n"))
}

pub(super) fn not_understood(text: &str) -> String {
    format!("I did not understand “{}” and passed it over.", shortened(text))
}

pub(super) fn recalled(which: Recall, earlier: &[String]) -> String {
    match (which, earlier) {
        (_, []) => "You have not asked me anything before this.".to_owned(),
        (Recall::First, [first, ..]) => format!("Your first message was: “{}”", shortened(first)),
        (Recall::Last, [.., last]) => format!("Your last message before this was: “{}”", shortened(last)),
        (Recall::All, _) => {
            let lines: Vec<String> =
                earlier.iter().enumerate().map(|(at, prompt)| format!("{}. “{}”", at + 1, shortened(prompt))).collect();
            format!("Before this you asked me:\n\n{}", lines.join("\n"))
        }
    }
}

pub(super) fn introduction(prompt: &str) -> String {
    let asked = match shortened(prompt).as_str() {
        "" | "/help" => String::new(),
        prompt => format!("You asked: “{prompt}”. That needs a model. "),
    };
    format!(
        "Hello! I am the demo agent, a small program without a language model. {asked}\
         I do really work in this directory, though, and I ask before I change anything. Try:

- `create a file notes.txt with hello world`
- `append one more line to notes.txt`
- `replace hello with goodbye in notes.txt`
- `read notes.txt`, `list files`, `delete notes.txt`
- run a command: `run \"echo hello; ls\"`
- `count to 100`, `write 500 words`, `think about ducks`
- `what did I ask you before?`

Several instructions may follow each other on lines of their own, or with `;` or `then` between them."
    )
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(REPEATED_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
