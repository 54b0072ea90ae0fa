//! Old turns of a session in use lose their events; nobody who looks at it can tell.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use testkit::client::Client;
use testkit::model_server::{Gate, Reply};

use crate::rig::{Rig, SOON, delegate};

fn shown(client: &Client) -> Vec<(Option<u64>, String, Value)> {
    client.seen.events.iter().map(|event| (event.id, event.kind.clone(), event.data.clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_use_is_compacted_and_looks_as_before() {
    let gate = Gate::new();
    let rig = Rig::replies([
        delegate(&[("x", "slow 5")]),
        Reply::text("first"),
        // It dies, which is a warning that lasts.
        delegate(&[("x", "exit_zero")]),
        Reply::text("second"),
        Reply::chunks(["th", "ird"]).gate(&gate),
    ])
    .await;
    let session = rig.session().await;
    let (_, first) = rig.turn(&session, "one").await;
    let (state, second) = rig.turn(&session, "two").await;
    assert_eq!(state, "completed", "{}", second.seen.tail());
    rig.say(&session, "three").await;
    gate.release(1);
    let mut live = rig.stream(&session, Some(second.seen.cursor.unwrap())).await;
    live.until("text", SOON, |event| event.kind == "text-delta").await;
    let before = shown(&rig.watch(&session).await);
    assert!(before.iter().any(|(_, kind, data)| kind == "notice" && data["code"] == "agent_gone"), "{before:#?}");

    assert_eq!(rig.engine.store().compact(Timestamp::now() + SignedDuration::from_hours(1)).await.unwrap(), 1);
    assert_eq!(shown(&rig.watch(&session).await), before);
    let mut old = rig.stream(&session, first.seen.cursor).await;
    old.until("ready", SOON, |event| event.kind == "ready").await;
    assert_eq!(old.seen.events[0].kind, "reset");
    assert_eq!(shown(&old)[1..], before, "and then the snapshot");
    let mut fresh = rig.stream(&session, second.seen.cursor).await;
    gate.open();
    assert_eq!((live.turn_end(SOON).await, fresh.turn_end(SOON).await), ("completed".to_owned(), "completed".to_owned()));
    assert_eq!(shown(&fresh), shown(&live), "exactly what follows");
}
