//! Questions to the person: how they are asked, and what is done with the answers.

use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Flow, Stop, TICK, Turn};

/// The id that `reuse_id` asks under, again and again. Far from those that are counted.
const REUSED: u64 = 1_000_000;

pub(super) fn by_name(turn: &Turn, name: &str) -> Option<Flow> {
    Some(match name {
        "ask" => ask(turn, 1),
        "ask3" => ask(turn, 3),
        "reuse_id" => reuse_id(turn),
        "cancelled_after_rejection" => rejected(turn, || Err(Stop::Cancelled)),
        "rejected_then_done" => rejected(turn, || turn.say("Then I leave it as it is.")),
        _ => return None,
    })
}

/// So many questions at once; the answers are streamed as JSON.
fn ask(turn: &Turn, count: u64) -> Flow {
    let answers: Vec<Receiver<Value>> = (1..=count).map(|number| ask_once(turn, None, number)).collect();
    for answer in answers {
        let message = wait(turn, &answer)?;
        let outcome = message.get("result").unwrap_or(&message["error"]);
        turn.chunk(&format!("{outcome}\n"));
    }
    Ok(())
}

/// Two questions, one after the other, under an id that every such question has; the commands are numbered over all turns. What is
/// allowed is run, and leaves its number in `ran.txt`.
fn reuse_id(turn: &Turn) -> Flow {
    for _ in 0..2 {
        let number = turn.agent.reused.fetch_add(1, Ordering::Relaxed) + 1;
        let message = wait(turn, &ask_once(turn, Some(REUSED), number))?;
        let option = message["result"]["outcome"]["optionId"].as_str().unwrap_or("none");
        if option == "yes" {
            let ran = Command::new("sh").args(["-c", &format!("echo {number} >> ran.txt")]).status();
            assert!(ran.is_ok_and(|status| status.success()), "the command can be run");
        }
        turn.chunk(&format!("{number}: {option}\n"));
    }
    Ok(())
}

/// One question; after a rejection the turn goes on as `then` says.
fn rejected(turn: &Turn, then: impl FnOnce() -> Flow) -> Flow {
    let message = wait(turn, &ask_once(turn, None, 1))?;
    match message["result"]["outcome"]["optionId"].as_str() {
        Some("no") => then(),
        other => turn.say_at_once(&format!("not rejected: {other:?}")),
    }
}

/// A cancel ends the wait although nobody answered.
fn wait(turn: &Turn, answer: &Receiver<Value>) -> Result<Value, Stop> {
    loop {
        match answer.recv_timeout(TICK) {
            Ok(message) => return Ok(message),
            Err(_) => turn.pause(Duration::ZERO)?,
        }
    }
}

fn ask_once(turn: &Turn, id: Option<u64>, number: u64) -> Receiver<Value> {
    let command = format!("echo {number}");
    let call = json!({
        "toolCallId": format!("call_{number}"), "title": format!("Say {number}"), "kind": "execute",
        "status": "pending", "rawInput": { "command": command },
    });
    let mut update = call.clone();
    update["sessionUpdate"] = json!("tool_call");
    turn.update(&update);
    let params = json!({
        "sessionId": turn.session,
        "toolCall": call,
        // Not in the usual order: an option is picked by its kind.
        "options": [
            { "optionId": "no", "name": "No", "kind": "reject_once" },
            { "optionId": "always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        ],
    });
    match id {
        Some(id) => turn.agent.wire.request_under(id, "session/request_permission", &params),
        None => turn.agent.wire.request("session/request_permission", &params),
    }
}
