//! `GET /api/sessions/{id}/stream`

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use testkit::client::{Client, Event, Transcript};
use testkit::model_server::{Gate, Reply, ToolCall};

use crate::artifacts::git;
use crate::rig::{Rig, SOON, TOKEN, answer, delegate, of_kind};

/// A session in which everything has happened once: tools, a delegation, two turns.
async fn eventful() -> (Rig, String, Client) {
    let tools = Reply::text("let me see").and_call(ToolCall::new("list_directory", json!({})));
    let rig = Rig::replies([tools, delegate(&[("docs", "say a b c ä😀")]), Reply::chunks(["all ", "done"]), Reply::text("bye")]).await;
    let session = rig.session().await;
    let mut client = rig.stream(&session, Some(0)).await;
    rig.say(&session, "go").await;
    rig.say(&session, "and again").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(client.turn_end(SOON).await, "completed");
    (rig, session, client)
}

/// Reads up to the event with this id.
async fn read_to(client: &mut Client, last: u64) -> Vec<Event> {
    client.until("last event", SOON, |event| event.id == Some(last)).await;
    client.seen.events.clone()
}

/// Holds S1-55.
#[tokio::test(flavor = "multi_thread")]
async fn the_order_is_the_one_of_the_contract() {
    let (_rig, _session, client) = eventful().await;
    let mut kinds: Vec<_> = client.seen.events.iter().map(|event| event.kind.as_str()).collect();
    // What an agent says about its session as it opens may come early or late.
    kinds.retain(|kind| !["queue", "session", "notice", "agent-update"].contains(kind));
    kinds.dedup();
    let first = [
        "message",
        "turn",
        "text-delta",
        "tool-call",
        "tool-result",
        "tool-call",
        "copilot-delta",
        "copilot-done",
        "tool-result",
        "text-delta",
        "message",
        "done",
        "turn",
    ];
    assert_eq!(kinds[..first.len()], first);
    assert_eq!(kinds[first.len()..], ["message", "turn", "text-delta", "message", "done", "turn"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_cursor_gives_exactly_what_follows_it() {
    let (rig, session, client) = eventful().await;
    let all: Vec<_> = client.seen.events.iter().filter(|event| event.id.is_some()).cloned().collect();
    let last = all.last().unwrap().id.unwrap();
    assert_eq!(all.len() as u64, last, "the numbers are dense");
    for cursor in 0..last {
        let mut before = Transcript::default();
        all[..cursor as usize].iter().for_each(|event| before.take(event.clone()));
        let mut client = rig.stream(&session, Some(cursor)).await.continuing(before);
        assert_eq!(read_to(&mut client, last).await, all, "after {cursor}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cursor_comes_as_header_or_in_the_address_and_the_header_counts() {
    let (rig, session, client) = eventful().await;
    let last = client.seen.cursor.unwrap();
    let first = |query: String, header: Option<String>| {
        let mut request = rig.http.get(format!("{}/api/sessions/{session}/stream{query}", rig.base)).bearer_auth(TOKEN);
        if let Some(header) = header {
            request = request.header("last-event-id", header);
        }
        async move {
            let mut response = request.send().await.unwrap();
            let chunk = tokio::time::timeout(SOON, response.chunk()).await.unwrap().unwrap().unwrap();
            String::from_utf8_lossy(&chunk).lines().next().unwrap().to_owned()
        }
    };
    assert_eq!(first(format!("?after={}", last - 1), None).await, format!("id: {last}"));
    assert_eq!(first("?after=0".to_owned(), Some((last - 1).to_string())).await, format!("id: {last}"));
    assert_eq!(first(format!("?after={}", last - 1), Some(String::new())).await, format!("id: {last}"));
    let path = format!("/api/sessions/{session}/stream");
    for garbage in ["x", "-1", "1.5", "99999999999999999999999"] {
        rig.get(&format!("{path}?after={garbage}")).await.refuses(400, "invalid");
        let header = rig.http.get(format!("{}{path}", rig.base)).bearer_auth(TOKEN).header("last-event-id", garbage);
        answer(header).await.refuses(400, "invalid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_not_kept_gets_a_reset_and_a_snapshot() {
    let (rig, session, client) = eventful().await;
    let last = client.seen.cursor.unwrap();
    let expect_reset = async |cursor: u64| {
        let mut client = rig.stream(&session, Some(cursor)).await;
        assert_eq!(tokio::time::timeout(SOON, client.next()).await.unwrap().unwrap().kind, "reset");
        let ready = client.until("ready", SOON, |event| event.kind == "ready").await;
        assert_eq!((ready.id, &ready.data["seq"]), (Some(last), &json!(last)));
        assert_eq!(of_kind(&client, "message").len(), 8);
    };
    expect_reset(last + 1).await;
    expect_reset(u64::MAX / 4).await;
    assert_eq!(rig.engine.store().compact(Timestamp::now() + SignedDuration::from_hours(1)).await.unwrap(), 1);
    expect_reset(1).await;
    expect_reset(last - 1).await;
    let mut client = rig.stream(&session, Some(last)).await;
    rig.patch(&format!("/api/sessions/{session}"), json!({ "title": "on" })).await;
    assert_eq!(client.until("event", SOON, |_| true).await.id, Some(last + 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_and_what_follows_is_the_same_as_having_listened_all_along() {
    let gate = Gate::new();
    let pieces = ["a", "ä", "😀", " wo", "rd\n", "`c`", "\u{200d}", "漢字", "e", "nd"];
    let rig = Rig::replies([Reply::chunks(pieces).gate(&gate), delegate(&[("x", "slow 12")]), Reply::text("end")]).await;
    let session = rig.session().await;
    let mut live = rig.stream(&session, Some(0)).await;
    rig.say(&session, "one").await;
    rig.say(&session, "two").await;
    let mut late = Vec::new();
    for _ in pieces {
        late.push(rig.stream(&session, None).await);
        gate.release(1);
        live.until("text", SOON, |event| event.kind == "text-delta").await;
    }
    gate.open();
    live.turn_end(SOON).await;
    loop {
        late.push(rig.stream(&session, None).await);
        let event = live.until("agent's text", SOON, |event| event.kind == "copilot-delta" || event.kind == "copilot-done").await;
        if event.kind == "copilot-done" {
            break;
        }
    }
    assert_eq!(live.turn_end(SOON).await, "completed");
    let last = live.seen.cursor.unwrap();
    let reference = &live.seen;
    for (number, mut client) in late.into_iter().enumerate() {
        if client.seen.cursor != Some(last) {
            client.until("end", SOON, |event| event.id == Some(last)).await;
        }
        for (stream, text) in &client.seen.texts {
            assert_eq!(Some(text), reference.texts.get(stream), "client {number}, stream {stream}");
        }
        let messages = |seen: &Transcript| -> Vec<_> {
            let of_people = seen.of_kind("message").filter(|event| event.data["role"] != "tool" && event.data["tool_calls"].is_null());
            of_people.map(|event| event.data.clone()).collect()
        };
        assert_eq!(messages(&client.seen), messages(reference), "client {number}");
    }
    let whole: String = pieces.concat();
    assert!(reference.texts.values().any(|text| *text == whole));
    assert_eq!(reference.agent_text("x"), "1 2 3 4 5 6 7 8 9 10 11 12 ");
}

/// Holds S3-V2.
#[tokio::test(flavor = "multi_thread")]
async fn two_clients_see_the_same_and_a_slow_one_holds_up_nobody() {
    let rig = Rig::replies([delegate(&[("x", "flood 30000")]), Reply::text("end")]).await;
    let session = rig.session().await;
    let (mut one, mut two) = (rig.stream(&session, Some(0)).await, rig.stream(&session, Some(0)).await);
    let mut slow = rig.stream(&session, Some(0)).await;
    rig.say(&session, "go").await;
    assert_eq!(one.turn_end(SOON).await, "completed");
    assert_eq!(two.turn_end(SOON).await, "completed");
    assert_eq!(slow.turn_end(SOON).await, "completed");
    assert_eq!(one.seen.events, two.seen.events);
    assert_eq!(one.seen.events, slow.seen.events);
    let expected: String = (1..=30_000).map(|number| format!("{number} ")).collect();
    assert!(one.seen.agent_text("x") == expected);
}

/// A work directory with something to show in a diff.
fn changed_repository(work: &Path) {
    git(work, &["init", "-q"]);
    std::fs::write(work.join("a.rs"), "fn one() {}\n").unwrap();
    git(work, &["add", "."]);
    git(work, &["commit", "-qm", "first"]);
    std::fs::write(work.join("a.rs"), "fn two() {}\n").unwrap();
}

/// Holds S1-59.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_shows_what_is_open_in_the_order_of_the_contract() {
    let tools = delegate(&[("x", "ask")]).and_call(ToolCall::new("read_file_external", json!({ "path": "/etc/hostname" })));
    let show = Reply::tool_call("git_diff", json!({}));
    let rig = Rig::replies([show, Reply::text("see the diff"), tools]).await;
    changed_repository(&rig.dir.path().join("work"));
    let session = rig.session_with(json!({ "permission_policy": "ask" })).await;
    assert_eq!(rig.turn(&session, "show").await.0, "completed");
    let mut live = rig.watch(&session).await;
    rig.say(&session, "go").await;
    rig.say(&session, "later").await;
    live.until("permission", SOON, |event| event.kind == "permission-request").await;
    let mut client = rig.watch(&session).await;
    let kinds = client.seen.kinds();
    let expected = [
        "message",
        "review-artifact",
        "turn",
        "waits",
        "tool-call",
        "copilot-delta",
        "agent-update",
        "tool-call",
        "tool-confirm",
        "permission-request",
        "queue",
        "ready",
    ];
    assert_eq!(kinds, expected);
    let request = &of_kind(&client, "permission-request")[0].data;
    assert_eq!((&request["command"], &request["session_name"]), (&json!("echo 1"), &json!("x")));
    assert_eq!(request["options"].as_array().unwrap().len(), 3);
    assert_eq!(of_kind(&client, "queue")[0].data["items"][0]["content"], "later");
    assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["waiting"], 2);
    // What happens from here on comes behind it, live.
    rig.say(&session, "even later").await;
    let queue = client.until("the queue", SOON, |event| event.kind == "queue").await;
    assert_eq!(queue.data["items"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_kept_alive_and_ends_with_the_server() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let keepalive = client.until("keepalive", Duration::from_secs(40), |event| event.kind == "keepalive").await;
    assert_eq!(keepalive.id, None);
    rig.stopping.cancel();
    let ended = tokio::time::timeout(SOON, client.next()).await;
    assert!(matches!(ended, Ok(None)), "{ended:?}");
}
