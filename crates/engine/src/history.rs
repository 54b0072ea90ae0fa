//! The conversation as the model is given it.

use domain::event::{Delegation, Message, Role};
use store::AgentSessionRow;

use crate::open::LOST;

use crate::attachments::{self, Contents};

/// About how much text of the conversation goes to the model. Older turns are left out whole, so that a tool call never stands
/// without its result.
const BUDGET: usize = 400 * 1024;
const RECAP_PARTS: usize = 5;
const RECAP_PART: usize = 1500;

/// Turns stored messages, oldest first, into the model's history.
pub(crate) fn for_model(messages: &[Message], contents: &Contents, relay: bool) -> Vec<model::Message> {
    let kept = within_budget(messages);
    let mut history: Vec<model::Message> = Vec::with_capacity(kept.len() + 1);
    if kept.len() < messages.len() {
        history.push(model::Message::User("(earlier parts of this conversation are left out)".to_owned()));
    }
    for message in kept {
        history.push(convert(message, contents, relay));
        history.extend(lost_results(message, kept));
    }
    history
}

/// A call without a result makes endpoints refuse the whole conversation; only a turn that broke in the middle leaves one behind.
fn lost_results(message: &Message, kept: &[Message]) -> Vec<model::Message> {
    let lost = |id: &str| !kept.iter().any(|other| other.tool_call_id.as_deref() == Some(id));
    let calls = message.tool_calls.iter().filter(|call| lost(&call.id));
    calls.map(|call| model::Message::Tool { call_id: call.id.clone(), content: "(the result was lost)".to_owned() }).collect()
}

/// What an agent session that was restored is told before it is asked anything again. It follows from what is stored, so that
/// whichever server asks next says the same, and says it once.
pub(crate) fn preface(messages: &[Message], row: &AgentSessionRow) -> Option<String> {
    if row.restored.as_deref() == Some(LOST) {
        let told = last_of(messages, &row.name).is_some_and(|(message, _)| message.created_at > row.created_at);
        return (!told).then(|| recap(messages, &row.name));
    }
    let seen = cut_off(messages, &row.name)?.summary.as_str();
    Some(format!(
        "[Note: your process ended while you worked on the last request, so the answer to it was cut off and a command may have been \
         stopped half way. This much of it was seen: {}]",
        if seen.is_empty() { "nothing".to_owned() } else { format!("\"{}\"", domain::text::clip_start(seen, RECAP_PART)) }
    ))
}

/// The last result of `name`, if its process ended before it was complete.
pub(crate) fn cut_off<'a>(messages: &'a [Message], name: &str) -> Option<&'a Delegation> {
    let (_, delegation) = last_of(messages, name)?;
    matches!(delegation.stop_reason.as_str(), "interrupted" | "unknown").then_some(delegation)
}

fn last_of<'a>(messages: &'a [Message], name: &str) -> Option<(&'a Message, &'a Delegation)> {
    messages.iter().rev().find_map(|message| Some((message, of_name(message, name)?)))
}

fn of_name<'a>(message: &'a Message, name: &str) -> Option<&'a Delegation> {
    message.delegation.as_ref().filter(|delegation| delegation.session_name == name)
}

/// What a new agent session is told in place of the one that was lost: the last requests of that name, and what came of them.
fn recap(messages: &[Message], name: &str) -> String {
    let mut parts = Vec::new();
    for message in messages.iter().rev() {
        if let Some(delegation) = of_name(message, name) {
            let request = request_of(messages, message.tool_call_id.as_deref()).unwrap_or_default();
            parts.push(format!(
                "Request: {}\nOutcome ({}): {}",
                domain::text::clip(&request, RECAP_PART),
                delegation.stop_reason,
                domain::text::clip_start(&delegation.summary, RECAP_PART)
            ));
        }
        if parts.len() == RECAP_PARTS {
            break;
        }
    }
    parts.reverse();
    let told = if parts.is_empty() { "Nothing of it is known.".to_owned() } else { parts.join("\n\n") };
    format!(
        "[Recap: an earlier session about this task was lost, and this is a new one. Its last requests, oldest first:\n\n{told}\n\n\
         Files may have been changed by it already: look before you change them again.]"
    )
}

fn request_of(messages: &[Message], call_id: Option<&str>) -> Option<String> {
    let call = messages.iter().flat_map(|message| &message.tool_calls).find(|call| Some(call.id.as_str()) == call_id)?;
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
    Some(arguments.get("prompt")?.as_str()?.to_owned())
}

fn within_budget(messages: &[Message]) -> &[Message] {
    let mut size = 0;
    let mut start = messages.len();
    for (index, message) in messages.iter().enumerate().rev() {
        size += message.content.len() + message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        if size > BUDGET && start < messages.len() {
            break;
        }
        if message.role == Role::User {
            start = index;
        }
    }
    // A single turn beyond the budget is sent all the same: half a turn would make no sense to anybody.
    if start == messages.len() { messages } else { &messages[start..] }
}

fn convert(message: &Message, contents: &Contents, relay: bool) -> model::Message {
    match message.role {
        // The agent gets what was sent along itself.
        Role::User if relay => model::Message::User(message.content.clone()),
        Role::User => attachments::for_model(message, contents),
        Role::Assistant => model::Message::Assistant {
            text: message.content.clone(),
            tool_calls: message
                .tool_calls
                .iter()
                .map(|call| model::ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone() })
                .collect(),
        },
        Role::Tool => model::Message::Tool {
            call_id: message.tool_call_id.clone().unwrap_or_default(),
            // The relay answers with the agent's own last words, not with the facts that were gathered for a model.
            content: match (&message.delegation, relay) {
                (Some(delegation), true) => delegation.summary.clone(),
                _ => message.content.clone(),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::MessageId;

    fn message(role: Role, size: usize) -> Message {
        serde_json::from_value(serde_json::json!({
            "id": MessageId(uuid::Uuid::now_v7()), "role": role, "content": "x".repeat(size), "created_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn old_turns_are_left_out_whole() {
        let messages = [
            message(Role::User, 10),
            message(Role::Assistant, BUDGET),
            message(Role::User, 20),
            message(Role::Assistant, 5),
            message(Role::Tool, 5),
            message(Role::User, 30),
        ];
        let history = for_model(&messages, &Contents::new(), false);
        assert_eq!(history.len(), 5);
        assert_eq!(history[1], model::Message::User("x".repeat(20)));
    }

    #[test]
    fn a_call_without_a_result_gets_one() {
        let mut asking = message(Role::Assistant, 1);
        let call = |id: &str| domain::event::ToolCall { id: id.to_owned(), name: "n".to_owned(), arguments: "{}".to_owned() };
        asking.tool_calls = vec![call("kept"), call("lost")];
        let mut result = message(Role::Tool, 1);
        result.tool_call_id = Some("kept".to_owned());
        let history = for_model(&[message(Role::User, 1), asking, result, message(Role::User, 1)], &Contents::new(), false);
        let results: Vec<_> = history.iter().filter(|message| matches!(message, model::Message::Tool { .. })).collect();
        assert_eq!(results.len(), 2);
        assert!(matches!(results[0], model::Message::Tool { call_id, .. } if call_id == "lost"));
    }

    #[test]
    fn one_huge_turn_is_kept() {
        let messages = [message(Role::User, BUDGET * 2)];
        assert_eq!(for_model(&messages, &Contents::new(), false).len(), 1);
    }

    fn result(name: &str, stop_reason: &str, at: &str) -> Message {
        let delegation = serde_json::json!({ "session_name": name, "stop_reason": stop_reason, "summary": "half" });
        serde_json::from_value(serde_json::json!({
            "id": MessageId(uuid::Uuid::now_v7()), "role": "tool", "content": "", "created_at": at, "delegation": delegation,
        }))
        .unwrap()
    }

    fn restored(how: &str) -> AgentSessionRow {
        AgentSessionRow {
            allow_all: false,
            id: uuid::Uuid::now_v7(),
            name: "task".to_owned(),
            acp_session_id: "s".to_owned(),
            agent: "a".to_owned(),
            cwd: "/".to_owned(),
            created_at: "2026-01-01T10:00:00Z".parse().unwrap(),
            prompted_at: None,
            mode: None,
            options: None,
            usage: None,
            commands: None,
            title: None,
            wanted: None,
            restored: Some(how.to_owned()),
            runner_id: None,
        }
    }

    #[test]
    fn a_lost_session_is_told_of_until_it_has_had_a_result() {
        let before = result("task", "end_turn", "2026-01-01T09:00:00Z");
        let other = result("other", "end_turn", "2026-01-01T11:00:00Z");
        let row = restored(LOST);
        assert!(preface(&[before.clone(), other.clone()], &row).unwrap().starts_with("[Recap:"));
        let after = result("task", "end_turn", "2026-01-01T11:00:00Z");
        assert_eq!(preface(&[before, other, after], &row), None);
    }

    #[test]
    fn a_restored_session_is_told_that_its_last_answer_was_cut_off() {
        let row = restored("loaded");
        let cut = result("task", "interrupted", "2026-01-01T11:00:00Z");
        assert!(preface(std::slice::from_ref(&cut), &row).unwrap().contains("seen: \"half\""));
        assert_eq!(preface(&[cut, result("task", "end_turn", "2026-01-01T12:00:00Z")], &row), None);
        assert_eq!(preface(&[], &row), None);
    }
}
