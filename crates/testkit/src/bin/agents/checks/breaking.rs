//! Stopped, killed, left alone: what is kept, and how it goes on.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::processes;

use super::{Finding, Outcome, expect, held};
use crate::driven::{Driven, SOON, Talk, eventually};
use crate::plan::{FAULT, HELD, HOLD, PIECES, SAY, SLEEP};

/// Prompts for an answer that is held after two of its three pieces, and waits for them.
async fn hold(driven: &Driven, talk: &mut Talk, word: &str) {
    driven.send(talk, &format!("please {HOLD}{word}")).await;
    driven.plan.gate(word).release(2);
    talk.until_written("main", &HELD[..2].concat()).await;
}

/// Stopped in the middle of a sentence: what was written is kept, the agent lets go of its model, the next message is answered.
pub(super) async fn stopped(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    hold(driven, &mut talk, "stop").await;
    let hung_up = driven.model.hang_ups();
    expect(driven.post(&talk, "cancel", json!({})).await == 202, || "the stop was refused".to_owned())?;
    let state = talk.client.turn_end(SOON).await;
    expect(state == "cancelled", || format!("ended {:?}", talk.ended()))?;
    expect(talk.text() == HELD[..2].concat(), || format!("shown: {:?}", talk.text()))?;
    eventually("the agent lets go of its model", || driven.model.hang_ups() > hung_up).await?;
    driven.plan.gate("stop").open();
    let state = driven.turn(&mut talk, &format!("please {SAY}afterwards")).await;
    expect(state == "completed" && talk.text().ends_with(PIECES[4]), || format!("afterwards {:?}: {:?}", talk.ended(), talk.text()))?;
    held()
}

/// Stopped while a command runs: the command is gone.
pub(super) async fn tool_stopped(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("auto").await;
    driven.send(&talk, &format!("please {SLEEP}slept")).await;
    let pid = || driven.read("slept.pid").and_then(|pid| pid.trim().parse::<i32>().ok());
    eventually("the command runs", || pid().is_some()).await?;
    let pid = pid().unwrap_or_default();
    // An agent may treat a command that has run for a while otherwise than one that has just begun.
    tokio::time::sleep(Duration::from_secs(3)).await;
    expect(driven.post(&talk, "cancel", json!({})).await == 202, || "the stop was refused".to_owned())?;
    let state = talk.client.turn_end(SOON).await;
    let gone = eventually("the command ends", || !Path::new(&format!("/proc/{pid}")).exists()).await;
    if gone.is_err() {
        processes::signal(pid, "KILL");
    }
    expect(state == "cancelled", || format!("ended {:?}", talk.ended()))?;
    expect(gone.is_ok(), || "the command outlives the stop".to_owned())?;
    held()
}

/// A fault of the model is the turn's failure, with the reason; the session goes on.
pub(super) async fn model_fault(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    let state = driven.turn(&mut talk, &format!("please {FAULT}fault")).await;
    let (_, reason) = talk.ended();
    expect(state == "failed", || format!("ended {:?}, shown {:?}", talk.ended(), talk.text()))?;
    expect(reason.contains("scripted 400"), || format!("the reason is not told: {reason}"))?;
    let state = driven.turn(&mut talk, &format!("please {SAY}again")).await;
    expect(state == "completed", || format!("afterwards {:?}", talk.ended()))?;
    held()
}

/// `kill -9` in the middle of a sentence: the turn is interrupted, what was written is kept, and the next prompt finds the agent's memory.
pub(super) async fn agent_killed(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    driven.turn(&mut talk, &format!("the bird is a heron, please {SAY}first")).await;
    hold(driven, &mut talk, "killed").await;
    for agent in driven.agents() {
        processes::signal(agent.pid, "KILL");
    }
    let state = talk.client.turn_end(SOON).await;
    driven.plan.gate("killed").open();
    expect(state == "failed" && talk.stop_reason() == "interrupted", || {
        format!("ended {:?}, the call {}", talk.ended(), talk.stop_reason())
    })?;
    let wanted = PIECES.concat() + &HELD[..2].concat();
    expect(talk.text() == wanted, || format!("shown: {:?}", talk.text()))?;
    let prompt = format!("which bird was it? {SAY}recall");
    let state = driven.turn(&mut talk, &prompt).await;
    expect(state == "completed", || format!("afterwards {:?}", talk.ended()))?;
    expect(talk.text() == wanted + &PIECES.concat(), || format!("shown afterwards: {:?}", talk.text()))?;
    expect(driven.knew(&prompt, "heron"), || "its memory is gone".to_owned())?;
    Ok(Finding::Held(driven.restored(&talk).await))
}

/// `kill -9` of the server in the middle of a sentence: the agent goes on, and the text is whole afterwards.
pub(super) async fn server_killed(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    hold(driven, &mut talk, "server").await;
    driven.server.kill().await;
    while talk.client.next().await.is_some() {}
    driven.plan.gate("server").open();
    driven.server.restart().await;
    let seen = talk.client.seen.clone();
    talk.client = driven.server.stream(&talk.session, seen.cursor).await.continuing(seen);
    let state = talk.client.turn_end(SOON).await;
    expect(state == "completed", || format!("ended {:?}", talk.ended()))?;
    expect(talk.text() == HELD.concat(), || format!("shown: {:?}", talk.text()))?;
    held()
}

/// A VoxPilot that knows nothing finds the conversations that the agent keeps, and goes on with one of them.
pub(super) async fn own_sessions(driven: &mut Driven) -> Outcome {
    let mut talk = driven.straight("ask").await;
    driven.turn(&mut talk, &format!("the fish is a turbot, please {SAY}own")).await;
    drop(talk);
    forget(driven).await?;
    let (status, list) = driven.server.call("POST", &format!("/api/agents/{}/sessions", driven.agent.id), None).await;
    if status != 200 {
        return Ok(Finding::Absent(list["error"]["message"].as_str().unwrap_or_default().to_owned()));
    }
    let sessions = list["sessions"].as_array().cloned().unwrap_or_default();
    expect(!sessions.is_empty(), || "its list is empty".to_owned())?;
    let id = find_turbot(driven, &sessions).await?;
    let mut talk = Talk { client: driven.server.stream(&id, None).await, session: id };
    let prompt = format!("which fish was it? {SAY}continued");
    let state = driven.turn(&mut talk, &prompt).await;
    expect(state == "completed", || format!("ended {:?}", talk.ended()))?;
    expect(driven.knew(&prompt, "turbot"), || "continued without its memory".to_owned())?;
    held()
}

/// Ends the server and everything that it knows.
async fn forget(driven: &mut Driven) -> Result<(), String> {
    driven.server.terminate().await;
    for agent in driven.agents() {
        processes::signal(agent.pid, "TERM");
    }
    eventually("the runners end", || processes::of_dir(driven.server.rig().home()).is_empty()).await?;
    let data = driven.server.rig().data_dir();
    std::fs::remove_dir_all(&data).and_then(|()| std::fs::create_dir(&data)).map_err(|error| format!("{}: {error}", data.display()))?;
    driven.server.restart().await;
    Ok(())
}

/// The titles are the agent's own: the one with the fish is known by what was said in it.
async fn find_turbot(driven: &Driven, sessions: &[Value]) -> Result<String, String> {
    let mut refusals = Vec::new();
    for own in sessions {
        let wanted = json!({ "agent": driven.agent.id, "agent_session_id": own["agent_session_id"], "model": "relay" });
        let (status, session) = driven.server.call("POST", "/api/sessions", Some(wanted)).await;
        if status != 201 {
            refusals.push(session["error"]["message"].to_string());
            continue;
        }
        let id = session["id"].as_str().unwrap_or_default().to_owned();
        let (_, messages) = driven.server.call("GET", &format!("/api/sessions/{id}/messages?limit=200"), None).await;
        if messages.to_string().contains("turbot") {
            return Ok(id);
        }
    }
    Err(format!("{} sessions listed, none of them shows what was said in it {refusals:?}", sessions.len()))
}
