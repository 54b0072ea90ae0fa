//! Found, spoken to, answered: nothing goes wrong here.

use serde_json::{Value, json};

use super::{Finding, Outcome, expect, held};
use crate::driven::{Driven, SOON, Talk};
use crate::plan::{HELD, HOLD, PIECES, SAY};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) async fn entry(driven: &Driven) -> Value {
    let (_, list) = driven.server.call("GET", "/api/agents", None).await;
    let agents = list["agents"].as_array().cloned().unwrap_or_default();
    agents.into_iter().find(|agent| agent["id"] == driven.agent.id).unwrap_or_default()
}

/// No section of the configuration names it.
pub(super) async fn found(driven: &mut Driven) -> Outcome {
    let agent = entry(driven).await;
    expect(agent["installed"] == true, || format!("not in the catalogue as installed: {agent}"))?;
    held()
}

/// The program was asked for it in the background.
pub(super) async fn version(driven: &mut Driven) -> Outcome {
    let pinned = driven.agent.pinned()?;
    let deadline = std::time::Instant::now() + SOON;
    loop {
        let agent = entry(driven).await;
        match agent["version"].as_str() {
            Some(version) if version.contains(&pinned) => return held(),
            Some(other) => return Err(format!("says {other}, is {pinned}")),
            None if std::time::Instant::now() > deadline => return Err(format!("none, is {pinned}")),
            None => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}

/// Byte for byte what the model wrote.
pub(super) async fn text(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    let state = driven.turn(&mut talk, &format!("please {SAY}text")).await;
    expect(state == "completed", || format!("ended {:?}", talk.ended()))?;
    expect(talk.text() == PIECES.concat(), || format!("shown: {:?}", talk.text()))?;
    held()
}

/// Two messages wait for a third; each gets its answer, in order.
pub(super) async fn queue(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    let gate = driven.plan.gate("queue");
    driven.send(&talk, &format!("please {HOLD}queue")).await;
    gate.release(1);
    talk.until_written("main", HELD[0]).await;
    for word in ["second", "third"] {
        driven.send(&talk, &format!("please {SAY}{word}")).await;
    }
    let queue = driven.get(&talk, "queue").await;
    expect(queue["items"].as_array().map(Vec::len) == Some(2), || format!("waiting: {queue}"))?;
    gate.open();
    for _ in 0..3 {
        let state = talk.client.turn_end(SOON).await;
        expect(state == "completed", || format!("ended {:?}", talk.ended()))?;
    }
    let wanted = HELD.concat() + &PIECES.concat() + &PIECES.concat();
    expect(talk.text() == wanted, || format!("shown: {:?}", talk.text()))?;
    held()
}

/// The main AI gives a task to each of two names; both stream at the same time.
pub(super) async fn two_names(driven: &mut Driven) -> Outcome {
    let wanted = json!({ "title": "two", "model": "main", "agent": driven.agent.id, "permission_policy": "ask" });
    let mut talk: Talk = driven.talk(wanted).await;
    driven.send(&talk, "go").await;
    let gates = ["left", "right"].map(|name| driven.plan.gate(name));
    for gate in &gates {
        gate.release(2);
    }
    talk.until_written("left", HELD[1]).await;
    talk.until_written("right", HELD[1]).await;
    for gate in &gates {
        gate.open();
    }
    let state = talk.client.turn_end(SOON).await;
    expect(state == "completed", || format!("ended {:?}", talk.ended()))?;
    for name in ["left", "right"] {
        let text = talk.client.seen.agent_text(name);
        expect(text == HELD.concat(), || format!("{name}: {text:?}"))?;
    }
    held()
}

/// The agent's model sees the picture.
pub(super) async fn image(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    let image = json!({ "kind": "image", "name": "dot.png", "mime_type": "image/png", "data": PNG });
    let body = json!({ "content": format!("please {SAY}image"), "attachments": [image] });
    let (status, answer) = driven.server.call("POST", &format!("/api/sessions/{}/messages", talk.session), Some(body)).await;
    if status != 202 {
        return Ok(Finding::Absent(format!("refused: {}", answer["error"]["message"].as_str().unwrap_or_default())));
    }
    let state = talk.client.turn_end(SOON).await;
    let reached = driven.model.requests().iter().any(|request| request.body.to_string().contains(PNG));
    match (state.as_str(), reached) {
        ("completed", true) => held(),
        (_, false) => Err(format!("the model saw no image, and the turn ended {:?}", talk.ended())),
        _ => Err(format!("ended {:?}", talk.ended())),
    }
}
