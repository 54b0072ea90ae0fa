//! Rows that cannot be read: broken by hand in the file. Each degrades alone.

use domain::agent::PermissionAsk;
use domain::attachment::{Attachment, AttachmentKind};
use domain::event::{Event, QueueItem, ReviewArtifact, Role, ToolCall, Turn, TurnState};
use domain::host::AgentSession;
use domain::ids::{ArtifactId, AttachmentId, PermissionId, RuleId, SessionId, TurnId};
use domain::rule::{Rule, Scope, Subject};
use rusqlite::Connection;
use serde_json::{Value, json};
use store::{ArtifactRow, AttachmentRow, Frame, PermissionRow, RequestRow, Row, RuleRow, Store, TurnRow, Write};
use uuid::Uuid;

use crate::fixture::*;

fn id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// What a file can hold in place of JSON that we would read again.
fn broken() -> [String; 4] {
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(200), "]".repeat(200));
    ["{\"message\": ".into(), "not json".into(), String::new(), deep]
}

fn spoil(conn: &Connection, sql: &str, text: &str) {
    let done = conn.execute(sql, [text]).unwrap();
    assert!(done > 0, "nothing to break: {sql}");
}

/// Every way into the log of a session gives the same, and only the second event is not what it was.
async fn assert_one_stand_in(store: &Store, session: SessionId, kind: &str) {
    let mut feed = store.feed(session);
    let frames = read_to(&mut feed, 0, 4, 10).await;
    assert_dense(&frames, 0);
    for frame in &frames {
        serde_json::from_slice::<Value>(&frame.data).unwrap();
    }
    let events: Vec<Event> = frames.iter().map(|frame| frame.event().unwrap()).collect();
    let Event::Notice(stand_in) = &events[1] else { panic!("{:?}", events[1]) };
    assert_eq!((stand_in.code.as_str(), stand_in.level.as_str()), ("unreadable", "warning"));
    assert!(stand_in.text.contains("Event 2") && stand_in.text.contains(kind), "{}", stand_in.text);
    assert_eq!(frames[1].kind, "notice");
    assert_eq!(events[2..], [notice("third"), output("c", 0, "fourth")]);
    let folded = store.snapshot(session, 10).await.unwrap().unwrap().turn_state;
    assert!(folded.turn.is_some(), "what can be read of the turn is there");
}

async fn with_turn() -> (Fixture, SessionId) {
    let (fixture, session) = Fixture::with_session().await;
    let turn_id = TurnId(id(1));
    let row = TurnRow {
        id: turn_id,
        state: TurnState::Running,
        reason: None,
        user_message_id: None,
        started_seq: 0,
        started_at: at(1),
        ended_at: None,
    };
    let running = Event::Turn(Turn::new(turn_id, TurnState::Running, None));
    let events = vec![running, notice("second"), notice("third"), output("c", 0, "fourth")];
    fixture.store.commit(Write { session, events, rows: vec![Row::Turn(row)] }).await.unwrap();
    (fixture, session)
}

#[tokio::test]
async fn an_event_that_cannot_be_read_becomes_a_notice_under_its_number() {
    for text in broken() {
        for kind in ["notice", "tool-call", "message", "from-the-future"] {
            let (fixture, session) = with_turn().await;
            fixture.store.close().await;
            let sql = format!("UPDATE events SET kind = '{kind}', data = ?1 WHERE seq = 2");
            spoil(&fixture.file(), &sql, &text);
            let store = Store::open(&fixture.path(), false).await.unwrap();
            assert_one_stand_in(&store, session, kind).await;
            let notices = store.snapshot(session, 10).await.unwrap().unwrap().notices;
            assert_eq!(notices.len(), if kind == "notice" { 2 } else { 1 });
            store.close().await;
        }
    }
}

#[tokio::test]
async fn an_event_of_the_wrong_shape_becomes_a_notice_for_who_folds_it() {
    let (fixture, session) = with_turn().await;
    fixture.store.close().await;
    spoil(&fixture.file(), "UPDATE events SET data = ?1 WHERE seq = 2", "{\"code\":7}");
    let store = Store::open(&fixture.path(), false).await.unwrap();
    let events: Vec<Event> = read_to(&mut store.feed(session), 0, 4, 10).await.iter().map(|frame| frame.event().unwrap()).collect();
    assert!(store.snapshot(session, 10).await.unwrap().unwrap().turn_state.turn.is_some());
    assert!(matches!(&events[1], Event::Notice(notice) if notice.code == "unreadable"), "{:?}", events[1]);
    assert_eq!(events.len(), 4);
}

#[tokio::test]
async fn an_event_that_is_nested_too_deep_is_the_same_from_memory_and_from_the_file() {
    let (fixture, session) = Fixture::with_session().await;
    let mut input = json!(1);
    for _ in 0..200 {
        input = json!([input]);
    }
    let request = request(1, PermissionAsk { input: Some(input), ..ask() });
    let given = vec![notice("first"), Event::PermissionRequest(request), notice("third"), output("c", 0, "fourth")];
    fixture.store.commit(events(session, given)).await.unwrap();
    let hot: Vec<Frame> = read_to(&mut fixture.store.feed(session), 0, 4, 10).await;
    assert_eq!((hot[1].kind.as_ref(), hot[1].seq), ("notice", 2));
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    assert_eq!(read_to(&mut store.feed(session), 0, 4, 10).await, hot);
}

#[tokio::test]
async fn a_message_of_which_a_part_cannot_be_read_is_shown_without_it() {
    for text in broken() {
        for column in ["tool_calls", "delegation", "attachments"] {
            let (fixture, session) = Fixture::with_session().await;
            let mut second = message(2, Role::Tool, "second");
            second.tool_call_id = Some("c".into());
            let given = [message(1, Role::User, "first"), second, message(3, Role::Assistant, "third")];
            fixture.store.commit(rows(session, given.iter().cloned().map(Row::Message).collect())).await.unwrap();
            let sql = format!("UPDATE messages SET {column} = ?1 WHERE position = 2");
            spoil(&fixture.file(), &sql, &text);
            let store = &fixture.store;
            let page = store.messages(session, None, 10).await.unwrap().messages;
            assert_eq!((&page[0], &page[2]), (&given[0], &given[2]), "{column}: {text}");
            assert_eq!((page[1].id, page[1].role, page[1].tool_call_id.as_deref()), (message_id(2), Role::Tool, Some("c")));
            assert!(page[1].content.starts_with("second") && page[1].content.contains("cannot be read"), "{}", page[1].content);
            assert_eq!(store.history(session, usize::MAX).await.unwrap().messages, page);
            assert_eq!(store.snapshot(session, 10).await.unwrap().unwrap().messages, page);
            assert_eq!(store.message(session, message_id(2)).await.unwrap().as_ref(), Some(&page[1]));
        }
    }
}

fn attachment(n: u128) -> Attachment {
    Attachment { id: AttachmentId(id(n)), kind: AttachmentKind::File, name: "a".into(), mime_type: "text/plain".into(), size: 1 }
}

/// Two rows of every table that holds JSON.
fn pair(session: SessionId, n: u128) -> Vec<Row> {
    let permission = PermissionRow { request: request(n, ask()), rpc_id: n.to_string(), runner_id: "r".into() };
    let asked = RequestRow {
        id: PermissionId(id(n)),
        runner_id: "r".into(),
        rpc_id: n.to_string(),
        call_id: None,
        request: json!({ "read": "a" }),
        begun: false,
        answer: None,
    };
    let summary = ReviewArtifact {
        artifact_id: ArtifactId(id(n)),
        title: "a diff".into(),
        status: "open".into(),
        total_files: 0,
        total_additions: 0,
        total_deletions: 0,
        files: vec![],
    };
    let rule =
        Rule { id: RuleId(id(n)), scope: Scope::Session, allow: true, subject: Subject::Edits, created_at: at(i64::try_from(n).unwrap()) };
    let item = QueueItem {
        message_id: message_id(n),
        turn_id: TurnId(id(n)),
        content: "wait".into(),
        created_at: at(2),
        client_id: None,
        attachments: vec![attachment(n)],
    };
    let agent = AgentSession {
        id: id(n),
        name: n.to_string(),
        agent_session: n.to_string(),
        agent: "demo".into(),
        cwd: "/work".into(),
        created_at: at(i64::try_from(n).unwrap()),
        prompted_at: None,
        mode: None,
        options: Some(json!([])),
        usage: Some(json!({})),
        commands: Some(json!([])),
        title: None,
        wanted: Some(json!({})),
        restored: None,
        runner_id: None,
        allow_all: false,
    };
    let mut runner = runner(session, &n.to_string());
    runner.capabilities = Some(json!({}));
    vec![
        Row::OpenPermission(permission),
        Row::OpenRequest(asked),
        Row::AnswerRequest { id: PermissionId(id(n)), answer: json!(true) },
        Row::OpenConfirm(ToolCall { id: n.to_string(), name: "run".into(), arguments: "{}".into() }),
        Row::Artifact(ArtifactRow { session, summary, files: json!([1]), review: json!({ "a": 1 }), created_at: at(3) }),
        Row::Rule(RuleRow { session: Some(session), work_dir: "/work".into(), rule }),
        Row::Enqueue(item),
        Row::Attachment(AttachmentRow { message_id: message_id(n), about: attachment(n), data: b"x"[..].into() }),
        Row::AgentSession(agent),
        Row::Runner(runner),
        Row::MethodNames { agent: n.to_string(), version: "1".into(), names: json!({}) },
    ]
}

fn spoil_first_of_each(fixture: &Fixture, text: &str) {
    let first = id(1);
    let conn = fixture.file();
    for (table, column, key) in [
        ("permissions", "request", "id"),
        ("requests", "request", "id"),
        ("requests", "answer", "id"),
        ("artifacts", "summary", "id"),
        ("artifacts", "files", "id"),
        ("artifacts", "review", "id"),
        ("rules", "subject", "id"),
        ("queue", "attachments", "message_id"),
        ("attachments", "about", "id"),
        ("acp_sessions", "options", "id"),
        ("acp_sessions", "usage", "id"),
        ("acp_sessions", "commands", "id"),
        ("acp_sessions", "wanted", "id"),
    ] {
        spoil(&conn, &format!("UPDATE {table} SET {column} = ?1 WHERE {key} = '{first}'"), text);
    }
    for (table, column, key) in
        [("confirms", "call", "tool_call_id"), ("runners", "capabilities", "id"), ("method_names", "names", "agent")]
    {
        spoil(&conn, &format!("UPDATE {table} SET {column} = ?1 WHERE {key} = '1'"), text);
    }
}

#[tokio::test]
async fn a_row_of_any_table_that_cannot_be_read_degrades_alone() {
    for text in broken() {
        let (fixture, session) = Fixture::with_session().await;
        fixture.store.commit(rows(session, [pair(session, 1), pair(session, 2)].concat())).await.unwrap();
        spoil_first_of_each(&fixture, &text);
        let store = &fixture.store;

        let open = store.permissions(session).await.unwrap();
        assert_eq!((open[0].request.request_id, open[0].rpc_id.as_str()), (PermissionId(id(1)), "1"));
        assert!(open[0].request.ask.title.contains("cannot be read") && open[0].request.ask.options.is_empty());
        assert_eq!(open[1].request, request(2, ask()));
        assert_eq!(store.asked(session, "r").await.unwrap().len(), 2);

        let asked = store.requests(session, "r").await.unwrap();
        // Whatever was answered: it must not be done again.
        assert_eq!((&asked[0].request, &asked[0].answer, asked[0].begun), (&Value::Null, &None, true));
        assert_eq!((&asked[1].request, &asked[1].answer, asked[1].begun), (&json!({ "read": "a" }), &Some(json!(true)), false));

        let snapshot = store.snapshot(session, 10).await.unwrap().unwrap();
        assert_eq!((snapshot.confirms[0].id.as_str(), snapshot.confirms[1].name.as_str()), ("1", "run"));
        assert_eq!((snapshot.artifacts.len(), snapshot.artifacts[1].title.as_str()), (2, "a diff"));
        assert_eq!((snapshot.queue.items[0].content.as_str(), snapshot.queue.items[0].attachments.len()), ("wait", 0));
        assert_eq!(snapshot.queue.items[1].attachments, [attachment(2)]);
        let artifact = store.artifact(ArtifactId(id(1))).await.unwrap().unwrap();
        assert_eq!((artifact.id(), artifact.files, artifact.review), (ArtifactId(id(1)), json!([]), json!({})));

        assert_eq!(store.rules().await.unwrap().iter().map(|row| row.rule.id).collect::<Vec<_>>(), [RuleId(id(2))]);
        let kept = store.attachment(session, AttachmentId(id(1))).await.unwrap().unwrap();
        assert_eq!((&kept.data[..], kept.about.id), (&b"x"[..], AttachmentId(id(1))));
        let agents = store.agent_sessions(session).await.unwrap();
        assert_eq!((agents.len(), &agents[0].options, agents[1].options.is_some()), (2, &None, true));
        let runners = store.session_runners(session).await.unwrap();
        assert_eq!((&runners[0].capabilities, runners[1].capabilities.is_some()), (&None, true));
        assert_eq!(store.method_names("1", "1").await.unwrap(), None);
        assert!(store.method_names("2", "1").await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_session_whose_policy_cannot_be_read_asks_people() {
    let (fixture, session) = Fixture::with_session().await;
    spoil(&fixture.file(), "UPDATE sessions SET permission_policy = ?1", "from the future");
    let row = fixture.store.session(session).await.unwrap().unwrap();
    assert_eq!(row.permission_policy, Some(domain::policy::Policy::Ask));
    assert_eq!(fixture.store.sessions(None, 10).await.unwrap(), [row]);
}
