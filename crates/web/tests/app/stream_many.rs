//! `GET /api/stream`

use std::collections::BTreeMap;

use bytes::BytesMut;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use store::Write;
use testkit::client::{Event, Transcript};
use testkit::model_server::{Gate, Reply};

use crate::browser::{Browser, ends};
use crate::rig::{Rig, SOON, TOKEN, delegate};

const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// Reads the stream and keeps what it says of each session apart; what is of the list is under the empty name.
struct Many {
    response: Response,
    buffer: BytesMut,
    seen: BTreeMap<String, Transcript>,
    /// Which session each event was of, in order.
    order: Vec<String>,
}

impl Many {
    /// With each session goes the event that the client has of it.
    async fn open(rig: &Rig, sessions: &[(&str, Option<u64>)]) -> Many {
        let named: Vec<_> =
            sessions.iter().map(|(id, after)| after.map_or_else(|| (*id).to_owned(), |after| format!("{id}:{after}"))).collect();
        let request = rig.http.get(format!("{}/api/stream?s={}", rig.base, named.join(","))).bearer_auth(TOKEN);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut seen: BTreeMap<String, Transcript> = BTreeMap::new();
        sessions.iter().for_each(|(id, after)| seen.entry((*id).to_owned()).or_default().cursor = *after);
        Many { response, buffer: BytesMut::new(), seen, order: Vec::new() }
    }

    /// The next event and its session; `None` at the end of the stream.
    async fn next(&mut self) -> Option<(String, Event)> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let block = self.buffer.split_to(end + 2);
                let block = std::str::from_utf8(&block).unwrap();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let session = field("session: ").unwrap_or_default();
                let data = serde_json::from_str(&field("data: ").unwrap()).unwrap();
                let event = Event { id: field("id: ").map(|id| id.parse().unwrap()), kind: field("event: ").unwrap(), data };
                self.seen.entry(session.clone()).or_default().take(event.clone());
                self.order.push(session.clone());
                return Some((session, event));
            }
            self.buffer.extend_from_slice(&self.response.chunk().await.ok()??);
        }
    }

    async fn until(&mut self, what: &str, fits: impl Fn(&str, &Event) -> bool) -> Event {
        let found = async {
            while let Some((session, event)) = self.next().await {
                if fits(&session, &event) {
                    return Some(event);
                }
            }
            None
        };
        match tokio::time::timeout(SOON, found).await {
            Ok(Some(event)) => event,
            ended => panic!("no {what} ({}); seen: {:?}", if ended.is_ok() { "the stream ended" } else { "timed out" }, self.seen),
        }
    }

    async fn until_kind(&mut self, session: &str, kind: &str) -> Event {
        self.until(kind, |of, event| of == session && event.kind == kind).await
    }

    async fn turn_end(&mut self, session: &str) -> Value {
        let ended = |of: &str, event: &Event| of == session && event.kind == "turn" && event.data["state"] != "running";
        self.until("end of the turn", ended).await.data["state"].clone()
    }

    /// A row of the list that fits.
    async fn row(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        self.until("row", |of, event| of.is_empty() && event.kind == "sessions" && fits(&event.data)).await.data
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_share_a_stream_and_each_is_as_on_its_own() {
    let rig = Rig::replies([delegate(&[("x", "say a b c ä😀")]), Reply::text("done"), Reply::text("hello")]).await;
    let (one, two) = (rig.session().await, rig.session().await);
    let mut many = Many::open(&rig, &[(&one, None), (&two, None)]).await;
    many.until_kind(&one, "ready").await;
    many.until_kind(&two, "ready").await;
    rig.say(&one, "go").await;
    assert_eq!(many.turn_end(&one).await, "completed");
    rig.say(&two, "you too").await;
    assert_eq!(many.turn_end(&two).await, "completed");
    for session in [&one, &two] {
        let last = many.seen[session].cursor.unwrap();
        let mut alone = rig.stream(session, Some(0)).await;
        alone.until("last event", SOON, |event| event.id == Some(last)).await;
        let numbered = |seen: &Transcript| seen.events.iter().filter(|event| event.id > Some(0)).cloned().collect::<Vec<_>>();
        assert_eq!(numbered(&many.seen[session]), numbered(&alone.seen));
        assert_eq!(many.seen[session].texts, alone.seen.texts);
    }
    assert_eq!(many.seen[&one].agent_text("x"), "a b c ä😀");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_goes_on_behind_its_own_event() {
    let rig = Rig::replies([Reply::chunks(["a", "b"]), Reply::text("c")]).await;
    let (one, two) = (rig.session().await, rig.session().await);
    let (_, first) = rig.turn(&one, "go").await;
    let (_, second) = rig.turn(&two, "go").await;
    let (last_one, last_two) = (first.seen.cursor.unwrap(), second.seen.cursor.unwrap());
    let mut many = Many::open(&rig, &[(&one, Some(2)), (&two, Some(last_two))]).await;
    many.until("last event", |of, event| of == one && event.id == Some(last_one)).await;
    assert_eq!(many.seen[&one].events.first().unwrap().id, Some(3));
    rig.patch(&format!("/api/sessions/{two}"), json!({ "title": "on" })).await;
    assert_eq!(many.until_kind(&two, "session").await.id, Some(last_two + 1));
    assert_eq!(many.seen[&two].events.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_kept_is_reset_and_what_is_gone_does_not_stop_the_others() {
    let rig = Rig::replies([Reply::text("hello")]).await;
    let (one, two) = (rig.session().await, rig.session().await);
    rig.turn(&one, "go").await;
    let mut many = Many::open(&rig, &[(&one, Some(1_000_000)), (NOBODY, Some(7)), (&two, None)]).await;
    many.until_kind(&one, "reset").await;
    many.until_kind(&one, "ready").await;
    assert_eq!(many.seen[&one].of_kind("message").count(), 2);
    assert_eq!(many.until_kind(NOBODY, "gone").await.data, json!({}));
    many.until_kind(&two, "ready").await;
    assert_eq!(rig.delete(&format!("/api/sessions/{one}")).await.status, 204);
    let mut told = Vec::new();
    while told.len() < 2 {
        let (session, event) = tokio::time::timeout(SOON, many.next()).await.unwrap().expect("the stream goes on");
        match event.kind.as_str() {
            "gone" => assert_eq!(session, one),
            "sessions-gone" => assert_eq!((session.as_str(), event.data), ("", json!({ "id": one }))),
            _ => continue,
        }
        told.push(event.kind);
    }
    rig.patch(&format!("/api/sessions/{two}"), json!({ "title": "on" })).await;
    many.until_kind(&two, "session").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_the_list_are_told_as_they_change() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::text("hello").gate(&gate)]).await;
    let mut many = Many::open(&rig, &[]).await;
    let session = rig.session().await;
    let made = many.row(|_| true).await;
    assert_eq!(made, rig.get(&format!("/api/sessions/{session}")).await.json());
    rig.patch(&format!("/api/sessions/{session}"), json!({ "pinned": true })).await;
    many.row(|row| row["pinned"] == true).await;
    rig.say(&session, "go").await;
    many.row(|row| row["running"] == true && row["running_since"].is_string() && row["title"] == "go").await;
    let later = rig.say(&session, "later").await["message_id"].as_str().unwrap().to_owned();
    many.row(|row| row["queue_len"] == 1).await;
    assert_eq!(rig.delete(&format!("/api/sessions/{session}/queue/{later}")).await.status, 204);
    many.row(|row| row["queue_len"] == 0).await;
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    gate.open();
    many.row(|row| row["outcome"] == "cancelled" && row["unseen"] == true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_is_told_with_its_question() {
    let rig = Rig::replies([delegate(&[("x", "ask")]), Reply::text("end")]).await;
    let session = rig.session_with(json!({ "permission_policy": "ask" })).await;
    let mut many = Many::open(&rig, &[]).await;
    rig.say(&session, "go").await;
    let row = many.row(|row| row["waiting"] == 1).await;
    assert!(row["question"].as_str().is_some_and(|question| !question.is_empty()), "{row}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_session_leaves_room_for_the_others() {
    let rig = Rig::replies([]).await;
    let (busy, calm) = (rig.session().await, rig.session().await);
    let notice = |text: String| {
        let (code, level, title) = ("test".to_owned(), "info".to_owned(), "t".to_owned());
        domain::event::Event::Notice(domain::event::Notice { code, level, title, text, session_name: None })
    };
    let store = rig.engine.store();
    let events = (0..5000).map(|number| notice(format!("{number} {}", "x".repeat(500)))).collect();
    store.commit(Write { session: busy.parse().unwrap(), events, rows: vec![] }).await.unwrap();
    store.commit(Write { session: calm.parse().unwrap(), events: vec![notice("calm".to_owned())], rows: vec![] }).await.unwrap();
    let mut many = Many::open(&rig, &[(&busy, Some(0)), (&calm, Some(0))]).await;
    // It is read late: what it has missed is all there, of both.
    let events = (0..5000).map(|number| notice(format!("{number} late"))).collect();
    store.commit(Write { session: busy.parse().unwrap(), events, rows: vec![] }).await.unwrap();
    many.until("last event", |of, event| of == busy && event.id == Some(10_000)).await;
    let place = many.order.iter().position(|of| *of == calm).expect("the calm one was heard");
    assert!(place <= 2 * 512, "the calm one had to wait for {place} events of the busy one");
    assert_eq!(many.seen[&busy].events.len(), 10_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_the_device_and_with_the_server() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let reader = Browser::sign_in(&rig, "read-only").await;
    let mut stream = reader.request(Method::GET, &format!("/api/stream?s={session}")).send().await.unwrap();
    assert_eq!(stream.status(), 200);
    assert!(stream.chunk().await.unwrap().unwrap().starts_with(format!("session: {session}\n").as_bytes()));
    let device = reader.device().await["id"].as_str().unwrap().to_owned();
    assert_eq!(rig.delete(&format!("/api/devices/{device}")).await.status, 204);
    ends(stream).await;
    let mut many = Many::open(&rig, &[(&session, None)]).await;
    many.until_kind(&session, "ready").await;
    rig.stopping.cancel();
    assert!(tokio::time::timeout(SOON, async { while many.next().await.is_some() {} }).await.is_ok(), "the stream goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused() {
    let rig = Rig::replies([]).await;
    let too_many: Vec<_> = (0..65).map(|number| uuid::Uuid::from_u128(number).to_string()).collect();
    let garbage = ["x".to_owned(), format!("{NOBODY}:x"), format!("{NOBODY}:-1"), format!("{NOBODY},{NOBODY}:3"), too_many.join(",")];
    for garbage in garbage {
        rig.get(&format!("/api/stream?s={garbage}")).await.refuses(400, "invalid");
    }
    let open = rig.http.get(format!("{}/api/stream", rig.base)).send().await.unwrap();
    assert_eq!(open.status(), 401, "nobody listens without access");
}
