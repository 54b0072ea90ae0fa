//! Clients that come and go while Copilot writes, and a server that comes and goes while it does not.

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};
use testkit::processes;

use crate::script::{delegate, delegate_all};
use crate::stage::{SOON, Stage, eventually, said};

const PIECES: [&str; 4] = ["eins 🙂 ", "zwei ", "drei ", "vier"];

#[tokio::test]
async fn v14_clients_that_reload_in_mid_stream_have_the_same_text_as_one_that_never_left() {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    stage.main([delegate("count", "count to four"), Reply::text("Counted.")]);
    stage.coder([Reply::chunks(PIECES).gate(&gate)]);
    stage.send("go").await;
    gate.release(1);
    stage.until_written("count", PIECES[0]).await;
    let left_at = stage.client.seen.clone();
    gate.release(1);
    stage.until_written("count", PIECES[1]).await;

    let mut with_cursor = stage.server.stream(&stage.session, left_at.cursor).await.continuing(left_at);
    let mut without = stage.newcomer().await;
    let snapshot = without.seen.kinds();
    let place = |kind: &str| snapshot.iter().position(|found| *found == kind).unwrap_or_else(|| panic!("no {kind} in {snapshot:?}"));
    assert!(
        place("message") < place("tool-call") && place("tool-call") < place("copilot-delta") && place("copilot-delta") < place("ready")
    );
    assert_eq!(without.seen.agent_text("count"), PIECES[..2].concat(), "everything so far, in one piece");
    assert_eq!(without.seen.of_kind("copilot-delta").count(), 1);

    gate.open();
    for client in [&mut stage.client, &mut with_cursor, &mut without] {
        assert_eq!(client.turn_end(SOON).await, "completed");
        assert_eq!(client.seen.agent_text("count"), PIECES.concat());
        assert_eq!(client.seen.of_kind("copilot-done").count(), 1);
    }
    assert_eq!(stage.client.seen.events, with_cursor.seen.events, "the cursor missed nothing and doubled nothing");
    stage.end().await;
}

#[tokio::test]
async fn work_goes_on_while_nobody_looks() {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    stage.main([delegate("count", "count to four"), Reply::text("Counted.")]);
    stage.coder([Reply::chunks(PIECES).gate(&gate)]);
    stage.send("go").await;
    gate.release(1);
    stage.until_written("count", PIECES[0]).await;
    // The only client goes; nobody is there while the rest is written and told to the main AI.
    let Stage { model, server, session, client } = stage;
    let left_at = client.seen.clone();
    drop(client);
    gate.open();
    model.wait_for_requests(3).await;
    let mut back = server.stream(&session, left_at.cursor).await.continuing(left_at);
    assert_eq!(back.turn_end(SOON).await, "completed");
    assert_eq!(back.seen.agent_text("count"), PIECES.concat());
    drop(back);
    server.end().await;
}

#[tokio::test]
async fn v16_after_a_restart_finished_blocks_are_there_and_follow_ups_restore_every_name() {
    let mut stage = Stage::set().await;
    stage.main([delegate_all([("left", "remember the word alpha"), ("right", "remember the word beta")]), Reply::text("Noted.")]);
    stage.coder([Reply::text("Remembered."), Reply::text("Remembered.")]);
    assert_eq!(stage.turn("remember").await, "completed");
    let before = stage.messages().await;
    let process = stage.cast().native();

    // Killed, its agent lives on, and the next server goes on with the same process.
    stage.kill_server().await;
    stage.restart_server().await;
    assert_eq!(stage.messages().await, before);
    stage.exchange("left", "and the word gamma", "Remembered too.").await;
    assert_eq!(stage.cast().native(), process);
    assert!(stage.notices("session_restored").is_empty(), "nothing had to be restored");

    // Stopped in good order, it takes the idle agent along; the next one has every name loaded again before it prompts.
    stage.server.terminate().await;
    processes::none_left(stage.server.rig().home(), SOON).await.unwrap();
    stage.restart_server().await;
    stage.main([delegate_all([("left", "which words?"), ("right", "which words?")]), Reply::text("Told.")]);
    stage.coder([Reply::text("Those."), Reply::text("Those.")]);
    assert_eq!(stage.turn("tell").await, "completed");
    let mut restored: Vec<_> =
        stage.notices("session_restored").iter().map(|notice| notice["session_name"].as_str().unwrap().to_owned()).collect();
    restored.sort();
    assert_eq!(restored, ["left", "right"]);
    assert!(stage.notices("session_lost").is_empty());
    let asked: Vec<String> = stage.coder_requests().iter().rev().take(2).map(said).collect();
    let left = asked.iter().find(|request| request.contains("alpha")).unwrap();
    let right = asked.iter().find(|request| request.contains("beta")).unwrap();
    assert!(left.contains("gamma") && !left.contains("beta") && !right.contains("alpha"));
    assert_eq!(stage.messages().await[..before.len()], before, "history is as it was");
    let cast = stage.cast();
    assert!(cast.native() != process && cast.runners.len() == 1);
    assert_eq!(stage.client.seen.agent_text("right"), "Remembered.Those.", "what is replayed while loading stays out of the new calls");
    stage.end().await;
}

#[tokio::test]
async fn an_idle_copilot_that_nobody_watches_is_ended_and_comes_back_with_its_memory() {
    let mut stage = Stage::with(Script::new(), json!({}), |rig| rig.env("VOXPILOT_COPILOT_CONNECTION_TTL", "1")).await;
    stage.exchange("task", "remember the word alpha", "Remembered.").await;
    let Stage { model, server, session, client } = stage;
    let seen = client.seen.clone();
    drop(client);
    eventually("nothing but the server runs", || processes::of_dir(server.rig().home()).len() == 1).await;
    let client = server.stream(&session, seen.cursor).await.continuing(seen);
    let mut stage = Stage { model, server, session, client };
    stage.exchange("task", "which word?", "Alpha.").await;
    assert_eq!(stage.notices("session_restored").len(), 1);
    assert!(said(stage.coder_requests().last().unwrap()).contains("remember the word alpha"));
    stage.end().await;
}
