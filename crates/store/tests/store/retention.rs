//! How long things are kept: events of turns that are over, what was deleted, copies of the database.

use std::path::Path;
use std::time::Duration;

use domain::event::{Event, Notice, Role, Turn, TurnState};
use domain::ids::{SessionId, TurnId};
use jiff::{SignedDuration, Timestamp};
use store::{Batch, Row, Store, TurnRow, Write};
use uuid::Uuid;

use crate::fixture::*;

const MARKER: &str = "zq-marker-7f31";

fn turn_row(n: u128, state: TurnState, ended_at: Option<Timestamp>) -> Row {
    let id = TurnId(Uuid::from_u128(n));
    Row::Turn(TurnRow { id, state, reason: None, user_message_id: None, started_seq: 0, started_at: at(1), ended_at })
}

fn turn_event(n: u128, state: TurnState) -> Event {
    Event::Turn(Turn::new(TurnId(Uuid::from_u128(n)), state, None))
}

fn warning(text: &str) -> Event {
    Event::Notice(Notice { code: "test".into(), level: "warning".into(), title: "t".into(), text: text.into(), session_name: None })
}

/// A turn with `pieces` events between its beginning and its end, and a warning that comes after its end.
async fn whole_turn(store: &Store, id: SessionId, n: u128, pieces: u64, ended_at: Timestamp) {
    let text = message(n, Role::User, &format!("message {n}"));
    let begin = vec![Row::Message(text), turn_row(n, TurnState::Running, None)];
    store.commit(Write { session: id, events: vec![turn_event(n, TurnState::Running)], rows: begin }).await.unwrap();
    // Two streams in turn, so that no two pieces are joined.
    let piece = |at: u64| output(if at.is_multiple_of(2) { "a" } else { "b" }, at / 2, "x");
    let mut said: Vec<Event> = (0..pieces).map(piece).collect();
    said.push(warning(&format!("in turn {n}")));
    store.commit(events(id, said)).await.unwrap();
    let end = vec![turn_row(n, TurnState::Completed, Some(ended_at))];
    store.commit(Write { session: id, events: vec![turn_event(n, TurnState::Completed)], rows: end }).await.unwrap();
    store.commit(events(id, vec![warning(&format!("after turn {n}"))])).await.unwrap();
}

#[tokio::test]
async fn old_turns_of_a_session_in_use_lose_their_events_and_nothing_that_is_shown() {
    let (fixture, id) = Fixture::with_session().await;
    let store = &fixture.store;
    // More than is dropped at a time.
    whole_turn(store, id, 1, 5000, at(10)).await;
    whole_turn(store, id, 2, 10, at(20)).await;
    let kept_from = fixture.stored(id).len() as u64;
    whole_turn(store, id, 3, 10, Timestamp::now()).await;
    let all = fixture.stored(id);
    let before = store.snapshot(id, 50).await.unwrap().unwrap();
    assert_eq!(before.notices.len(), 6);

    let day_ago = Timestamp::now() - SignedDuration::from_hours(24);
    assert_eq!(store.compact(day_ago).await.unwrap(), 1);
    assert_eq!(store.snapshot(id, 50).await.unwrap().unwrap(), before, "what a snapshot shows is the same");
    assert_eq!(fixture.stored(id), all[usize::try_from(kept_from).unwrap()..], "the recent turn is whole");
    let mut feed = store.feed(id);
    for old in [0, 1, kept_from - 1] {
        assert_eq!(within(feed.after(old, 10)).await.unwrap(), Batch::Reset, "{old}");
    }
    for fresh in [kept_from, kept_from + 1, kept_from + 5] {
        let following = read_to(&mut feed, fresh, all.len() as u64, 100).await;
        assert_eq!(following, all[usize::try_from(fresh).unwrap()..]);
    }
    assert_eq!(store.compact(day_ago).await.unwrap(), 0, "there is nothing more to do");
    assert_eq!(store.commit(events(id, vec![notice("next")])).await.unwrap().last_seq, all.len() as u64 + 1);
}

#[tokio::test]
async fn a_log_of_which_nothing_is_left_still_has_its_end() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, (0..5).map(|n| notice(n.to_string())).collect())).await.unwrap();
    assert_eq!(fixture.store.commit(rows(id, vec![Row::Horizon(99)])).await.unwrap().last_seq, 5);
    assert!(fixture.stored(id).is_empty());
    assert_eq!(fixture.store.session(id).await.unwrap().unwrap().last_seq, 5);
    fixture.store.close().await;
    let store = Store::open(&fixture.path(), false).await.unwrap();
    let listed = store.sessions(None, 10).await.unwrap();
    assert_eq!((listed[0].last_seq, store.snapshot(id, 10).await.unwrap().unwrap().seq), (5, 5));
    assert_eq!(within(store.feed(id).now(5, 10)).await.unwrap(), None);
    assert_eq!(within(store.feed(id).now(4, 10)).await.unwrap(), Some(Batch::Reset));
    assert_eq!(store.commit(events(id, vec![output("c", 0, "x")])).await.unwrap().last_seq, 6);
    assert_eq!(store.session(id).await.unwrap().unwrap().last_seq, 6);
}

#[tokio::test]
async fn events_of_a_running_turn_stay_however_old_they_are() {
    let (fixture, id) = Fixture::with_session().await;
    whole_turn(&fixture.store, id, 1, 5, at(10)).await;
    let start = fixture.stored(id).len() as u64 + 1;
    let running = Write { session: id, events: vec![turn_event(2, TurnState::Running)], rows: vec![turn_row(2, TurnState::Running, None)] };
    fixture.store.commit(running).await.unwrap();
    fixture.store.commit(events(id, vec![output("c", 0, "x")])).await.unwrap();
    let before = fixture.store.snapshot(id, 50).await.unwrap().unwrap();
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
    assert_eq!(fixture.store.compact(tomorrow).await.unwrap(), 1);
    assert_eq!(fixture.stored(id)[0].seq, start);
    assert_eq!(fixture.store.snapshot(id, 50).await.unwrap().unwrap(), before);
}

#[tokio::test]
async fn a_session_keeps_no_more_than_so_many_events_of_turns_that_are_over() {
    let (fixture, id) = Fixture::with_session().await;
    let now = Timestamp::now();
    whole_turn(&fixture.store, id, 1, 30_000, now).await;
    whole_turn(&fixture.store, id, 2, 90_000, now).await;
    let long_ago = at(0);
    assert_eq!(fixture.store.compact(long_ago).await.unwrap(), 1);
    let left = fixture.stored(id);
    assert_eq!(left[0].event().unwrap(), turn_event(2, TurnState::Running), "turns go as a whole");
    assert_eq!(fixture.store.compact(long_ago).await.unwrap(), 0);
}

/// The files of the directory that hold the marker.
fn holding(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let holds = |path: &Path| std::fs::read(path).unwrap().windows(MARKER.len()).any(|part| part == MARKER.as_bytes());
    entries.filter(|path| holds(path)).map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

async fn erased(dir: &Path) {
    within(async {
        while !holding(dir).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_is_in_no_file_any_more_although_somebody_was_reading() {
    let fixture = Fixture::new().await;
    let (gone, stays) = (session_id(1), session_id(2));
    for (id, text) in [(gone, MARKER), (stays, "other text")] {
        fixture.store.commit(create(id)).await.unwrap();
        for n in 0..200 {
            let said = message(n, Role::User, &format!("{text} {n} {}", "y".repeat(usize::try_from(n).unwrap() * 50)));
            let write = Write { session: id, events: vec![notice(format!("{text} {n}"))], rows: vec![Row::Message(said)] };
            fixture.store.commit(write).await.unwrap();
        }
    }
    assert!(!holding(fixture.dir.path()).is_empty());
    let reader = fixture.file();
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM messages").unwrap();
    fixture.store.delete(gone).await.unwrap();
    assert!(!holding(fixture.dir.path()).is_empty(), "somebody still reads what was there");
    // Whoever writes is not held up by that.
    within(fixture.store.commit(events(stays, vec![notice("meanwhile")]))).await.unwrap();
    reader.execute_batch("COMMIT").unwrap();
    erased(fixture.dir.path()).await;
    assert_eq!(fixture.stored(stays).len(), 201);
}

#[tokio::test]
async fn a_kill_before_the_log_was_emptied_is_made_up_for_by_tidying() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, vec![notice(MARKER)])).await.unwrap();
    let reader = fixture.file();
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM messages").unwrap();
    fixture.store.delete(id).await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    for file in ["log.db", "log.db-wal"] {
        std::fs::copy(fixture.dir.path().join(file), copy.path().join(file)).unwrap();
    }
    assert_eq!(holding(copy.path()).len(), 1);
    let store = Store::open(&copy.path().join("log.db"), false).await.unwrap();
    store.tidy(Duration::MAX).await;
    erased(copy.path()).await;
}

fn copy_names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| !["log.db", "log.db-wal", "log.db-shm", "log.db.lock"].contains(&name.as_str())).collect();
    names.sort();
    names
}

#[tokio::test]
async fn copies_of_the_database_lose_what_is_deleted_and_do_not_stay_for_ever() {
    let (fixture, id) = Fixture::with_session().await;
    let other = session_id(2);
    fixture.store.commit(create(other)).await.unwrap();
    fixture.store.commit(events(id, vec![notice(MARKER)])).await.unwrap();
    fixture.store.commit(events(other, vec![notice("stays")])).await.unwrap();
    let copy = |name: &str| fixture.dir.path().join(name);
    for name in ["log.db.v2.backup", "log.db.v3.backup"] {
        store::back_up(&fixture.path(), &copy(name)).await.unwrap();
    }
    std::fs::write(copy("log.db.replaced-wal"), MARKER).unwrap();
    std::fs::write(copy("log.db.v1.backup"), format!("no database, but {MARKER}")).unwrap();
    std::fs::write(copy("log.db.v4.backup.unfinished"), MARKER).unwrap();
    std::fs::write(copy("log.db.mine.backup"), "a person's own").unwrap();
    fixture.store.delete(id).await.unwrap();
    erased(fixture.dir.path()).await;
    assert_eq!(copy_names(fixture.dir.path()), ["log.db.mine.backup", "log.db.v2.backup", "log.db.v3.backup"]);
    assert_eq!(stored(&copy("log.db.v3.backup"), other).len(), 1, "what was not deleted is still there");

    let earlier = std::time::SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::options().write(true).open(copy("log.db.v2.backup")).unwrap().set_modified(earlier).unwrap();
    fixture.store.tidy(Duration::from_secs(7200)).await;
    assert_eq!(copy_names(fixture.dir.path()), ["log.db.mine.backup", "log.db.v3.backup"], "the latest is enough");
    std::fs::File::options().write(true).open(copy("log.db.v3.backup")).unwrap().set_modified(earlier).unwrap();
    fixture.store.tidy(Duration::from_secs(1800)).await;
    assert_eq!(copy_names(fixture.dir.path()), ["log.db.mine.backup"]);
}

/// What a kill leaves at each point of a restore is a database that opens, the old one or the new one.
#[tokio::test]
async fn a_restore_that_is_cut_off_leaves_one_whole_database() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, vec![notice("kept")])).await.unwrap();
    let backup = fixture.dir.path().join("elsewhere");
    store::back_up(&fixture.path(), &backup).await.unwrap();
    fixture.store.commit(events(id, vec![notice("later")])).await.unwrap();
    let Fixture { dir, store } = fixture;
    let path = dir.path().join("log.db");
    let reopened = async |events: u64| {
        let store = Store::open(&path, false).await.unwrap();
        assert_eq!(store.session(id).await.unwrap().unwrap().last_seq, events);
        store.close().await;
    };
    let prepare = async || store::Restore::prepare(&path, &backup).await;
    assert!(matches!(prepare().await, Err(store::OpenError::InUse { .. })));
    store.close().await;

    drop(prepare().await.unwrap());
    reopened(2).await;
    // Killed while it changed its copy.
    std::fs::write(dir.path().join("log.db.restoring-journal"), "half a journal").unwrap();
    drop(prepare().await.unwrap());
    assert!(!dir.path().join("log.db.restoring-journal").exists());
    // Linked aside, and not yet replaced.
    let prepared = prepare().await.unwrap();
    std::fs::hard_link(&path, dir.path().join("log.db.replaced")).unwrap();
    drop(prepared);
    reopened(2).await;
    let replaced = prepare().await.unwrap();
    replaced.replace().await.unwrap();
    drop(replaced);
    reopened(1).await;
    assert!(copy_names(dir.path()).contains(&"log.db.replaced".to_owned()));
    let again = prepare().await.unwrap();
    again.replace().await.unwrap();
    again.finish().unwrap();
    assert_eq!(copy_names(dir.path()), ["elsewhere"]);
    reopened(1).await;
}

#[tokio::test]
async fn a_write_ahead_log_of_what_is_replaced_is_not_taken_for_the_new_ones() {
    let (fixture, id) = Fixture::with_session().await;
    let backup = fixture.dir.path().join("elsewhere");
    store::back_up(&fixture.path(), &backup).await.unwrap();
    fixture.store.commit(events(id, (0..100).map(|n| notice(n.to_string())).collect())).await.unwrap();
    // As a kill leaves it, and with a database that cannot be read.
    let killed = tempfile::tempdir().unwrap();
    let path = killed.path().join("log.db");
    std::fs::copy(fixture.dir.path().join("log.db-wal"), killed.path().join("log.db-wal")).unwrap();
    std::fs::write(&path, vec![7; 8192]).unwrap();
    let restore = store::Restore::prepare(&path, &backup).await.unwrap();
    restore.replace().await.unwrap();
    restore.finish().unwrap();
    let store = Store::open(&path, false).await.unwrap();
    assert_eq!(store.session(id).await.unwrap().unwrap().last_seq, 0);
    store.close().await;
}
