use domain::agent::{Location, PermissionAsk};
use domain::decision::{Decision, Verdict};
use domain::event::{CopilotDone, PermissionResolved, Times, Turn};
use jiff::Timestamp;
use uuid::Uuid;

use super::*;

const TURN: TurnId = TurnId(Uuid::from_u128(7));

fn attribution() -> Attribution {
    let work_dirs = [PathBuf::from("/real/work"), PathBuf::from("/work")];
    Attribution { work_dirs, turn: Some(TURN), running: HashMap::new(), questions: HashMap::new(), heard: HashMap::new(), ended: false }
}

fn call(id: &str, kind: &str, status: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), kind: Some(kind.to_owned()), status: Some(status.to_owned()), ..ToolCall::default() }
}

fn update(call: ToolCall) -> Event {
    let (tool_call_id, session_name) = ("d".to_owned(), "main".to_owned());
    Event::AgentUpdate(AgentUpdate { tool_call_id, session_name, offset: 0, update: Update::ToolCall(call), times: Times::default() })
}

fn asked(id: u128, agent_call: Option<&str>) -> Event {
    Event::PermissionRequest(PermissionRequest {
        request_id: PermissionId(Uuid::from_u128(id)),
        tool_call_id: "d".to_owned(),
        session_name: "main".to_owned(),
        agent: "demo".to_owned(),
        asked_at: Timestamp::UNIX_EPOCH,
        scopes: Vec::new(),
        warnings: Vec::new(),
        hunks: Vec::new(),
        ask: PermissionAsk { agent_call: agent_call.map(str::to_owned), ..PermissionAsk::default() },
    })
}

fn answered(id: u128) -> Event {
    let decision = Decision::stored(Verdict::Allow, domain::decision::Reach::Once, None);
    Event::PermissionResolved(PermissionResolved::new(PermissionId(Uuid::from_u128(id)), &decision, "person", None))
}

/// A call, and from when to when it ran.
type Window = (String, i64, Option<i64>);

/// The windows and credits that are left when these events came at these times.
fn left(events: &[(i64, Event)]) -> (Vec<Window>, Vec<String>) {
    let mut attribution = attribution();
    let (mut windows, mut credits) = (Vec::<Window>::new(), Vec::new());
    for (now_ms, event) in events {
        let mut rows = Vec::new();
        attribution.follow(event, *now_ms, &mut rows);
        for row in rows {
            match row {
                Row::Window(row) => {
                    windows.retain(|(call, since_ms, _)| (call, *since_ms) != (&row.call, row.since_ms));
                    windows.push((row.call, row.since_ms, row.until_ms));
                }
                Row::RemoveWindows { call } => windows.retain(|(known, ..)| *known != call),
                Row::Credit(credit) => credits.push(credit.path),
                row => panic!("{row:?}"),
            }
        }
    }
    (windows, credits)
}

fn window(call: &str, since_ms: i64, until_ms: i64) -> (String, i64, Option<i64>) {
    (format!("d/{call}"), since_ms, Some(until_ms))
}

#[test]
fn a_command_has_a_window_without_the_time_that_it_waited_for_a_person() {
    let (windows, credits) = left(&[
        (10, update(call("c", "execute", "pending"))),
        (12, asked(1, Some("c"))),
        (12, update(call("other", "execute", "in_progress"))),
        (700, answered(1)),
        (710, update(call("c", "execute", "in_progress"))),
        (800, update(call("c", "execute", "completed"))),
        (900, update(call("other", "execute", "failed"))),
    ]);
    assert_eq!(windows, [window("c", 10, 12), window("c", 700, 800), window("other", 12, 900)]);
    assert!(credits.is_empty());
}

#[test]
fn a_question_that_names_no_call_holds_all_calls_of_its_delegation() {
    let (windows, _) = left(&[
        (10, update(call("c", "execute", "in_progress"))),
        (20, asked(1, None)),
        (30, asked(2, None)),
        (40, answered(1)),
        (50, answered(2)),
        (60, update(call("c", "execute", "completed"))),
    ]);
    assert_eq!(windows, [window("c", 10, 20), window("c", 50, 60)]);
}

#[test]
fn a_reported_change_is_credited_by_its_report_and_not_by_its_time() {
    let diff = |path: &str| ToolContent::Diff { path: path.to_owned(), old_text: None, new_text: "x".to_owned(), hunks: None };
    let edit = |status: &str| ToolCall {
        content: Some(vec![diff("/work/src/a"), diff("/real/work/b"), diff("./c"), diff("/elsewhere/d")]),
        ..call("e", "edit", status)
    };
    let (windows, credits) = left(&[(10, update(edit("pending"))), (20, update(edit("completed")))]);
    assert_eq!((windows.len(), credits), (0, vec!["b".to_owned(), "c".to_owned(), "src/a".to_owned()]));
    let (_, credits) = left(&[(10, update(edit("pending"))), (20, update(edit("failed")))]);
    assert!(credits.is_empty(), "what failed was not written");
}

#[test]
fn a_deletion_is_credited_by_its_place_and_a_read_by_nothing() {
    let places = |kind: &str| ToolCall {
        locations: Some(vec![Location { path: "/work/gone".to_owned(), line: None }]),
        ..call("l", kind, "completed")
    };
    assert_eq!(left(&[(10, update(places("delete")))]), (vec![window("l", 10, 10)], vec!["gone".to_owned()]));
    assert_eq!(left(&[(10, update(places("read")))]), (vec![], vec![]));
    let renamed = [(10, update(call("l", "other", "pending"))), (20, update(call("l", "search", "completed")))];
    assert_eq!(left(&renamed), (vec![], vec![]), "what turns out to be a search writes nothing");
}

#[test]
fn calls_that_are_left_open_end_with_their_delegation_or_the_turn() {
    let open = [(10, update(call("c", "execute", "in_progress"))), (11, asked(1, Some("x")))];
    let done = CopilotDone {
        tool_call_id: "d".to_owned(),
        session_name: "main".to_owned(),
        agent: "demo".to_owned(),
        summary: String::new(),
        stop_reason: "end_turn".to_owned(),
        ending: None,
        waited_ms: 0,
        turn_waited_ms: None,
    };
    let ended = Turn::new(TURN, TurnState::Interrupted, None);
    for end in [Event::CopilotDone(done), Event::Turn(ended)] {
        let (windows, _) = left(&[open.to_vec(), vec![(90, end)]].concat());
        assert_eq!(windows, [window("c", 10, 90)]);
    }
}

#[test]
fn the_times_of_the_runner_are_used_where_the_server_was_late() {
    let mut attribution = attribution();
    let signal = |status: &str| Signal::Update {
        agent_session: "s".into(),
        update: Update::ToolCall(call("c", "execute", status)),
        described: None,
    };
    attribution.heard((100, 110), &[signal("in_progress")]);
    attribution.heard((150, 160), &[signal("completed")]);
    let mut rows = Vec::new();
    attribution.follow(&update(call("c", "execute", "in_progress")), 9000, &mut rows);
    attribution.follow(&update(call("c", "execute", "completed")), 9001, &mut rows);
    let Some(Row::Window(last)) = rows.last() else { panic!("{rows:?}") };
    assert_eq!((last.since_ms, last.until_ms), (100, Some(160)));
    assert!(attribution.take_ended() && !attribution.take_ended());
}
