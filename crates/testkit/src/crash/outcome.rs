//! What came of a conversation, as every reader must see it, and how it compares with an undisturbed one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::{Agent, Case, Moment, Victim};
use super::conversation;
use super::findings::{Fault, Findings};
use super::setup::Setup;
use crate::client::Transcript;

/// One message of the person and everything that followed from it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Ending {
    pub message: String,
    pub state: String,
    /// What the main AI said.
    pub answer: String,
    pub agent_text: String,
    pub stop_reason: String,
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub endings: Vec<Ending>,
    pub log: Vec<String>,
}

impl Outcome {
    /// Reads it from the server, and finds out whether the reader, a new client and the stored messages agree.
    pub(super) async fn read(setup: &Setup) -> Result<(Outcome, Findings), String> {
        let mut findings = Findings::default();
        let messages = all_messages(setup).await?;
        let seen = setup.reader.seen();
        agree_with_reader(&messages, &seen, &mut findings);
        agree_with_new_client(&messages, &new_client(setup).await?, &mut findings);
        let states = states(&seen, &mut findings);
        let mut endings: Vec<Ending> = Vec::new();
        for message in &messages {
            let content = text(message, "content");
            match message["role"].as_str() {
                Some("user") => {
                    let state = states.get(text(message, "turn_id")).cloned().unwrap_or_default();
                    endings.push(Ending { message: content.to_owned(), state, ..Ending::default() });
                }
                Some("tool") => {
                    let Some(ending) = endings.last_mut() else { continue };
                    ending.agent_text.push_str(text(message, "display"));
                    ending.stop_reason = text(&message["delegation"], "stop_reason").to_owned();
                }
                _ => endings.last_mut().into_iter().for_each(|ending| ending.answer.push_str(content)),
            }
        }
        let home = setup.home().display().to_string();
        endings.iter_mut().for_each(|ending| ending.agent_text = ending.agent_text.replace(&home, "~"));
        findings
            .expect(seen.of_kind("notice").all(|event| event.data["code"] != "session_lost"), || "the agent's session was lost".to_owned());
        Ok((Outcome { endings, log: setup.log() }, findings))
    }

    /// Compares with the run in which nobody died.
    pub(super) fn compare(&self, case: Case, undisturbed: &Outcome) -> Findings {
        let mut findings = Findings::default();
        for (index, expected) in undisturbed.endings.iter().enumerate() {
            match self.endings.get(index) {
                None => findings.add(Fault::Lost(format!("the message {:?}", expected.message))),
                Some(found) if index == 1 && found != expected && case.may_be_cut_short() => {
                    cut_short(case, found, expected, &mut findings)
                }
                Some(found) => same(&warned(case, found), expected, &mut findings),
            }
        }
        for extra in self.endings.iter().skip(undisturbed.endings.len()) {
            findings.add(Fault::Doubled(format!("the message {:?}", extra.message)));
        }
        self.compare_log(case, &undisturbed.log, &mut findings);
        findings
    }

    /// What was carried out is in the log once and in order; only work that was cut short may be missing.
    fn compare_log(&self, case: Case, expected: &[String], findings: &mut Findings) {
        for (index, line) in self.log.iter().enumerate() {
            if self.log[..index].contains(line) {
                findings.add(Fault::Doubled(format!("{line} was carried out twice: {:?}", self.log)));
            }
        }
        let forgivable = |line: &String| case.may_be_cut_short() && (line == "step-2" || line == "step-2-end");
        for line in expected.iter().filter(|line| !self.log.contains(line) && !forgivable(line)) {
            findings.add(Fault::Lost(format!("{line} was not carried out: {:?}", self.log)));
        }
        let certain = |log: &[String]| log.iter().filter(|line| !forgivable(line)).cloned().collect::<Vec<_>>();
        let unexpected = certain(&self.log).len() == certain(expected).len() && certain(&self.log) != certain(expected);
        findings.expect(!unexpected, || format!("carried out in the wrong order: {:?}, not {expected:?}", self.log));
    }
}

fn same(found: &Ending, expected: &Ending, findings: &mut Findings) {
    if found.message != expected.message {
        return findings.add(Fault::Wrong(format!("{:?} stands where {:?} should", found.message, expected.message)));
    }
    differ(&format!("the agent's text for {:?}", found.message), &found.agent_text, &expected.agent_text, findings);
    differ(&format!("the answer to {:?}", found.message), &found.answer, &expected.answer, findings);
    let (ended, should) = ((&found.state, &found.stop_reason), (&expected.state, &expected.stop_reason));
    findings.expect(ended == should, || format!("{:?} ended as {ended:?}, not {should:?}", found.message));
}

/// After its death in the middle of a tool call, Copilot begins its next answer with a warning of its own.
fn warned(case: Case, found: &Ending) -> Ending {
    let warning = found.agent_text.strip_prefix("Warning: ").filter(|_| case.is_cut_short() && case.agent == Agent::Copilot);
    let rest = warning.and_then(|text| text.split_once("before continuing.")).map(|(_, rest)| rest.to_owned());
    Ending { agent_text: rest.unwrap_or_else(|| found.agent_text.clone()), ..found.clone() }
}

/// The documented end of work whose agent died: what it had written is kept, and the turn goes on without it.
fn cut_short(case: Case, found: &Ending, expected: &Ending, findings: &mut Findings) {
    let without_wrapper = case.agent.ends_without_wrapper();
    let (state, stops): (_, &[&str]) = match (case.moment, case.victim) {
        // What the native program still answers it may have answered before the stop reached it.
        (Moment::Cancelling, Victim::Wrapper) => ("cancelled", &["cancelled", without_wrapper[0], without_wrapper[1]]),
        (Moment::Cancelling, _) => ("cancelled", &["cancelled", "interrupted"]),
        (_, Victim::Wrapper) => ("completed", &without_wrapper),
        _ => ("completed", &["interrupted"]),
    };
    findings.expect(found.message == expected.message, || format!("{:?} stands where {:?} should", found.message, expected.message));
    findings.expect(found.state == state, || format!("the turn ended as {:?}, not {state}", found.state));
    findings.expect(stops.contains(&found.stop_reason.as_str()), || format!("the call ended as {:?}, not {stops:?}", found.stop_reason));
    findings.expect(found.answer == expected.answer, || format!("the answer is {:?}, not {:?}", found.answer, expected.answer));
    let denied = found.stop_reason == "end_turn";
    if !expected.agent_text.starts_with(&found.agent_text) && !denied && !finished_its_sentence(case, &found.agent_text) {
        findings.add(Fault::Wrong(format!("{:?} does not begin {:?}", found.agent_text, expected.agent_text)));
    }
    if found.agent_text.is_empty() && case.is_cut_short() {
        findings.add(Fault::Lost("all that the agent had written".to_owned()));
    }
}

/// The native program outlives its wrapper for a moment. On a busy machine it may finish its sentence before the stop reaches it.
fn finished_its_sentence(case: Case, found: &str) -> bool {
    let wrapper_alone = case.agent.has_wrapper() && case.moment == Moment::Cancelling && case.victim == Victim::Wrapper;
    wrapper_alone && conversation::task_text("step-2").starts_with(found)
}

pub(super) async fn all_messages(setup: &Setup) -> Result<Vec<Value>, String> {
    let mut all: Vec<Value> = Vec::new();
    let mut before = String::new();
    loop {
        let page = setup.address.get(&format!("/messages?limit=200{before}")).await?;
        let mut messages = page["messages"].as_array().cloned().ok_or("no messages")?;
        before = format!("&before={}", messages.first().map_or("", |first| text(first, "id")));
        messages.append(&mut all);
        all = messages;
        if page["more"] != true {
            return Ok(all);
        }
    }
}

/// Every text that was streamed is the text that is stored, and whatever is stored was sent.
pub(super) fn agree_with_reader(messages: &[Value], seen: &Transcript, findings: &mut Findings) {
    let sent: Vec<&str> = seen.of_kind("message").filter_map(|event| event.data["id"].as_str()).collect();
    for message in messages {
        let (id, content) = (text(message, "id"), text(message, "content"));
        let calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        match message["role"].as_str() {
            Some("tool") => {
                let (call, display) = (text(message, "tool_call_id"), text(message, "display"));
                let streamed = seen.texts.get(call).map_or("", String::as_str);
                differ(&format!("the agent's text of {call}"), streamed, display, findings);
                let results = seen.of_kind("tool-result").filter(|event| event.data["id"] == call).count();
                once(&format!("the result of {call}"), results, findings);
            }
            Some("assistant") => {
                if let Some(streamed) = seen.texts.get(id) {
                    differ(&format!("the text of {id}"), streamed, content, findings);
                }
                if !calls {
                    once(&format!("the answer {id}"), sent.iter().filter(|known| **known == id).count(), findings);
                }
            }
            _ => once(&format!("the message {content:?}"), sent.iter().filter(|known| **known == id).count(), findings),
        }
    }
}

fn once(what: &str, count: usize, findings: &mut Findings) {
    match count {
        1 => {}
        0 => findings.add(Fault::Lost(format!("{what} was never sent"))),
        _ => findings.add(Fault::Doubled(format!("{what} was sent {count} times"))),
    }
}

fn differ(what: &str, found: &str, expected: &str, findings: &mut Findings) {
    if found != expected {
        let fault = format!("{what} is {found:?}, not {expected:?}");
        findings.add(if found.len() < expected.len() { Fault::Lost(fault) } else { Fault::Doubled(fault) });
    }
}

/// A client that comes without a cursor, read up to `ready`.
async fn new_client(setup: &Setup) -> Result<Transcript, String> {
    let mut client = setup.address.open(None).await?;
    let reading = async { while client.next().await.is_some_and(|event| event.kind != "ready") {} };
    tokio::time::timeout(super::setup::SOON, reading).await.map_err(|_| "a new client got no snapshot".to_owned())?;
    Ok(client.seen)
}

fn agree_with_new_client(messages: &[Value], seen: &Transcript, findings: &mut Findings) {
    let shown: Vec<(&str, &str)> = seen.of_kind("message").map(|event| (text(&event.data, "id"), text(&event.data, "content"))).collect();
    let stored: Vec<(&str, &str)> = messages.iter().map(|message| (text(message, "id"), text(message, "content"))).collect();
    findings.expect(shown == stored, || format!("a new client is shown {shown:?}, stored is {stored:?}"));
    findings.expect(seen.texts.is_empty(), || format!("a new client is shown open texts: {:?}", seen.texts));
}

/// The final state of every turn, by its id.
pub(super) fn states(seen: &Transcript, findings: &mut Findings) -> BTreeMap<String, String> {
    let mut states = BTreeMap::new();
    for event in seen.of_kind("turn").filter(|event| event.data["state"] != "running") {
        let (id, state) = (text(&event.data, "turn_id").to_owned(), text(&event.data, "state").to_owned());
        if let Some(before) = states.insert(id.clone(), state) {
            findings.add(Fault::Doubled(format!("turn {id} ended again after it was {before}")));
        }
    }
    states
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
