//! Events on the screen: as they are for programs, and as a conversation for people.

use std::collections::HashMap;
use std::io::{self, Write};

use domain::text::{Piece, pieces, visible};
use serde_json::Value;

use super::Format;
use super::sse::Event;

const RELAY: &str = "relay";

pub(super) struct Printer {
    format: Format,
    screen: Screen<io::Stdout>,
}

impl Printer {
    /// For a session as the server describes it.
    pub(super) fn new(format: Format, session: &Value) -> Printer {
        Printer { format, screen: Screen::new(io::stdout(), session["model"] == RELAY) }
    }

    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        match self.format {
            Format::Ndjson => writeln!(io::stdout(), "{}", event.line()),
            Format::Text => self.screen.event(event),
        }
    }
}

/// What an agent or a model says, with nothing that a terminal would obey, hide or put into another order.
pub(super) fn plain(text: &str) -> String {
    visible(text).into_owned()
}

/// A value as one line of JSON. What a terminal would obey or hide is escaped, so that it means the same and is seen.
pub(super) fn json_line(value: &Value) -> String {
    let mut line = String::new();
    for piece in pieces(&value.to_string()) {
        match piece {
            Piece::Plain(plain) => line.push_str(plain),
            Piece::Hidden(character) => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}")));
            }
        }
    }
    line
}

/// The exact command or change that an agent asks for.
pub(super) fn show_ask(out: &mut impl Write, ask: &Value) -> io::Result<()> {
    let text = |name: &str| ask[name].as_str().map(plain);
    writeln!(out, "  [{}] {}", text("session_name").unwrap_or_default(), text("title").unwrap_or_default().replace('\n', " "))?;
    if let Some(cwd) = text("cwd") {
        writeln!(out, "  in {}", cwd.replace('\n', " "))?;
    }
    for file in ask["files"].as_array().into_iter().flatten() {
        let place = match file["place"].as_str() {
            Some("inside") | None => "",
            Some("protected") => " (protected)",
            Some(_) => " (outside the work directory)",
        };
        writeln!(out, "  file {}{place}", plain(file["path"].as_str().unwrap_or_default()).replace('\n', " "))?;
    }
    for warning in ask["warnings"].as_array().into_iter().flatten() {
        let part = |name: &str| plain(warning[name].as_str().unwrap_or_default()).replace('\n', " ");
        writeln!(out, "  warning: {}: {}", part("path"), part("text"))?;
    }
    if ask["run"]["type"] == "words" {
        writeln!(out, "  without a shell:")?;
    }
    for shown in ["command", "diff"].iter().filter_map(|name| text(name)) {
        shown.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    Ok(())
}

/// A conversation as it goes on.
struct Screen<W> {
    out: W,
    /// The agent's words are the answer; what the relay makes of them only says them again.
    is_relay: bool,
    /// Whose words the last ones were; somebody else begins with their name.
    speaker: String,
    /// The last line is not ended yet.
    is_open: bool,
    /// The status in which each tool call was last shown.
    calls: HashMap<String, String>,
    /// What was streamed since the turn began: a message that only repeats it is not shown again.
    streamed: String,
}

impl<W: Write> Screen<W> {
    fn new(out: W, is_relay: bool) -> Screen<W> {
        Screen { out, is_relay, speaker: String::new(), is_open: false, calls: HashMap::new(), streamed: String::new() }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let data = &event.data;
        let text = |name: &str| data[name].as_str().unwrap_or_default();
        match event.kind.as_str() {
            "message" if data["role"] == "user" => self.says("you", text("content")),
            "message" if data["role"] == "assistant" => self.message(text("content")),
            "text-delta" if self.is_relay => Ok(()),
            "text-delta" => self.says("voxpilot", text("content")),
            "copilot-delta" => self.says(text("session_name"), text("content")),
            "agent-update" => self.update(text("session_name"), &data["update"]),
            "superseded" => self.line("(the answer starts again)"),
            "tool-call" if data["name"] != "copilot_agent" => self.line(&format!("· {} {}", text("name"), text("arguments"))),
            "tool-confirm" => {
                self.line(&format!("? {} {}", text("name"), text("arguments")))?;
                self.line(&format!("  answer with `voxpilot approve {} allow` or `… reject`", text("id")))
            }
            "permission-request" => {
                self.line("? the agent asks:")?;
                show_ask(&mut self.out, data)?;
                self.line(&format!("  answer with `voxpilot approve {} allow` or `… reject`", text("request_id")))
            }
            "permission-resolved" => {
                let answer = match data["verdict"].as_str() {
                    Some("allow") => "allowed",
                    Some("reject") => "denied",
                    _ => "cancelled",
                };
                self.line(&format!("  answered: {answer} (by {})", text("by")))
            }
            "notice" => self.line(&format!("! {}: {}", text("title"), text("text"))),
            "error" => self.line(&format!("! {}", text("message"))),
            "session" => {
                self.is_relay = data["model"].as_str().map_or(self.is_relay, |model| model == RELAY);
                Ok(())
            }
            "turn" => self.turn(text("state"), text("reason")),
            _ => Ok(()),
        }
    }

    fn turn(&mut self, state: &str, reason: &str) -> io::Result<()> {
        match state {
            "running" => {
                self.streamed.clear();
                Ok(())
            }
            "completed" => self.end_line(),
            // A person stopped it, and knows.
            "cancelled" => self.line("(stopped)"),
            _ if reason.is_empty() => self.line(&format!("({state})")),
            _ => self.line(&format!("({state}: {reason})")),
        }
    }

    fn message(&mut self, content: &str) -> io::Result<()> {
        if self.streamed.trim_end().ends_with(content.trim()) {
            return Ok(());
        }
        self.says("voxpilot", content)?;
        self.end_line()
    }

    fn says(&mut self, speaker: &str, text: &str) -> io::Result<()> {
        if self.speaker != speaker || speaker == "you" {
            self.line(&format!("[{speaker}]"))?;
            speaker.clone_into(&mut self.speaker);
        }
        if speaker != "you" {
            self.streamed.push_str(text);
        }
        let text = plain(text);
        write!(self.out, "{text}")?;
        self.is_open = if text.is_empty() { self.is_open } else { !text.ends_with('\n') };
        if speaker == "you" { self.end_line() } else { self.out.flush() }
    }

    fn update(&mut self, name: &str, update: &Value) -> io::Result<()> {
        let text = |field: &str| update[field].as_str().unwrap_or_default();
        match text("type") {
            "tool_call" => {
                let (id, status) = (text("id"), text("status"));
                // Between its beginning and its end a call reports much that nobody waits for.
                let is_news = match self.calls.get(id).map(String::as_str) {
                    None => true,
                    Some(shown) => shown != status && ["completed", "failed", "cancelled", "declined", "rejected"].contains(&status),
                };
                if !is_news {
                    return Ok(());
                }
                self.calls.insert(id.to_owned(), status.to_owned());
                let shown = match status {
                    "declined" | "rejected" => "not allowed",
                    "cancelled" => "stopped",
                    other => other,
                };
                self.line(&format!("· [{name}] {} ({shown})", text("title")))
            }
            "plan" => {
                self.line(&format!("· [{name}] plan"))?;
                for entry in update["entries"].as_array().into_iter().flatten() {
                    let field = |name: &str| entry[name].as_str().unwrap_or_default();
                    self.line(&format!("    [{}] {}", if field("status") == "completed" { "x" } else { " " }, field("content")))?;
                }
                Ok(())
            }
            "notice" => self.line(&format!("! [{name}] {}", text("text"))),
            "follow_up" => self.line(&format!("· [{name}] told: {}", text("text"))),
            "denied" if update["malformed"].is_string() => {
                self.line(&format!("! [{name}] malformed permission request, refused: {} ({})", text("title"), text("malformed")))
            }
            "approved" => {
                let what = update["command"].as_str().unwrap_or(text("title"));
                self.line(&format!("· [{name}] allowed by the {}: {what}", text("by")))
            }
            _ => Ok(()),
        }
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        self.speaker.clear();
        writeln!(self.out, "{}", plain(text).replace('\n', "\n  "))
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            writeln!(self.out)?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(events: &[(&str, Value)]) -> String {
        let mut screen = Screen::new(Vec::new(), false);
        for (kind, data) in events {
            screen.event(&Event { id: None, kind: (*kind).to_owned(), data: data.clone() }).unwrap();
        }
        String::from_utf8(screen.out).unwrap()
    }

    fn call(status: &str) -> Value {
        json!({ "session_name": "main", "update": { "type": "tool_call", "id": "c", "title": "Make a.txt", "status": status } })
    }

    #[test]
    fn a_turn_is_shown_as_a_conversation_and_nothing_is_said_twice() {
        let delta = |text: &str| json!({ "session_name": "main", "content": text });
        let events = [
            ("message", json!({ "role": "user", "content": "do it" })),
            ("turn", json!({ "state": "running" })),
            ("copilot-delta", delta("I will")),
            ("agent-update", call("pending")),
            ("agent-update", call("in_progress")),
            ("agent-update", call("completed")),
            ("copilot-delta", delta("Done")),
            ("copilot-delta", delta(".")),
            ("session", json!({ "model": "relay" })),
            ("text-delta", json!({ "content": "Done." })),
            ("message", json!({ "role": "assistant", "content": "Done." })),
            ("turn", json!({ "state": "completed" })),
        ];
        let expected = "[you]\ndo it\n[main]\nI will\n· [main] Make a.txt (pending)\n· [main] Make a.txt (completed)\n[main]\nDone.\n";
        assert_eq!(shown(&events), expected);
    }

    #[test]
    fn what_a_terminal_would_obey_or_hide_is_written_out() {
        let text = shown(&[
            ("text-delta", json!({ "content": "\u{1b}[2Jred\u{7}\u{9b}31m \u{202e}drow" })),
            ("notice", json!({ "title": "a\u{1b}", "text": "b" })),
        ]);
        assert_eq!(text, "[voxpilot]\n⟨U+001B⟩[2Jred⟨U+0007⟩⟨U+009B⟩31m ⟨U+202E⟩drow\n! a⟨U+001B⟩: b\n");
    }

    #[test]
    fn a_line_of_json_says_the_same_and_holds_nothing_hidden() {
        let value = json!({ "text": "\u{1b}[2J \u{9b}31m \u{202e} \u{e0041} ä \u{7f}" });
        let line = json_line(&value);
        assert!(line.contains("\\u202e") && line.contains("\\udb40\\udc41") && line.contains("\\u009b") && line.contains("ä"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }

    #[test]
    fn what_was_allowed_by_itself_is_told() {
        let approved =
            json!({ "session_name": "main", "update": { "type": "approved", "title": "Run", "command": "make", "by": "policy" } });
        assert_eq!(shown(&[("agent-update", approved)]), "· [main] allowed by the policy: make\n");
    }

    #[test]
    fn a_question_shows_the_exact_command_and_how_to_answer() {
        let files = json!([{ "path": "a", "place": "inside" }, { "path": ".git\u{202e}/x", "place": "protected" }]);
        let ask = json!({ "request_id": "r1", "session_name": "main", "title": "Run\u{1b}[2J", "command": "rm -r a\necho b", "cwd": "sub", "files": files });
        assert_eq!(
            shown(&[("permission-request", ask)]),
            "? the agent asks:\n  [main] Run⟨U+001B⟩[2J\n  in sub\n  file a\n  file .git⟨U+202E⟩/x (protected)\n    rm -r a\n    echo b\n  answer with `voxpilot approve r1 allow` or `… reject`\n"
        );
    }

    #[test]
    fn a_turn_that_did_not_complete_says_so() {
        let turn = json!({ "state": "failed", "reason": "no key" });
        assert_eq!(shown(&[("turn", turn), ("turn", json!({ "state": "cancelled" }))]), "(failed: no key)\n(stopped)\n");
    }
}
