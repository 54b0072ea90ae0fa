//! A session as markdown. Pure.

use std::fmt::Write;

use domain::text::visible;
use serde_json::Value;

/// Messages oldest first, as the server gives them. Nothing in it is hidden, or obeyed by a terminal.
pub(super) fn write(session: &Value, messages: &[Value]) -> String {
    let text = |name: &str| session[name].as_str().unwrap_or_default();
    let title = Some(text("title")).filter(|title| !title.is_empty()).unwrap_or("Untitled");
    let mut out = format!("# {}\n\n", title.replace('\n', " "));
    let facts = [("Session", "id"), ("Created", "created_at"), ("Model", "model"), ("Agent", "agent"), ("Work directory", "work_dir")];
    for (name, field) in facts {
        line(&mut out, &format!("- {name}: `{}`", text(field)));
    }
    for message in messages {
        entry(&mut out, message);
    }
    visible(&out).into_owned()
}

fn entry(out: &mut String, message: &Value) {
    let content = message["content"].as_str().unwrap_or_default();
    let heading = match message["role"].as_str() {
        Some("user") => "You".to_owned(),
        Some("tool") => match message["delegation"]["session_name"].as_str() {
            Some(name) => format!("Agent [{name}]"),
            None => "Tool".to_owned(),
        },
        _ => "VoxPilot".to_owned(),
    };
    let when = message["created_at"].as_str().unwrap_or_default();
    line(out, &format!("\n## {heading}\n\n<!-- {when} -->\n"));
    let shown = message["display"].as_str().unwrap_or(content);
    if message["role"] == "tool" && !message["delegation"].is_object() {
        block(out, shown);
    } else if !shown.trim().is_empty() {
        line(out, shown.trim_end());
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        line(out, &format!("\nCalls `{}`:", call["name"].as_str().unwrap_or_default()));
        block(out, call["arguments"].as_str().unwrap_or_default());
    }
    delegation(out, &message["delegation"]);
}

/// What the agent did beside talking, and how it ended.
fn delegation(out: &mut String, delegation: &Value) {
    let Some(ended) = delegation["stop_reason"].as_str() else { return };
    let mut done = String::new();
    for update in delegation["updates"].as_array().into_iter().flatten().map(|placed| &placed["update"]) {
        let text = |name: &str| update[name].as_str().unwrap_or_default().replace('\n', " ");
        match update["type"].as_str() {
            Some("tool_call") => line(&mut done, &format!("- {} ({})", text("title"), call_word(&text("status")))),
            Some("approved") => line(&mut done, &format!("- {} (allowed by the {})", text("title"), text("by"))),
            _ => {}
        }
    }
    if !done.is_empty() {
        line(out, &format!("\n{}", done.trim_end()));
    }
    let crashed = ended == "interrupted" && delegation["ending"] == "crashed";
    line(out, &format!("\n*Ended: {}*", if crashed { "crashed".to_owned() } else { end_word(ended) }));
}

/// How an agent's work ended, in the words of the page (`ui/src/talk/endings.ts`).
fn end_word(reason: &str) -> String {
    let word = match reason {
        "end_turn" => "done",
        "cancelled" => "stopped",
        "denied" => "declined",
        "error" | "agent_error" => "failed",
        "unknown" => "outcome unknown",
        "refusal" => "refused",
        "max_tokens" => "out of tokens",
        "max_turn_requests" => "step limit reached",
        "agent_not_started" | "agent_not_found" => "not started",
        "agent_timeout" => "timed out",
        "agent_gone" => "crashed",
        "agent_not_sent" => "not sent",
        "agent_unguarded" => "not allowed to run",
        "attachment_unsupported" => "attachment refused",
        "auth_required" => "needs sign-in",
        "owned_elsewhere" => "in use elsewhere",
        other => return other.replace('_', " "),
    };
    word.to_owned()
}

fn call_word(status: &str) -> &str {
    match status {
        "cancelled" => "stopped",
        "declined" | "rejected" => "declined, not applied",
        other => other,
    }
}

/// A fence that nothing in the text can close.
fn block(out: &mut String, text: &str) {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    line(out, &format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n')));
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes whatever is written to it");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_written_as_people_read_it() {
        let session = json!({ "id": "s", "title": "", "created_at": "then", "model": "relay", "agent": "demo", "work_dir": "/w" });
        let calls = json!([{ "name": "copilot_agent", "arguments": "{\"prompt\":\"```x\"}" }]);
        let updates = json!([{ "offset": 0, "update": { "type": "tool_call", "title": "Make\na.txt", "status": "completed" } },
                             { "offset": 0, "update": { "type": "approved", "title": "Make a.txt", "by": "rule" } },
                             { "offset": 0, "update": { "type": "thought", "text": "hm" } }]);
        let messages = [
            json!({ "role": "user", "content": "do \u{202e}it\u{1b}[2J", "created_at": "1" }),
            json!({ "role": "assistant", "content": "", "created_at": "2", "tool_calls": calls }),
            json!({ "role": "tool", "content": "short", "display": "the whole of it", "created_at": "3",
                    "delegation": { "session_name": "main", "stop_reason": "end_turn", "updates": updates } }),
            json!({ "role": "tool", "content": "plain ``` output", "created_at": "4" }),
            json!({ "role": "assistant", "content": "**Done.**", "created_at": "5" }),
        ];
        let expected = "# Untitled\n\n- Session: `s`\n- Created: `then`\n- Model: `relay`\n- Agent: `demo`\n- Work directory: `/w`\n\
            \n## You\n\n<!-- 1 -->\n\ndo ⟨U+202E⟩it⟨U+001B⟩[2J\n\
            \n## VoxPilot\n\n<!-- 2 -->\n\n\nCalls `copilot_agent`:\n````\n{\"prompt\":\"```x\"}\n````\n\
            \n## Agent [main]\n\n<!-- 3 -->\n\nthe whole of it\n\n- Make a.txt (completed)\n- Make a.txt (allowed by the rule)\n\n*Ended: done*\n\
            \n## Tool\n\n<!-- 4 -->\n\n````\nplain ``` output\n````\n\
            \n## VoxPilot\n\n<!-- 5 -->\n\n**Done.**\n";
        assert_eq!(write(&session, &messages), expected);
    }
}
