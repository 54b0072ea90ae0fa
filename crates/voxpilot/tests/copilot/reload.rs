//! Clients that come and go while Copilot writes, and a server that comes and goes while it does not.

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};
use testkit::processes;

use crate::replies::{delegate, delegate_all};
use crate::setup::{SOON, Setup, eventually, said, start, start_with};
use crate::wire::Wire;

const PIECES: [&str; 4] = ["eins 🙂 ", "zwei ", "drei ", "vier"];

/// Holds S1-30, S1-31, S1-32, S1-58, S1-V14, S3-13, S3-V1, S3-V2, C17.
#[tokio::test]
async fn v14_clients_that_reload_in_mid_stream_have_the_same_text_as_one_that_never_left() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("count", "count to four"), Reply::text("Counted.")]);
    setup.coder([Reply::chunks(PIECES).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("count", PIECES[0]).await;
    let left_at = setup.client.seen.clone();
    gate.release(1);
    setup.until_written("count", PIECES[1]).await;

    let mut with_cursor = setup.server.stream(&setup.session, left_at.cursor).await.continuing(left_at);
    let mut without = setup.new_client().await;
    let snapshot = without.seen.kinds();
    let place = |kind: &str| snapshot.iter().position(|found| *found == kind).unwrap_or_else(|| panic!("no {kind} in {snapshot:?}"));
    assert!(
        place("message") < place("tool-call") && place("tool-call") < place("copilot-delta") && place("copilot-delta") < place("ready")
    );
    assert_eq!(without.seen.agent_text("count"), PIECES[..2].concat(), "everything so far, in one piece");
    assert_eq!(without.seen.of_kind("copilot-delta").count(), 1);

    gate.open();
    for client in [&mut setup.client, &mut with_cursor, &mut without] {
        assert_eq!(client.turn_end(SOON).await, "completed");
        assert_eq!(client.seen.agent_text("count"), PIECES.concat());
        assert_eq!(client.seen.of_kind("copilot-done").count(), 1);
    }
    assert_eq!(setup.client.seen.events, with_cursor.seen.events, "the cursor missed nothing and doubled nothing");
    setup.end().await;
}

/// Holds C22.
#[tokio::test]
async fn work_goes_on_while_nobody_looks() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("count", "count to four"), Reply::text("Counted.")]);
    setup.coder([Reply::chunks(PIECES).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("count", PIECES[0]).await;
    // The only client goes; nobody is there while the rest is written and told to the main AI.
    let Setup { model, server, session, client, .. } = setup;
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

/// Holds S0-17, S1-21, S1-63, S1-V16, C40.
#[tokio::test]
async fn v16_after_a_restart_finished_blocks_are_there_and_follow_ups_restore_every_name() {
    let mut setup = start().await;
    setup.main([delegate_all([("left", "remember the word alpha"), ("right", "remember the word beta")]), Reply::text("Noted.")]);
    setup.coder([Reply::text("Remembered."), Reply::text("Remembered.")]);
    assert_eq!(setup.turn("remember").await, "completed");
    let before = setup.messages().await;
    let process = setup.processes().native();

    // Killed, its agent lives on, and the next server goes on with the same process.
    setup.kill_server().await;
    setup.restart_server().await;
    assert_eq!(setup.messages().await, before);
    setup.exchange("left", "and the word gamma", "Remembered too.").await;
    assert_eq!(setup.processes().native(), process);
    assert!(setup.notices("session_restored").is_empty(), "nothing had to be restored");

    // Stopped in good order, it takes the idle agent along; the next one has every name loaded again before it prompts.
    setup.server.terminate().await;
    processes::none_left(setup.server.rig().home(), SOON).await.unwrap();
    setup.restart_server().await;
    setup.main([delegate_all([("left", "which words?"), ("right", "which words?")]), Reply::text("Told.")]);
    setup.coder([Reply::text("Those."), Reply::text("Those.")]);
    assert_eq!(setup.turn("tell").await, "completed");
    let mut restored: Vec<_> =
        setup.notices("session_restored").iter().map(|notice| notice["session_name"].as_str().unwrap().to_owned()).collect();
    restored.sort();
    assert_eq!(restored, ["left", "right"]);
    assert!(setup.notices("session_lost").is_empty());
    let asked: Vec<String> = setup.coder_requests().iter().rev().take(2).map(said).collect();
    let left = asked.iter().find(|request| request.contains("alpha")).unwrap();
    let right = asked.iter().find(|request| request.contains("beta")).unwrap();
    assert!(left.contains("gamma") && !left.contains("beta") && !right.contains("alpha"));
    assert_eq!(setup.messages().await[..before.len()], before, "history is as it was");
    let processes = setup.processes();
    assert!(processes.native() != process && processes.runners.len() == 1);
    assert_eq!(setup.client.seen.agent_text("right"), "Remembered.Those.", "what is replayed while loading stays out of the new calls");
    setup.end().await;
}

/// The id is there before the first prompt has been answered, and is what the next server goes on with.
/// Holds S0-16, S0-59.
#[tokio::test]
async fn the_id_of_a_new_session_is_stored_before_its_first_prompt_is_answered() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("task", "say something"), Reply::text("Said.")]);
    setup.coder([Reply::chunks(["some", "thing"]).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("task", "some").await;
    let wire = Wire::of(&setup).await;
    let id = wire.answer(wire.sent("session/new")[0])["result"]["sessionId"].as_str().unwrap().to_owned();
    setup.kill_server().await;
    let database = setup.server.rig().data_dir().join("voxpilot.db");
    let stored = format!("SELECT count(*) FROM acp_sessions WHERE name = 'task' AND acp_session_id = '{id}'");
    assert_eq!(testkit::database::number(&database, &stored), 1, "it outlives a server that is killed in the first prompt");
    setup.restart_server().await;
    gate.open();
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.agent_text("task"), "something");
    setup.end().await;
}

/// Holds S3-V3.
#[tokio::test]
async fn an_idle_copilot_that_nobody_watches_is_ended_and_comes_back_with_its_memory() {
    let mut setup = start_with(Script::new(), json!({}), |rig| rig.env("VOXPILOT_COPILOT_CONNECTION_TTL", "1")).await;
    setup.exchange("task", "remember the word alpha", "Remembered.").await;
    let Setup { agent, model, server, session, client } = setup;
    let seen = client.seen.clone();
    drop(client);
    eventually("nothing but the server runs", || processes::of_dir(server.rig().home()).len() == 1).await;
    let client = server.stream(&session, seen.cursor).await.continuing(seen);
    let mut setup = Setup { agent, model, server, session, client };
    setup.exchange("task", "which word?", "Alpha.").await;
    assert_eq!(setup.notices("session_restored").len(), 1);
    assert!(said(setup.coder_requests().last().unwrap()).contains("remember the word alpha"));
    setup.end().await;
}
