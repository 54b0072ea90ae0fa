//! Remembered answers: they outlive a restart, end with what they belong to, and are taken back one by one.

use domain::ids::RuleId;
use domain::rule::{Rule, Scope, Subject};
use store::{Row, RuleRow, Store};
use uuid::Uuid;

use crate::fixture::*;

fn fetch() -> Subject {
    Subject::Request {
        title: "Fetch".into(),
        kind: Some("fetch".into()),
        input: Some(7.into()),
        command: None,
        cwd: None,
        files: vec!["a".into()],
        diff_sha256: None,
    }
}

fn row(n: u128, scope: Scope, subject: Subject) -> RuleRow {
    let rule = Rule { id: RuleId(Uuid::from_u128(n)), scope, allow: n != 2, subject, created_at: at(n as i64) };
    RuleRow { session: (scope == Scope::Session).then_some(session_id(1)), work_dir: "/work".into(), rule }
}

#[tokio::test]
async fn rules_outlive_a_restart_and_those_of_a_session_end_with_it() {
    let (fixture, id) = Fixture::with_session().await;
    let given = [
        row(
            1,
            Scope::Session,
            Subject::Command { command: "ls 'a b'\n".into(), words: Some(vec!["ls".into(), "a b\n".into()]), cwd: Some("sub".into()) },
        ),
        row(2, Scope::Session, Subject::Edits),
        row(3, Scope::Project, fetch()),
        row(4, Scope::Project, Subject::Edits),
    ];
    fixture.store.commit(rows(id, given.iter().cloned().map(Row::Rule).collect())).await.unwrap();
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    assert_eq!(store.rules().await.unwrap(), given);
    store.commit(rows(id, vec![Row::RemoveRule { id: given[3].rule.id }])).await.unwrap();
    store.commit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    assert_eq!(store.rules().await.unwrap(), given[2..3]);
    store.close().await;
}
