//! The tables: what is written with the log comes back as it was.

use domain::agent::{OptionKind, PermissionAsk, PermissionOption};
use domain::attachment::{Attachment, AttachmentKind};
use domain::decision::Decision;
use domain::event::{Delegation, Event, QueueItem, ReviewArtifact, ReviewFile, Role, SessionChange, ToolCall, Turn, TurnState};
use domain::host::AgentSession;
use domain::ids::{ArtifactId, AttachmentId, PermissionId, SessionId, TurnId};
use domain::policy::Policy;
use serde_json::json;
use store::{
    ArtifactRow, AttachmentRow, CreditRow, Evidence, PermissionRow, Row, RunnerRow, RunningTurn, StoreError, TreeRow, TurnRow, WindowRow,
    Write,
};
use uuid::Uuid;

use crate::fixture::*;

fn turn_id(n: u128) -> TurnId {
    TurnId(Uuid::from_u128(n))
}

fn turn(n: u128, state: TurnState) -> TurnRow {
    TurnRow { id: turn_id(n), state, reason: None, user_message_id: Some(message_id(n)), started_seq: 0, started_at: at(1), ended_at: None }
}

fn running(n: u128) -> Event {
    Event::Turn(Turn::new(turn_id(n), TurnState::Running, None))
}

fn attachment(n: u128, name: &str) -> Attachment {
    let id = AttachmentId(Uuid::from_u128(n));
    Attachment { id, kind: AttachmentKind::File, name: name.into(), mime_type: "text/plain".into(), size: 3 }
}

fn queued(n: u128, content: &str) -> QueueItem {
    QueueItem {
        message_id: message_id(n),
        turn_id: turn_id(n),
        content: content.into(),
        created_at: at(2),
        client_id: Some(format!("client {n}")),
        attachments: vec![attachment(n, "a.txt")],
    }
}

fn permission(n: u128) -> PermissionRow {
    let options = vec![PermissionOption::new("yes", "Yes", OptionKind::AllowOnce)];
    let (kind, command, input) = (Some("execute".into()), Some("rm -r target".into()), Some(json!({ "a": 1 })));
    let request = request(n, PermissionAsk { kind, command, options, input, ..ask() });
    PermissionRow { request, rpc_id: "17".into(), runner_id: "r".into() }
}

fn artifact(session: SessionId) -> ArtifactRow {
    let file = ReviewFile { path: "a.rs".into(), status: "modified".into(), additions: 1, deletions: 2 };
    let summary = ReviewArtifact {
        artifact_id: ArtifactId(Uuid::from_u128(5)),
        title: "a diff".into(),
        status: "open".into(),
        total_files: 1,
        total_additions: 1,
        total_deletions: 2,
        files: vec![file],
    };
    ArtifactRow { session, summary, files: json!([{ "path": "a.rs", "diff": "@@" }]), review: json!({}), created_at: at(3) }
}

#[tokio::test]
async fn a_session_changes_and_keeps_the_rest() {
    let (fixture, id) = Fixture::with_session().await;
    let before = fixture.store.session(id).await.unwrap().unwrap();
    assert_eq!((before.created_at, before.permission_policy), (at(0), None));
    let change = SessionChange { title: Some("new".into()), permission_policy: Some(Some(Policy::ReadOnly)), ..SessionChange::default() };
    fixture.store.commit(rows(id, vec![Row::UpdateSession(change)])).await.unwrap();
    let after = fixture.store.session(id).await.unwrap().unwrap();
    assert_eq!((after.title.as_str(), after.permission_policy, after.model.as_str()), ("new", Some(Policy::ReadOnly), "relay"));
    assert!(after.updated_at > before.updated_at);
    let back = SessionChange { permission_policy: Some(None), ..SessionChange::default() };
    fixture.store.commit(rows(id, vec![Row::UpdateSession(back)])).await.unwrap();
    let back = fixture.store.session(id).await.unwrap().unwrap();
    assert_eq!((back.permission_policy, back.title.as_str()), (None, "new"), "back to the server's, and nothing else changed");
}

#[tokio::test]
async fn sessions_are_listed_by_activity_and_paged() {
    let fixture = Fixture::new().await;
    for n in 1..=7 {
        fixture.store.commit(create(session_id(n))).await.unwrap();
    }
    for n in [3, 1, 6] {
        fixture.store.commit(events(session_id(n), vec![notice("active")])).await.unwrap();
    }
    let mut listed = Vec::new();
    let mut cursor = None;
    loop {
        let page = fixture.store.sessions(cursor, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        cursor = Some(last.cursor());
        listed.extend(page.into_iter().map(|row| row.id));
    }
    assert_eq!(listed, [6, 1, 3, 7, 5, 4, 2].map(session_id));
}

#[tokio::test]
async fn a_thousand_sessions_are_listed_page_by_page() {
    let fixture = Fixture::new().await;
    for created in fixture.commit_all((0..1000).map(|n| create(session_id(n)))).await {
        created.unwrap();
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut cursor = None;
    loop {
        let page = fixture.store.sessions(cursor, 50).await.unwrap();
        let Some(last) = page.last() else { break };
        cursor = Some(last.cursor());
        seen.extend(page.iter().map(|row| row.id));
    }
    assert_eq!(seen.len(), 1000);
}

#[tokio::test]
async fn a_message_comes_back_as_it_was_and_keeps_its_place_when_it_changes() {
    let (fixture, id) = Fixture::with_session().await;
    let mut full = message(2, Role::Tool, "for the model");
    full.turn_id = Some(turn_id(1));
    full.tool_calls = vec![ToolCall { id: "c".into(), name: "copilot_agent".into(), arguments: "{".into() }];
    full.tool_call_id = Some("c".into());
    full.display = Some("for people".into());
    full.is_error = true;
    full.artifact_id = Some(ArtifactId(Uuid::from_u128(5)));
    full.delegation = Some(Delegation {
        session_name: "s".into(),
        agent: "a".into(),
        stop_reason: "end_turn".into(),
        ending: None,
        waited_ms: 0,
        turn_waited_ms: Some(7),
        summary: "done".into(),
        updates: vec![],
    });
    let given = [message(1, Role::User, "one"), full.clone(), message(3, Role::Assistant, "three")];
    for message in &given {
        fixture.store.commit(rows(id, vec![Row::Message(message.clone())])).await.unwrap();
    }
    assert_eq!(fixture.store.messages(id, None, 10).await.unwrap().messages, given);
    full.content = "changed".into();
    fixture.store.commit(rows(id, vec![Row::Message(full.clone())])).await.unwrap();
    assert_eq!(fixture.store.messages(id, None, 10).await.unwrap().messages[1], full);
    assert_eq!(fixture.store.message(id, full.id).await.unwrap(), Some(full));
    assert_eq!(fixture.store.message(id, message_id(9)).await.unwrap(), None);
}

#[tokio::test]
async fn messages_are_paged_backwards() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(rows(id, (1..=5).map(|n| Row::Message(message(n, Role::User, "m"))).collect())).await.unwrap();
    let ids = |page: &store::Page| page.messages.iter().map(|message| message.id).collect::<Vec<_>>();
    let latest = fixture.store.messages(id, None, 2).await.unwrap();
    assert_eq!((ids(&latest), latest.more), (vec![message_id(4), message_id(5)], true));
    let older = fixture.store.messages(id, Some(message_id(4)), 3).await.unwrap();
    assert_eq!((ids(&older), older.more), (vec![message_id(1), message_id(2), message_id(3)], false));
    assert!(fixture.store.messages(id, Some(message_id(77)), 3).await.unwrap().messages.is_empty());
}

#[tokio::test]
async fn a_client_id_gets_its_first_answer_again_whatever_became_of_the_message() {
    let (fixture, id) = Fixture::with_session().await;
    let answer = Some((message_id(1), turn_id(1), true));
    fixture.store.commit(rows(id, vec![Row::Enqueue(queued(1, "wait"))])).await.unwrap();
    assert_eq!(fixture.store.message_by_client_id(id, "client 1").await.unwrap(), answer);
    let mut started = message(1, Role::User, "wait");
    started.client_id = Some("client 1".into());
    started.turn_id = Some(turn_id(1));
    fixture.store.commit(rows(id, vec![Row::Dequeue { message_id: message_id(1) }, Row::Message(started)])).await.unwrap();
    assert_eq!(fixture.store.message_by_client_id(id, "client 1").await.unwrap(), answer);
    let mut direct = message(2, Role::User, "now");
    direct.client_id = Some("client 2".into());
    direct.turn_id = Some(turn_id(2));
    fixture.store.commit(rows(id, vec![Row::Message(direct)])).await.unwrap();
    assert_eq!(fixture.store.message_by_client_id(id, "client 2").await.unwrap(), Some((message_id(2), turn_id(2), false)));
    assert_eq!(fixture.store.message_by_client_id(id, "client 3").await.unwrap(), None);
    let mut other = queued(9, "same client id");
    other.client_id = Some("client 1".into());
    assert!(matches!(fixture.store.commit(rows(id, vec![Row::Enqueue(other)])).await, Err(StoreError::Conflict { .. })));
}

#[tokio::test]
async fn what_was_sent_along_is_found_by_its_turn_and_goes_with_its_message_or_its_session() {
    let (fixture, id) = Fixture::with_session().await;
    let sent = |n: u128, data: &[u8]| AttachmentRow { message_id: message_id(n), about: attachment(n, "a.txt"), data: data.into() };
    let mut begun = message(1, Role::User, "look");
    (begun.turn_id, begun.attachments) = (Some(turn_id(1)), vec![attachment(1, "a.txt")]);
    let first = vec![Row::Attachment(sent(1, b"one")), Row::Message(begun.clone())];
    fixture.store.commit(rows(id, first)).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Attachment(sent(2, b"two")), Row::Enqueue(queued(2, "wait"))])).await.unwrap();
    assert_eq!(fixture.store.turn_attachments(id, turn_id(1)).await.unwrap(), [sent(1, b"one")]);
    assert!(fixture.store.turn_attachments(id, turn_id(2)).await.unwrap().is_empty(), "its turn has not begun");
    assert_eq!(fixture.store.history(id, 0).await.unwrap().messages, [begun]);
    let found = |n: u128| fixture.store.attachment(id, AttachmentId(Uuid::from_u128(n)));
    assert_eq!(found(2).await.unwrap(), Some(sent(2, b"two")));
    fixture.store.commit(rows(id, vec![Row::RemoveAttachments { message_id: message_id(2) }])).await.unwrap();
    assert_eq!((found(2).await.unwrap(), found(1).await.unwrap().is_some()), (None, true));
    fixture.store.commit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    assert_eq!(found(1).await.unwrap(), None);
}

#[tokio::test]
async fn the_trees_around_a_turn_come_one_after_the_other_and_go_with_the_session() {
    let (fixture, id) = Fixture::with_session().await;
    let tree = |n: u128, before: Option<&str>, after: Option<&str>| TreeRow {
        turn_id: turn_id(n),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let begun = vec![Row::Turn(turn(1, TurnState::Running)), Row::Tree(tree(1, Some("a"), None))];
    fixture.store.commit(Write { session: id, events: vec![running(1)], rows: begun }).await.unwrap();
    assert_eq!(fixture.store.trees(id).await.unwrap(), [tree(1, Some("a"), None)]);
    fixture.store.commit(rows(id, vec![Row::Tree(tree(1, None, Some("b")))])).await.unwrap();
    let next = vec![Row::Turn(turn(2, TurnState::Running)), Row::Tree(tree(2, None, Some("c")))];
    fixture.store.commit(Write { session: id, events: vec![running(2)], rows: next }).await.unwrap();
    assert_eq!(fixture.store.trees(id).await.unwrap(), [tree(1, Some("a"), Some("b")), tree(2, None, Some("c"))]);
    fixture.store.commit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    assert!(fixture.store.trees(id).await.unwrap().is_empty());
}

#[tokio::test]
async fn windows_and_credits_are_kept_by_turn_and_other_sessions_reports_by_time() {
    let (fixture, id) = Fixture::with_session().await;
    let window =
        |n: u128, since_ms: i64, until_ms: Option<i64>| WindowRow { turn_id: turn_id(n), call: format!("c{n}"), since_ms, until_ms };
    let credit = |n: u128, path: &str, evidence: Evidence, since_ms: i64| CreditRow {
        turn_id: turn_id(n),
        path: path.to_owned(),
        evidence,
        since_ms,
        until_ms: since_ms + 5,
    };
    let opened = vec![Row::Window(window(1, 10, None)), Row::Window(window(2, 30, None)), Row::Window(window(3, 50, None))];
    fixture.store.commit(rows(id, opened)).await.unwrap();
    let report = credit(1, "a", Evidence::Report, 12);
    let written = vec![Row::Credit(report.clone()), Row::Credit(report.clone()), Row::Credit(credit(2, "b", Evidence::Window, 31))];
    let ended = vec![Row::Window(window(1, 10, Some(20))), Row::RemoveWindows { call: "c3".to_owned() }];
    fixture.store.commit(rows(id, [ended, written].concat())).await.unwrap();
    assert_eq!(fixture.store.windows(id, None).await.unwrap(), [window(1, 10, Some(20)), window(2, 30, None)]);
    assert_eq!(fixture.store.open_windows(id).await.unwrap(), [window(2, 30, None)]);
    assert_eq!(fixture.store.windows(id, Some(turn_id(2))).await.unwrap(), [window(2, 30, None)]);
    assert_eq!(fixture.store.credits(id, Some(turn_id(1))).await.unwrap(), std::slice::from_ref(&report));
    assert_eq!(fixture.store.credits(id, None).await.unwrap().len(), 2);

    let other = session_id(2);
    fixture.store.commit(create(other)).await.unwrap();
    assert_eq!(fixture.store.reported_by_others(other, 17).await.unwrap(), [report], "only what was reported");
    let writers = fixture.store.writers_beside(other, 17).await.unwrap();
    let paths: Vec<_> = writers.iter().map(|(path, writer, _)| (path.as_str(), *writer)).collect();
    assert_eq!(paths, [("b", id), ("a", id)]);
    assert!(fixture.store.writers_beside(id, 0).await.unwrap().is_empty());
    assert!(fixture.store.reported_by_others(other, 18).await.unwrap().is_empty());
    assert!(fixture.store.reported_by_others(id, 0).await.unwrap().is_empty(), "only of others");
    fixture.store.commit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    assert!(fixture.store.credits(id, None).await.unwrap().is_empty() && fixture.store.windows(id, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_queue_keeps_its_order_through_edits_and_withdrawals() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(rows(id, (1..=3).map(|n| Row::Enqueue(queued(n, "m"))).collect())).await.unwrap();
    assert_eq!(fixture.store.queued_sessions().await.unwrap(), [id]);
    let edit = |n, content: &str| rows(id, vec![Row::EditQueued { message_id: message_id(n), content: content.into() }]);
    fixture.store.commit(edit(2, "edited")).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Dequeue { message_id: message_id(1) }])).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Enqueue(queued(4, "m"))])).await.unwrap();
    let contents: Vec<_> = fixture.store.queue(id).await.unwrap().items.into_iter().map(|item| (item.message_id, item.content)).collect();
    assert_eq!(contents, [(message_id(2), "edited".into()), (message_id(3), "m".into()), (message_id(4), "m".into())]);
    assert_eq!(fixture.store.queue(id).await.unwrap().items[1], queued(3, "m"));
    assert!(matches!(fixture.store.commit(edit(1, "late")).await, Err(StoreError::Gone { .. })));
    assert_eq!(fixture.store.session(id).await.unwrap().unwrap().queue_len, 3);
}

#[tokio::test]
async fn a_held_queue_stays_held_and_is_not_once_nothing_is_queued() {
    let (fixture, id) = Fixture::with_session().await;
    let held = async || fixture.store.queue(id).await.unwrap().held;
    fixture.store.commit(rows(id, vec![Row::Enqueue(queued(1, "m")), Row::HoldQueue(true)])).await.unwrap();
    assert!(held().await);
    fixture.store.commit(rows(id, vec![Row::Enqueue(queued(2, "m")), Row::Dequeue { message_id: message_id(1) }])).await.unwrap();
    assert!(held().await && fixture.store.snapshot(id, 1).await.unwrap().unwrap().queue.held);
    fixture.store.commit(rows(id, vec![Row::Dequeue { message_id: message_id(2) }])).await.unwrap();
    assert!(!held().await);
    fixture.store.commit(rows(id, vec![Row::HoldQueue(false), Row::Enqueue(queued(3, "m"))])).await.unwrap();
    assert!(!held().await);
}

#[tokio::test]
async fn a_turn_knows_the_first_event_of_the_write_that_started_it() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, vec![notice("a"), notice("b")])).await.unwrap();
    let start = Write { session: id, events: vec![running(1), notice("c")], rows: vec![Row::Turn(turn(1, TurnState::Running))] };
    // In one group with what came before, and with what follows.
    for committed in fixture.commit_all([events(id, vec![output("c", 0, "x")]), start]).await {
        committed.unwrap();
    }
    let open = fixture.store.open_turns().await.unwrap();
    assert_eq!(open, [(id, TurnRow { started_seq: 4, ..turn(1, TurnState::Running) })]);

    let mut ended = open[0].1.clone();
    ended.state = TurnState::Unknown;
    ended.reason = Some("the agent is gone".into());
    ended.ended_at = Some(at(9));
    fixture.store.commit(rows(id, vec![Row::Turn(ended)])).await.unwrap();
    assert!(fixture.store.open_turns().await.unwrap().is_empty());
    assert!(!fixture.store.session(id).await.unwrap().unwrap().running);
}

#[tokio::test]
async fn a_snapshot_is_of_one_moment_and_a_feed_goes_on_behind_it() {
    let (fixture, id) = Fixture::with_session().await;
    let artifact = artifact(id);
    let call = ToolCall { id: "c".into(), name: "read_file_external".into(), arguments: "{}".into() };
    fixture.store.commit(events(id, vec![notice("before")])).await.unwrap();
    let started = vec![
        Row::Message(message(1, Role::User, "hello")),
        Row::Turn(turn(1, TurnState::Running)),
        Row::OpenPermission(permission(1)),
        Row::OpenPermission(permission(2)),
        Row::OpenConfirm(call.clone()),
        Row::Enqueue(queued(2, "next")),
        Row::Artifact(artifact.clone()),
    ];
    fixture.store.commit(Write { session: id, events: vec![running(1), output("c", 0, "so ")], rows: started }).await.unwrap();
    let request_id = PermissionId(Uuid::from_u128(2));
    let later = vec![Row::ResolvePermission { request_id, decision: Decision::cancelled(), by: "policy".into() }];
    fixture.store.commit(Write { session: id, events: vec![output("c", 3, "far")], rows: later }).await.unwrap();

    let snapshot = fixture.store.snapshot(id, 50).await.unwrap().unwrap();
    assert_eq!(snapshot.seq, 4);
    assert_eq!(snapshot.messages, [message(1, Role::User, "hello")]);
    assert!(!snapshot.more);
    assert_eq!(snapshot.turn, Some(RunningTurn { turn_id: turn_id(1), started_seq: 2, abandoned: false }));
    assert_eq!(snapshot.turn_state.turn.map(|turn| turn.id), Some(turn_id(1)));
    assert_eq!(snapshot.permissions, [permission(1).request]);
    assert_eq!(snapshot.confirms, std::slice::from_ref(&call));
    assert_eq!(snapshot.queue.items, [queued(2, "next")]);
    assert_eq!(snapshot.artifacts, std::slice::from_ref(&artifact.summary));
    assert_eq!((snapshot.session.running, snapshot.session.queue_len, snapshot.session.waiting), (true, 1, 2));
    assert_eq!(fixture.store.artifact(artifact.id()).await.unwrap(), Some(artifact));
    assert_eq!(fixture.store.permissions(id).await.unwrap(), [permission(1)]);

    let mut feed = fixture.store.feed(id);
    fixture
        .store
        .commit(Write { session: id, events: vec![notice("next")], rows: vec![Row::ResolveConfirm { tool_call_id: "c".into() }] })
        .await
        .unwrap();
    assert_eq!(read_to(&mut feed, snapshot.seq, 5, 10).await[0].event().unwrap(), notice("next"));
    assert_eq!(fixture.store.session(id).await.unwrap().unwrap().waiting, 1);
}

#[tokio::test]
async fn a_runner_cursor_moves_with_the_events_made_from_it() {
    let (fixture, id) = Fixture::with_session().await;
    let runner = runner(id, "r");
    fixture.store.commit(rows(id, vec![Row::Runner(runner.clone())])).await.unwrap();
    let piece = |n| {
        let cursor = Row::RunnerCursor { id: "r".into(), cursor: n };
        Write { session: id, events: vec![output("c", n - 1, "x")], rows: vec![cursor] }
    };
    for committed in fixture.commit_all((1..=500).map(piece)).await {
        committed.unwrap();
    }
    assert_eq!(fixture.store.session_runners(id).await.unwrap(), [RunnerRow { cursor: 500, ..runner.clone() }]);
    assert_eq!(fixture.store.runners().await.unwrap().len(), 1);
    fixture.store.commit(rows(id, vec![Row::RemoveRunner { id: "r".into() }])).await.unwrap();
    assert!(fixture.store.runners().await.unwrap().is_empty());
    // The cursor of a runner that came anew in the same write is not laid over it.
    let moved = Row::RunnerCursor { id: "r".into(), cursor: 7 };
    let anew = RunnerRow { cursor: 1, ..runner.clone() };
    fixture.store.commit(rows(id, vec![Row::Runner(runner), moved, Row::Runner(anew.clone())])).await.unwrap();
    assert_eq!(fixture.store.session_runners(id).await.unwrap(), [anew]);
}

/// Holds S1-62, S1-65.
#[tokio::test]
async fn agent_sessions_are_kept_by_name() {
    let (fixture, id) = Fixture::with_session().await;
    let mut agent = AgentSession {
        id: Uuid::from_u128(1),
        name: "auth-bug-fix".into(),
        agent_session: "acp-1".into(),
        agent: "copilot".into(),
        cwd: "/work".into(),
        created_at: at(1),
        prompted_at: None,
        mode: None,
        options: None,
        usage: None,
        title: None,
        wanted: None,
        restored: None,
        runner_id: None,
        commands: Some(json!([{ "name": "help" }])),
        allow_all: false,
    };
    fixture.store.commit(rows(id, vec![Row::AgentSession(agent.clone())])).await.unwrap();
    agent.prompted_at = Some(at(2));
    agent.options = Some(json!([{ "id": "model" }]));
    agent.restored = Some("load".into());
    agent.allow_all = true;
    (agent.title, agent.wanted) = (Some("Mend the login".into()), Some(json!({ "model": "b" })));
    let again = AgentSession { id: Uuid::from_u128(2), ..agent.clone() };
    fixture.store.commit(rows(id, vec![Row::AgentSession(again)])).await.unwrap();
    assert_eq!(fixture.store.agent_sessions(id).await.unwrap(), [agent]);
    fixture.store.commit(rows(id, vec![Row::RemoveAgentSession { name: "auth-bug-fix".into() }])).await.unwrap();
    assert!(fixture.store.agent_sessions(id).await.unwrap().is_empty());
}

#[tokio::test]
async fn compaction_spares_running_turns_recent_sessions_and_messages() {
    let fixture = Fixture::new().await;
    let (quiet, busy) = (session_id(1), session_id(2));
    for id in [quiet, busy] {
        fixture.store.commit(create(id)).await.unwrap();
        fixture
            .store
            .commit(Write { session: id, events: vec![notice("a"), notice("b")], rows: vec![Row::Message(message(1, Role::User, "m"))] })
            .await
            .unwrap();
    }
    fixture
        .store
        .commit(Write { session: busy, events: vec![running(1)], rows: vec![Row::Turn(turn(1, TurnState::Running))] })
        .await
        .unwrap();
    assert_eq!(fixture.store.compact(at(0)).await.unwrap(), 0);
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(60);
    assert_eq!(fixture.store.compact(later).await.unwrap(), 1);
    assert!(fixture.stored(quiet).is_empty());
    assert_eq!(fixture.stored(busy).len(), 3);
    assert_eq!(fixture.store.messages(quiet, None, 10).await.unwrap().messages.len(), 1);
    assert_eq!(fixture.store.commit(events(quiet, vec![notice("c")])).await.unwrap().last_seq, 3);
    // An asked-for horizon stops before the running turn.
    fixture.store.commit(rows(busy, vec![Row::Horizon(100)])).await.unwrap();
    let kept = fixture.stored(busy);
    assert_eq!((kept.len(), kept[0].seq), (1, 3));
}
