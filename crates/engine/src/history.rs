//! The conversation as the model is given it.

use domain::event::{Delegation, Message, Role};
use domain::host::{AgentSession, How};
use domain::ids::SessionId;
use store::{Page, Store, StoreError};

use crate::attachments::{self, Contents};

/// About how much text of the conversation goes to the model. Older turns are left out whole, so that a tool call never stands
/// without its result.
pub(crate) const BUDGET: usize = 400 * 1024;
const RECAP_PARTS: u32 = 5;
const RECAP_PART: usize = 1500;

/// Turns the latest stored turns into the model's history.
pub(crate) fn for_model(latest: &Page, contents: &Contents, relay: bool) -> Vec<model::Message> {
    let mut history: Vec<model::Message> = Vec::with_capacity(latest.messages.len() + 1);
    if latest.more {
        history.push(model::Message::User("(earlier parts of this conversation are left out)".to_owned()));
    }
    for message in &latest.messages {
        history.push(convert(message, contents, relay));
        history.extend(lost_results(message, &latest.messages));
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
pub(crate) async fn preface(store: &Store, session: SessionId, row: &AgentSession) -> Result<Option<String>, StoreError> {
    let last = store.results(session, &row.name, 1).await?.pop();
    if row.restored.as_deref() == Some(How::Lost.as_str()) {
        let told = last.is_some_and(|message| message.created_at > row.created_at);
        return if told { Ok(None) } else { recap(store, session, &row.name).await.map(Some) };
    }
    let Some(seen) = last.as_ref().and_then(cut_off).map(|delegation| delegation.summary.as_str()) else { return Ok(None) };
    Ok(Some(format!(
        "[Note: your process ended while you worked on the last request, so the answer to it was cut off and a command may have been \
         stopped half way. This much of it was seen: {}]",
        if seen.is_empty() { "nothing".to_owned() } else { format!("\"{}\"", domain::text::clip_start(seen, RECAP_PART)) }
    )))
}

/// The last result of `name`, if its process ended before it was complete.
pub(crate) async fn was_cut_off(store: &Store, session: SessionId, name: &str) -> Result<bool, StoreError> {
    Ok(store.results(session, name, 1).await?.first().and_then(cut_off).is_some())
}

fn cut_off(message: &Message) -> Option<&Delegation> {
    message.delegation.as_ref().filter(|delegation| matches!(delegation.stop_reason.as_str(), "interrupted" | "unknown"))
}

/// What a new agent session is told in place of the one that was lost: the last requests of that name, and what came of them.
async fn recap(store: &Store, session: SessionId, name: &str) -> Result<String, StoreError> {
    let mut parts = Vec::new();
    for message in store.results(session, name, RECAP_PARTS).await?.into_iter().rev() {
        let Some(delegation) = &message.delegation else { continue };
        let turn = match message.turn_id {
            Some(turn) => store.turn_messages(session, turn).await?,
            None => Vec::new(),
        };
        parts.push(format!(
            "Request: {}\nOutcome ({}): {}",
            domain::text::clip(&request_of(&turn, message.tool_call_id.as_deref()).unwrap_or_default(), RECAP_PART),
            delegation.stop_reason,
            domain::text::clip_start(&delegation.summary, RECAP_PART)
        ));
    }
    let told = if parts.is_empty() { "Nothing of it is known.".to_owned() } else { parts.join("\n\n") };
    Ok(format!(
        "[Recap: an earlier session about this task was lost, and this is a new one. Its last requests, oldest first:\n\n{told}\n\n\
         Files may have been changed by it already: look before you change them again.]"
    ))
}

fn request_of(messages: &[Message], call_id: Option<&str>) -> Option<String> {
    let call = messages.iter().flat_map(|message| &message.tool_calls).find(|call| Some(call.id.as_str()) == call_id)?;
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
    Some(arguments.get("prompt")?.as_str()?.to_owned())
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

    fn page(messages: Vec<Message>) -> Page {
        Page { messages, more: false }
    }

    #[test]
    fn that_something_is_left_out_is_said() {
        let messages = vec![message(Role::User, 20), message(Role::Assistant, 5)];
        let history = for_model(&Page { messages, more: true }, &Contents::new(), false);
        assert_eq!(history.len(), 3);
        assert!(matches!(&history[0], model::Message::User(text) if text.contains("left out")));
        assert_eq!(history[1], model::Message::User("x".repeat(20)));
    }

    #[test]
    fn a_call_without_a_result_gets_one() {
        let mut asking = message(Role::Assistant, 1);
        let call = |id: &str| domain::event::ToolCall { id: id.to_owned(), name: "n".to_owned(), arguments: "{}".to_owned() };
        asking.tool_calls = vec![call("kept"), call("lost")];
        let mut result = message(Role::Tool, 1);
        result.tool_call_id = Some("kept".to_owned());
        let history = for_model(&page(vec![message(Role::User, 1), asking, result, message(Role::User, 1)]), &Contents::new(), false);
        let results: Vec<_> = history.iter().filter(|message| matches!(message, model::Message::Tool { .. })).collect();
        assert_eq!(results.len(), 2);
        assert!(matches!(results[0], model::Message::Tool { call_id, .. } if call_id == "lost"));
    }

    fn result(name: &str, stop_reason: &str, at: &str) -> Message {
        let delegation = serde_json::json!({ "session_name": name, "stop_reason": stop_reason, "summary": "half" });
        serde_json::from_value(serde_json::json!({
            "id": MessageId(uuid::Uuid::now_v7()), "role": "tool", "content": "", "created_at": at, "delegation": delegation,
        }))
        .unwrap()
    }

    fn restored(how: &str) -> AgentSession {
        AgentSession {
            id: uuid::Uuid::now_v7(),
            name: "task".to_owned(),
            agent_session: "s".to_owned(),
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
            allow_all: false,
            restored: Some(how.to_owned()),
            runner_id: None,
        }
    }

    const SESSION: SessionId = SessionId(uuid::Uuid::nil());

    /// A store that holds these messages.
    async fn stored(dir: &tempfile::TempDir, messages: Vec<Message>) -> Store {
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        let new = store::NewSession {
            title: "t".into(),
            work_dir: "/w".into(),
            model: "relay".into(),
            agent: "a".into(),
            permission_policy: None,
            created_at: jiff::Timestamp::now(),
        };
        let rows = std::iter::once(store::Row::CreateSession(new)).chain(messages.into_iter().map(store::Row::Message)).collect();
        store.commit(store::Write { session: SESSION, events: Vec::new(), rows }).await.unwrap();
        store
    }

    async fn told(messages: Vec<Message>, how: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let store = stored(&dir, messages).await;
        let told = preface(&store, SESSION, &restored(how)).await.unwrap();
        store.close().await;
        told
    }

    #[tokio::test]
    async fn a_lost_session_is_told_of_until_it_has_had_a_result() {
        let before = result("task", "end_turn", "2026-01-01T09:00:00Z");
        let other = result("other", "end_turn", "2026-01-01T11:00:00Z");
        let recap = told(vec![before.clone(), other.clone()], How::Lost.as_str()).await.unwrap();
        assert!(recap.starts_with("[Recap:") && recap.contains("Outcome (end_turn): half"));
        let after = result("task", "end_turn", "2026-01-01T11:00:00Z");
        assert_eq!(told(vec![before, other, after], How::Lost.as_str()).await, None);
    }

    #[tokio::test]
    async fn a_restored_session_is_told_that_its_last_answer_was_cut_off() {
        let cut = result("task", "interrupted", "2026-01-01T11:00:00Z");
        assert!(told(vec![cut.clone()], "loaded").await.unwrap().contains("seen: \"half\""));
        assert_eq!(told(vec![cut, result("task", "end_turn", "2026-01-01T12:00:00Z")], "loaded").await, None);
        assert_eq!(told(Vec::new(), "loaded").await, None);
    }
}
