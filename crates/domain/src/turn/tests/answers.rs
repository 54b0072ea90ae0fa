//! An agent whose model fails: it says so in words, asks again, and repeats itself.

use proptest::prelude::*;

use super::super::{AgentEnd, Effect, Input, Session};
use super::{AGENT, NOW, Story, delegate, settings};
use crate::agent::{Retry, ToolCall as AgentCall, Update};
use crate::event::{AgentUpdate, Event, PlacedUpdate, ToolResult};

/// One call to an agent.
struct Talk {
    story: Story,
}

impl Talk {
    fn begin(relay: bool) -> Talk {
        let mut story = Story::begin();
        story.settings.relay = relay;
        story.answer("", vec![delegate("c", "n")]);
        Talk { story }
    }

    fn says(&mut self, text: &str) {
        self.story.feed(Input::AgentText { call_id: "c".into(), text: text.into() });
    }

    fn does(&mut self, update: Update) {
        self.story.feed(Input::AgentUpdate { call_id: "c".into(), update });
    }

    fn spoken(&mut self, level: &str, text: &str, retry: Option<Retry>) {
        self.does(Update::Notice { level: level.into(), text: text.into(), in_text: true, retry });
    }

    fn retries(&mut self) {
        self.spoken("info", "Interrupted. Retrying...", Some(Retry::default()));
        self.does(Update::usage(Some(1), None, None));
    }

    fn ends(&mut self) -> ToolResult {
        let effects = self.story.feed(Input::AgentEnd {
            call_id: "c".into(),
            agent: AGENT.to_owned(),
            end: AgentEnd::Stopped { stop_reason: "end_turn".into() },
        });
        let result = effects.into_iter().find_map(|effect| match effect {
            Effect::Append(Event::ToolResult(result)) => Some(result),
            _ => None,
        });
        result.expect("a call that ends has a result")
    }

    /// The server dies, and the next one folds the log.
    fn restarts(&mut self) {
        let mut folded = Session::default();
        for effect in &self.story.effects {
            if let Effect::Append(event) = effect {
                folded.apply(event);
            }
        }
        folded.step(Input::AgentHas { call_id: "c".to_owned() }, &settings(), NOW);
        self.story.session = folded;
    }

    fn text(&self) -> &str {
        &self.story.session.turn.as_ref().and_then(|turn| turn.call("c")).expect("the call is open").text
    }

    fn updates(&self) -> &[PlacedUpdate] {
        &self.story.session.turn.as_ref().and_then(|turn| turn.call("c")).expect("the call is open").updates
    }
}

fn agent_call(id: &str) -> Update {
    Update::ToolCall(AgentCall { id: id.into(), status: Some("completed".into()), ..AgentCall::default() })
}

#[test]
fn a_repeated_answer_is_shown_once() {
    let mut talk = Talk::begin(false);
    talk.says("before ");
    talk.does(agent_call("t"));
    talk.says("half a sen");
    talk.retries();
    talk.says("half ");
    talk.retries();
    talk.says("half a ");
    talk.says("sentence.");
    assert_eq!(talk.text(), "before half a sentence.");
    let told = talk.updates().iter().filter_map(|placed| match &placed.update {
        Update::Notice { retry: Some(retry), .. } => Some((retry.number, retry.repeated, retry.anew)),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(1, 5, false), (2, 10, false)]);
    let result = talk.ends();
    assert!(!result.is_error && result.content.starts_with("half a sentence.\n"), "{}", result.content);
}

#[test]
fn an_answer_that_comes_out_differently_follows_whole_behind_the_void_one() {
    let mut talk = Talk::begin(false);
    talk.says("I think so");
    talk.retries();
    talk.says("I think ");
    talk.says("not.");
    talk.retries();
    talk.says("I think not. Surely.");
    assert_eq!(talk.text(), "I think so\n\nI think not. Surely.");
    let result = talk.ends();
    assert!(result.content.starts_with("I think not. Surely.\n"), "{}", result.content);
}

#[test]
fn an_answer_that_is_shorter_the_second_time_replaces_the_longer_one() {
    let mut talk = Talk::begin(false);
    talk.says("Done, and more");
    talk.retries();
    talk.says("Done");
    assert!(talk.ends().content.starts_with("Done\n"));
    let mut talk = Talk::begin(false);
    talk.says("First I look");
    talk.retries();
    talk.does(agent_call("t"));
    talk.says("Seen.");
    assert_eq!(talk.text(), "First I lookSeen.");
    assert!(talk.ends().content.starts_with("Seen.\n"));
}

#[test]
fn a_call_that_ends_in_words_of_failure_has_failed() {
    let mut talk = Talk::begin(true);
    talk.says("half");
    talk.spoken("error", "Authentication failed (HTTP 401).\n  Check the key.", None);
    talk.does(Update::usage(Some(1), None, None));
    let result = talk.ends();
    assert!(result.is_error);
    assert!(result.content.starts_with("the agent could not finish: Authentication failed (HTTP 401).\n  Check the key.\n\n"));
    assert!(result.content.contains("half"));
    let kinds = talk.story.kinds();
    assert_eq!(kinds[kinds.len() - 4..], ["copilot-done", "tool-result", "error", "turn failed"]);
}

#[test]
fn an_error_that_something_follows_is_only_a_notice() {
    let mut talk = Talk::begin(false);
    talk.spoken("error", "that went wrong", None);
    talk.says("But this is well.");
    assert!(!talk.ends().is_error);
    let mut talk = Talk::begin(false);
    talk.says("Fine.");
    talk.does(Update::notice("error", "a notice of an agent that sends notices"));
    assert!(!talk.ends().is_error);
}

#[test]
fn what_an_agent_left_open_is_closed_by_how_its_work_ended() {
    let ends = [
        (true, AgentEnd::stopped("cancelled"), "cancelled"),
        (false, AgentEnd::stopped("cancelled"), "interrupted"),
        (false, AgentEnd::Gone { message: "killed".into() }, "interrupted"),
    ];
    for (stopped, end, status) in ends {
        let mut talk = Talk::begin(false);
        talk.does(Update::ToolCall(AgentCall { id: "t".into(), status: Some("pending".into()), ..AgentCall::default() }));
        talk.does(agent_call("done"));
        if stopped {
            talk.story.feed(Input::CancelCall { call_id: "c".into() });
        }
        let effects = talk.story.feed(Input::AgentEnd { call_id: "c".into(), agent: AGENT.to_owned(), end });
        let closed = effects.iter().filter_map(|effect| match effect {
            Effect::Append(Event::AgentUpdate(AgentUpdate { update: Update::ToolCall(call), .. })) => {
                Some((call.id.as_str(), call.status.as_deref()))
            }
            _ => None,
        });
        assert_eq!(closed.collect::<Vec<_>>(), [("t", Some(status))]);
    }
}

#[test]
fn a_compaction_is_kept_as_one_thing() {
    let mut talk = Talk::begin(false);
    let report = |status: Option<&str>, summary: Option<&str>, appends| Update::Compaction {
        id: "k".into(),
        status: status.map(str::to_owned),
        summary: summary.map(str::to_owned),
        appends,
        error: None,
    };
    for update in [report(Some("in_progress"), None, false), report(None, Some("We "), true), report(None, Some("did."), true)] {
        talk.does(update);
    }
    talk.does(report(Some("completed"), None, false));
    assert_eq!(talk.updates().len(), 1);
    assert_eq!(talk.updates()[0].update, report(Some("completed"), Some("We did."), false));
}

proptest! {
    /// However an answer is cut into pieces, wherever it breaks off and the server dies: it is there once.
    #[test]
    fn a_repetition_is_swallowed_whatever_its_pieces(
        answer in "[ab😀ü]{1,30}", breaks in prop::collection::vec(0usize..31, 0..4), piece in 1usize..7, restart in 0usize..20,
    ) {
        let mut talk = Talk::begin(false);
        let characters: Vec<char> = answer.chars().collect();
        let mut steps = 0;
        for end in breaks.iter().copied().chain([characters.len()]) {
            if steps > 0 || end == 0 {
                talk.retries();
            }
            for part in characters[..end.min(characters.len())].chunks(piece) {
                if steps == restart {
                    talk.restarts();
                }
                talk.says(&part.iter().collect::<String>());
                steps += 1;
            }
        }
        prop_assert_eq!(talk.text(), answer);
    }
}
