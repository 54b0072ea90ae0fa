//! What a restarted server asks for.

use domain::agent::{OptionKind, PermissionAsk, PermissionOption};
use domain::decision::Decision;
use domain::event::{Message, Role, Turn, TurnState};
use domain::ids::{PermissionId, TurnId};
use serde_json::json;
use store::{AnswerRow, PermissionRow, Row, Store, TurnRow};
use uuid::Uuid;

use crate::fixture::*;

fn permission(n: u128, runner: &str) -> PermissionRow {
    PermissionRow { request: request(n, ask()), rpc_id: n.to_string(), runner_id: runner.into() }
}

/// An answer that allows; none is a cancellation.
fn decision(option: Option<&str>) -> Decision {
    option.map_or_else(Decision::cancelled, |option| Decision::of(&PermissionOption::new(option, option, OptionKind::AllowOnce)))
}

fn resolve(n: u128, option: Option<&str>) -> Row {
    Row::ResolvePermission { request_id: PermissionId(Uuid::from_u128(n)), decision: decision(option), by: "person".into() }
}

#[tokio::test]
async fn the_answers_a_runner_must_still_take_are_known_and_the_first_one_stands() {
    let (fixture, id) = Fixture::with_session().await;
    let open = [(1, "r"), (2, "r"), (3, "r"), (4, "other")].map(|(n, runner)| Row::OpenPermission(permission(n, runner)));
    fixture.store.commit(rows(id, open.to_vec())).await.unwrap();
    let answers = vec![resolve(1, Some("yes")), resolve(1, Some("no")), resolve(2, None), resolve(4, Some("yes"))];
    fixture.store.commit(rows(id, answers)).await.unwrap();
    let answer = |n: u128, option: Option<&str>| AnswerRow {
        request_id: PermissionId(Uuid::from_u128(n)),
        rpc_id: n.to_string(),
        option_id: option.map(str::to_owned),
        verdict: Some(decision(option).verdict()),
        reach: Some(decision(option).reach()),
    };
    assert_eq!(fixture.store.answers(id, "r").await.unwrap(), [answer(1, Some("yes")), answer(2, None)]);
    fixture.store.commit(rows(id, vec![Row::PermissionDelivered { request_id: PermissionId(Uuid::from_u128(1)) }])).await.unwrap();
    assert_eq!(fixture.store.answers(id, "r").await.unwrap(), [answer(2, None)]);
    assert_eq!(fixture.store.answers(id, "other").await.unwrap(), [answer(4, Some("yes"))]);
    assert_eq!(fixture.store.asked(id, "r").await.unwrap().len(), 3);
    assert_eq!(fixture.store.permissions(id).await.unwrap(), [permission(3, "r")]);
}

/// The id of an option says nothing: the decision is read as it was made, and where an earlier version stored none, nothing is allowed
/// that the offer leaves open.
#[tokio::test]
async fn a_decision_is_read_as_it_was_made() {
    let (fixture, id) = Fixture::with_session().await;
    let twice =
        [("x", OptionKind::RejectOnce), ("x", OptionKind::AllowOnce)].map(|(id, kind)| PermissionOption::new(id, "n", kind)).to_vec();
    let lying =
        [("allow_once", OptionKind::RejectOnce), ("no", OptionKind::AllowOnce)].map(|(id, kind)| PermissionOption::new(id, "n", kind));
    let asks = [twice, lying.to_vec()].map(|options| PermissionAsk { options, ..ask() });
    let open = asks.iter().zip(1..).map(|(ask, n)| {
        Row::OpenPermission(PermissionRow { request: request(n, ask.clone()), rpc_id: n.to_string(), runner_id: "r".into() })
    });
    fixture.store.commit(rows(id, open.collect())).await.unwrap();
    let no = Row::ResolvePermission { request_id: PermissionId(Uuid::from_u128(2)), decision: asks[1].refuse(), by: "person".into() };
    fixture.store.commit(rows(id, vec![resolve(1, Some("x")), no])).await.unwrap();
    let answers = fixture.store.answers(id, "r").await.unwrap();
    assert_eq!(answers[1].decision(&asks[1]), asks[1].refuse());
    let old = |answer: &AnswerRow| AnswerRow { verdict: None, reach: None, ..answer.clone() };
    assert_eq!(old(&answers[0]).decision(&asks[0]), Decision::cancelled());
    assert_eq!(old(&answers[1]).decision(&asks[1]), asks[1].refuse());
}

#[tokio::test]
async fn what_an_agent_can_do_is_kept_with_its_runner_over_a_restart() {
    let (fixture, id) = Fixture::with_session().await;
    let mut runner = runner(id, "r");
    fixture.store.commit(rows(id, vec![Row::Runner(runner.clone())])).await.unwrap();
    runner.capabilities = Some(json!({ "load": true }));
    let learned = Row::RunnerCapabilities { id: "r".into(), capabilities: runner.capabilities.clone() };
    fixture.store.commit(rows(id, vec![learned])).await.unwrap();
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    assert_eq!(store.runners().await.unwrap(), [runner]);
}

#[tokio::test]
async fn a_session_has_several_runners_and_one_that_was_told_to_end_is_known() {
    let (fixture, id) = Fixture::with_session().await;
    let mut given = [runner(id, "r1"), runner(id, "r2")];
    given[1].agent = "copilot".into();
    fixture.store.commit(rows(id, given.iter().cloned().map(Row::Runner).collect())).await.unwrap();
    let moved = Row::RunnerCursor { id: "r2".into(), cursor: 9 };
    fixture.store.commit(rows(id, vec![Row::RunnerEnding { id: "r1".into() }, moved])).await.unwrap();
    (given[0].ending, given[1].cursor) = (true, 9);
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    assert_eq!(store.session_runners(id).await.unwrap(), given);
    store.commit(rows(id, vec![Row::RemoveRunner { id: "r1".into() }])).await.unwrap();
    assert_eq!(store.session_runners(id).await.unwrap(), given[1..]);
}

#[tokio::test]
async fn method_names_are_kept_for_each_version_of_an_agent() {
    let (fixture, id) = Fixture::with_session().await;
    let names = |version: &str, names| Row::MethodNames { agent: "a".into(), version: version.into(), names };
    let given = vec![names("1", json!({ "x": "y" })), names("2", json!({})), names("1", json!({ "x": "z" }))];
    fixture.store.commit(rows(id, given)).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    assert_eq!(fixture.store.method_names("a", "1").await.unwrap(), Some(json!({ "x": "z" })));
    assert_eq!(fixture.store.method_names("a", "2").await.unwrap(), Some(json!({})));
    assert_eq!(fixture.store.method_names("a", "3").await.unwrap(), None);
    assert_eq!(fixture.store.method_names("b", "1").await.unwrap(), None);
}

#[tokio::test]
async fn the_latest_turns_are_as_many_as_fit_and_whole() {
    let (fixture, id) = Fixture::with_session().await;
    // Turns of three messages, behind what stands before the first.
    let role = |n| if n % 3 == 1 { Role::User } else { Role::Assistant };
    let mut given: Vec<_> = (0..=30).map(|n| message(n, role(n), "0123456789")).collect();
    given[4].tool_call_id = Some("call 1".into());
    given[9].tool_call_id = Some("call 2".into());
    fixture.store.commit(rows(id, given.iter().cloned().map(Row::Message).collect())).await.unwrap();
    for (bytes, from, more) in
        [(usize::MAX, 1, true), (300, 1, true), (299, 4, true), (60, 25, true), (30, 28, true), (1, 28, true), (0, 28, true)]
    {
        let page = fixture.store.history(id, bytes).await.unwrap();
        assert_eq!((&page.messages[..], page.more), (&given[from..], more), "{bytes} bytes");
    }
    let calls = ["call 1", "call 3", "call 2"].map(str::to_owned);
    let known = fixture.store.known_calls(id, calls.to_vec()).await.unwrap();
    assert_eq!(known, ["call 1", "call 2"].map(str::to_owned).into());
    assert!(fixture.store.known_calls(session_id(2), calls.to_vec()).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_results_of_a_named_session_are_found_from_the_latest_back() {
    let (fixture, id) = Fixture::with_session().await;
    let result = |n: u128, name: &str| {
        let delegation = json!({ "session_name": name, "stop_reason": "end_turn", "summary": n.to_string() });
        Message { delegation: serde_json::from_value(delegation).unwrap(), ..message(n, Role::Tool, "r") }
    };
    let given = [result(1, "a"), message(2, Role::User, "u"), result(3, "b"), result(4, "a"), result(5, "a")];
    fixture.store.commit(rows(id, given.iter().cloned().map(Row::Message).collect())).await.unwrap();
    assert_eq!(fixture.store.results(id, "a", 2).await.unwrap(), [given[4].clone(), given[3].clone()]);
    assert_eq!(fixture.store.results(id, "b", 9).await.unwrap(), given[2..3]);
    assert_eq!(fixture.store.results(id, "c", 9).await.unwrap(), []);
    assert_eq!(fixture.store.delegated(id, usize::MAX).await.unwrap(), [&given[..1], &given[2..]].concat());
    assert_eq!(fixture.store.delegated(id, 1).await.unwrap(), []);
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
        };
        let mut write = events(id, vec![notice("turn")]);
        write.rows.push(Row::Turn(turn));
        fixture.store.commit(write).await.unwrap();
    }
    let expected = [(2, TurnState::Failed), (3, TurnState::Unknown)]
        .map(|(n, state)| Turn::new(TurnId(Uuid::from_u128(n)), state, Some("why".into())));
    assert_eq!(fixture.store.snapshot(id, 10).await.unwrap().unwrap().ended_turns, expected);
}
