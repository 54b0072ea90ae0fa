//! How much of everything a browser may send.

use std::sync::Arc;

use domain::attachment::{Attachment, AttachmentKind};
use domain::ids::{AttachmentId, MessageId, SessionId};
use futures::future::join_all;
use jiff::Timestamp;
use serde_json::json;
use store::{AttachmentRow, NewSession, Row, Write};
use testkit::model_server::{Gate, Reply};
use uuid::Uuid;

use crate::rig::{Rig, SOON};

#[tokio::test(flavor = "multi_thread")]
async fn there_are_only_so_many_sessions() {
    let rig = Rig::replies([]).await;
    let new = |n: u128| {
        let new = NewSession {
            title: String::new(),
            work_dir: "/".into(),
            model: "relay".into(),
            agent: "faulty".into(),
            permission_policy: None,
            created_at: Timestamp::now(),
        };
        Write { session: SessionId(Uuid::from_u128(n)), events: vec![], rows: vec![Row::CreateSession(new)] }
    };
    let store = rig.engine.store();
    let made = join_all((1..10_000).map(|n| store.commit(new(n)))).await;
    assert!(made.iter().all(Result::is_ok));
    let last = rig.session().await;
    let refused = rig.post("/api/sessions", json!({})).await;
    refused.refuses(409, "conflict");
    assert!(refused.text.contains("10000 sessions"), "{}", refused.text);
    rig.delete(&format!("/api/sessions/{last}")).await;
    rig.session().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_attachments_of_a_session_have_a_bound_together() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let (id, data): (SessionId, Arc<[u8]>) = (session.parse().unwrap(), vec![0; 32 * 1024 * 1024].into());
    let about = |n: u128, size: usize| Attachment {
        id: AttachmentId(Uuid::from_u128(n)),
        kind: AttachmentKind::File,
        name: "large".into(),
        mime_type: "text/plain".into(),
        size: size as u64,
    };
    for n in 1..=8 {
        let row = AttachmentRow { message_id: MessageId(Uuid::from_u128(n)), about: about(n, data.len()), data: data.clone() };
        rig.engine.store().commit(Write { session: id, events: vec![], rows: vec![Row::Attachment(row)] }).await.unwrap();
    }
    let file = json!({ "kind": "file", "name": "one.txt", "text": "x" });
    let refused = rig.post(&format!("/api/sessions/{session}/messages"), json!({ "content": "one more", "attachments": [file] })).await;
    refused.refuses(413, "too_large");
    assert!(refused.text.contains("256.0 MiB"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_texts_that_wait_have_a_bound_together() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::text("held").gate(&gate)]).await;
    let session = rig.session().await;
    let path = format!("/api/sessions/{session}/messages");
    rig.say(&session, "runs").await;
    let large = "x".repeat(1_500_000);
    let mut waiting = Vec::new();
    for content in [large.as_str(), &large, "small"] {
        waiting.push(rig.say(&session, content).await["message_id"].as_str().unwrap().to_owned());
    }
    rig.post(&path, json!({ "content": large })).await.refuses(409, "conflict");
    let small = format!("/api/sessions/{session}/queue/{}", waiting[2]);
    rig.patch(&small, json!({ "content": large })).await.refuses(409, "conflict");
    let first = format!("/api/sessions/{session}/queue/{}", waiting[0]);
    assert_eq!(rig.patch(&first, json!({ "content": "less" })).await.status, 204);
    assert_eq!(rig.patch(&small, json!({ "content": large })).await.status, 204, "there is room again");
    tokio::time::timeout(SOON, rig.delete(&format!("/api/sessions/{session}"))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn names_have_a_bound() {
    let rig = Rig::replies([]).await;
    for (body, status) in [
        (json!({ "title": "x".repeat(201) }), 400),
        (json!({ "model": "x".repeat(201) }), 422),
        (json!({ "agent": "x".repeat(201) }), 422),
        (json!({ "agent_session_id": "x".repeat(501) }), 400),
        (json!({ "work_dir": "x".repeat(5000) }), 422),
    ] {
        rig.post("/api/sessions", body).await.refuses(status, "invalid");
    }
}
