//! An agent that says or does without end, in one call.

use serde_json::json;

use super::super::tests::{AGENT, Story, delegate};
use super::super::{AgentEnd, Effect, Input};
use super::*;
use crate::agent::ToolContent;
use crate::event::Event;

fn story(is_full: bool) -> Story {
    let mut story = Story::begin();
    story.settings.is_full = is_full;
    story.answer("", vec![delegate("c", "main")]);
    story
}

fn say(story: &mut Story, text: String) -> Vec<Effect> {
    story.feed(Input::AgentText { call_id: "c".to_owned(), text })
}

fn happens(story: &mut Story, update: Update) -> Vec<Effect> {
    story.feed(Input::AgentUpdate { call_id: "c".to_owned(), update })
}

fn call(story: &Story) -> &Call {
    story.session.call("c").expect("the call runs")
}

fn logged(effects: &[Effect]) -> usize {
    let bytes = |effect: &Effect| if let Effect::Append(event) = effect { event.data().len() } else { 0 };
    effects.iter().map(bytes).sum()
}

fn notices(story: &Story, wanted: &str) -> usize {
    call(story).updates.iter().filter(|placed| matches!(&placed.update, Update::Notice { text, .. } if text == wanted)).count()
}

fn tool_call(id: &str, status: &str, bytes: usize) -> Update {
    let content = Some(vec![ToolContent::Text { text: "x".repeat(bytes) }]);
    Update::ToolCall(ToolCall {
        id: id.to_owned(),
        title: Some("T".to_owned()),
        status: Some(status.to_owned()),
        content,
        ..ToolCall::default()
    })
}

#[test]
fn text_without_end_is_cut_once_with_a_notice_and_the_call_ends_as_it_did() {
    for (is_full, most, told) in [(false, CALL.text, TEXT_CUT), (true, CALL_IN_FULL_SESSION.text, TEXT_CUT_IN_FULL_SESSION)] {
        let mut story = story(is_full);
        let mut stored = 0;
        for _ in 0..2 * most / 100_001 + 2 {
            stored += logged(&say(&mut story, "ä".repeat(50_000) + "x"));
        }
        assert!(call(&story).text.len() <= most && stored < most + 100_000, "{stored}");
        assert_eq!(notices(&story, told), 1);
        assert_eq!(logged(&say(&mut story, "more".to_owned())), 0);
        let folded = story.restarted();
        assert_eq!(folded.call("c").map(|call| (call.text.len(), call.length)), Some((call(&story).text.len(), call(&story).length)));
        let end = story.feed(Input::AgentEnd { call_id: "c".to_owned(), agent: AGENT.to_owned(), end: AgentEnd::stopped("end_turn") });
        let result = end.iter().find_map(|effect| if let Effect::Append(Event::ToolResult(result)) = effect { Some(result) } else { None });
        assert!(result.is_some_and(|result| !result.is_error && result.content.contains(told)), "the main AI is told");
    }
}

#[test]
fn a_large_call_that_changes_all_the_time_fills_no_log_and_still_ends() {
    let mut story = story(false);
    let mut stored = 0;
    for number in 0..200 {
        stored += logged(&happens(&mut story, tool_call("t", &format!("step {number}"), 1_000_000)));
    }
    assert!(stored < CALL.logged + 3_000_000, "{stored}");
    assert_eq!(notices(&story, UPDATES_CUT), 1);
    happens(&mut story, tool_call("t", "completed", 1_000_000));
    let last = call(&story).updates.iter().find_map(|placed| if let Update::ToolCall(call) = &placed.update { Some(call) } else { None });
    assert_eq!(
        last.map(|call| (call.status.as_deref(), call.title.as_deref(), call.truncated)),
        Some((Some("completed"), Some("T"), true))
    );
}

#[test]
fn many_calls_thoughts_and_outputs_have_one_bound_together() {
    let mut story = story(false);
    for number in 0..3_000 {
        happens(&mut story, tool_call(&number.to_string(), "completed", 20_000));
        happens(&mut story, Update::Thought { text: "t".repeat(5_000) });
        happens(&mut story, Update::ToolOutput { id: number.to_string(), offset: 0, content: "o".repeat(5_000) });
        happens(&mut story, Update::Unknown { kind: "k".to_owned(), raw: json!("r".repeat(5_000)).into() });
        say(&mut story, "x".to_owned());
    }
    let kept: usize = call(&story).updates.iter().map(|placed| placed.update.bytes()).sum();
    assert!(kept < CALL.kept + 3_000 * 2_000, "{kept}");
    assert_eq!(call(&story).text.len(), 3_000, "text has a bound of its own");
    let statuses = call(&story).updates.iter().filter(|placed| matches!(&placed.update, Update::ToolCall(call) if !call.is_open()));
    assert_eq!(statuses.count(), 3_000, "that each call was made and how it ended is kept");
}

#[test]
fn a_flood_of_small_things_comes_to_an_end_and_a_refusal_is_never_dropped() {
    let mut story = story(true);
    for number in 0..30_000 {
        happens(&mut story, Update::notice("info", format!("{number}")));
    }
    assert!(call(&story).updates.len() <= 2 * UPDATES);
    let before = call(&story).updates.len();
    let denied = Update::Denied { title: "rm".to_owned(), agent_call: None, malformed: None, by: "policy".to_owned(), rule_id: None };
    happens(&mut story, denied);
    assert_eq!(call(&story).updates.len(), before + 1);
    assert!(call(&story).rejected().is_some());
}
