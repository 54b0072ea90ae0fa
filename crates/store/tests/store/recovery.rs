//! What a restarted server asks for.

use domain::agent::PermissionAsk;
use domain::event::{PermissionRequest, Role, Turn, TurnState};
use domain::ids::{PermissionId, TurnId};
use serde_json::json;
use store::{PermissionRow, Row, RunnerRow, Store, TurnRow};
use uuid::Uuid;

use crate::fixture::*;

fn permission(n: u128, runner: &str) -> PermissionRow {
    let ask = PermissionAsk {
        title: "run it".into(),
        kind: None,
        command: None,
        diff: None,
        locations: vec![],
        options: vec![],
        agent_call: None,
        form: None,
        input: None,
    };
    let request = PermissionRequest {
        request_id: PermissionId(Uuid::from_u128(n)),
        tool_call_id: "c".into(),
        session_name: "s".into(),
        asked_at: at(1),
        ask,
    };
    PermissionRow { request, rpc_id: n.to_string(), runner_id: runner.into() }
}

fn resolve(n: u128, option: Option<&str>) -> Row {
    Row::ResolvePermission { request_id: PermissionId(Uuid::from_u128(n)), option_id: option.map(str::to_owned), by: "person".into() }
}

#[tokio::test]
async fn the_answers_a_runner_was_given_are_known_and_the_first_one_stands() {
    let (fixture, id) = Fixture::with_session().await;
    let open = [(1, "r"), (2, "r"), (3, "r"), (4, "other")].map(|(n, runner)| Row::OpenPermission(permission(n, runner)));
    fixture.store.commit(rows(id, open.to_vec())).await.unwrap();
    let answers = vec![resolve(1, Some("yes")), resolve(1, Some("no")), resolve(2, None), resolve(4, Some("yes"))];
    fixture.store.commit(rows(id, answers)).await.unwrap();
    assert_eq!(fixture.store.answers(id, "r").await.unwrap(), [("1".into(), Some("yes".into())), ("2".into(), None)]);
    assert_eq!(fixture.store.permissions(id).await.unwrap(), [permission(3, "r")]);
}

#[tokio::test]
async fn what_an_agent_can_do_is_kept_with_its_runner_over_a_restart() {
    let (fixture, id) = Fixture::with_session().await;
    let mut runner = RunnerRow { id: "r".into(), session: id, agent: "demo".into(), dir: "/d".into(), cursor: 4, capabilities: None };
    fixture.store.commit(rows(id, vec![Row::Runner(runner.clone())])).await.unwrap();
    runner.capabilities = Some(json!({ "load": true }));
    let learned = Row::RunnerCapabilities { id: "r".into(), capabilities: runner.capabilities.clone() };
    fixture.store.commit(rows(id, vec![learned])).await.unwrap();
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    assert_eq!(store.runners().await.unwrap(), [runner]);
}

#[tokio::test]
async fn the_conversation_and_its_calls_are_whole() {
    let (fixture, id) = Fixture::with_session().await;
    let mut given: Vec<_> = (1..=30).map(|n| message(n, Role::User, "m")).collect();
    given[4].tool_call_id = Some("call 1".into());
    given[9].tool_call_id = Some("call 2".into());
    fixture.store.commit(rows(id, given.iter().cloned().map(Row::Message).collect())).await.unwrap();
    assert_eq!(fixture.store.history(id).await.unwrap(), given);
    let mut calls = fixture.store.tool_call_ids(id).await.unwrap();
    calls.sort();
    assert_eq!(calls, ["call 1", "call 2"]);
}

#[tokio::test]
async fn a_snapshot_says_which_turns_did_not_complete() {
    let (fixture, id) = Fixture::with_session().await;
    let states = [TurnState::Completed, TurnState::Failed, TurnState::Unknown, TurnState::Running];
    for (state, n) in states.into_iter().zip(1..) {
        let turn = TurnRow {
            id: TurnId(Uuid::from_u128(n)),
            state,
            reason: Some("why".into()),
            user_message_id: None,
            started_seq: 0,
            started_at: at(0),
            ended_at: None,
            evidence: None,
        };
        let mut write = events(id, vec![notice("turn")]);
        write.rows.push(Row::Turn(turn));
        fixture.store.commit(write).await.unwrap();
    }
    let expected = [(2, TurnState::Failed), (3, TurnState::Unknown)].map(|(n, state)| Turn {
        turn_id: TurnId(Uuid::from_u128(n)),
        state,
        reason: Some("why".into()),
    });
    assert_eq!(fixture.store.snapshot(id, 10).await.unwrap().unwrap().ended_turns, expected);
}
