//! Looking for words in everything that was said.

use domain::event::Role;
use domain::ids::TurnId;
use store::Row;
use uuid::Uuid;

use crate::fixture::*;

#[tokio::test]
async fn the_latest_messages_of_the_latest_sessions_are_found_first() {
    let fixture = Fixture::new().await;
    for n in 1..=2 {
        fixture.store.commit(create(session_id(n))).await.unwrap();
        let said = (1..=350).map(|m| Row::Message(message(m, Role::User, &format!("Größe {m}")))).collect();
        fixture.store.commit(rows(session_id(n), said)).await.unwrap();
    }
    fixture.store.commit(events(session_id(1), vec![notice("active")])).await.unwrap();
    let found = within(fixture.store.search("GRÖSSE", 3)).await.unwrap();
    assert!(found.hits.is_empty() && !found.more, "letters are not spelt otherwise");
    let found = within(fixture.store.search("GRÖß", 3)).await.unwrap();
    let places: Vec<_> = found.hits.iter().map(|hit| (hit.session, hit.message.unwrap().0, hit.excerpt.as_str())).collect();
    let expected = [(350, "Größe 350"), (349, "Größe 349"), (348, "Größe 348")];
    assert_eq!(places, expected.map(|(m, text)| (session_id(1), message_id(m), text)));
    assert!(found.more);
    // In the oldest piece of the other session.
    let found = within(fixture.store.search("größe 7", 50)).await.unwrap();
    assert_eq!(found.hits.len(), 22);
    assert_eq!(found.hits.last().map(|hit| (hit.session, hit.message.unwrap().0)), Some((session_id(2), message_id(7))));
    assert!(!found.more);
}

#[tokio::test]
async fn what_people_see_is_searched_and_a_damaged_message_is_passed_over() {
    let (fixture, id) = Fixture::with_session().await;
    let mut shown = message(1, Role::Tool, "for the model");
    shown.display = Some(format!("{} for people {}", "a ".repeat(500), "b ".repeat(500)));
    let rows_of = vec![Row::Message(shown), Row::Message(message(2, Role::User, "for people too"))];
    fixture.store.commit(rows(id, rows_of)).await.unwrap();
    assert_eq!(fixture.store.search("the model", 9).await.unwrap().hits.len(), 0);
    let hits = fixture.store.search("for people", 9).await.unwrap().hits;
    assert_eq!(hits.len(), 2);
    assert!(hits[1].excerpt.starts_with("…a a") && hits[1].excerpt.ends_with("b b…") && hits[1].excerpt.contains("for people"));
    assert!(hits[1].excerpt.len() < 260);
    let file = fixture.file();
    file.execute_batch("UPDATE messages SET role = 'nobody' WHERE position = 1").unwrap();
    assert_eq!(fixture.store.search("for people", 9).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn an_answer_that_the_relay_repeats_is_found_once_with_its_call() {
    let (fixture, id) = Fixture::with_session().await;
    let turn = Some(TurnId(Uuid::from_u128(7)));
    let mut said = message(1, Role::Tool, "the needle");
    (said.turn_id, said.tool_call_id) = (turn, Some("relay_1".into()));
    let mut repeated = message(2, Role::Assistant, "the needle");
    repeated.turn_id = turn;
    let mut told = message(3, Role::Tool, "the needle");
    (told.turn_id, told.tool_call_id) = (turn, Some("call_1".into()));
    let mut own = message(4, Role::Assistant, "I found the needle");
    own.turn_id = turn;
    let rows_of = [said, repeated, told, own].map(Row::Message).to_vec();
    fixture.store.commit(rows(id, rows_of)).await.unwrap();
    let hits = fixture.store.search("needle", 9).await.unwrap().hits;
    let places: Vec<_> = hits.iter().map(|hit| (hit.message.unwrap().0, hit.call.as_deref())).collect();
    assert_eq!(places, [(message_id(4), None), (message_id(3), Some("call_1")), (message_id(1), Some("relay_1"))]);
}
