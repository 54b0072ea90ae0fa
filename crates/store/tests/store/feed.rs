//! Readers: from anywhere, hot or cold, waiting, late, and at the end of a session.

use std::collections::BTreeMap;

use domain::event::Event;
use store::{Batch, FeedError, Row, Store};

use crate::fixture::*;

#[tokio::test]
async fn a_cursor_gets_exactly_what_follows_it() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, (0..10).map(|n| notice(n.to_string())).collect())).await.unwrap();
    let all = fixture.stored(id);
    for cursor in [0, 4, 9] {
        let mut feed = fixture.store.feed(id);
        assert_eq!(read_to(&mut feed, cursor, 10, 3).await, all[usize::try_from(cursor).unwrap()..]);
    }
}

#[tokio::test]
async fn at_the_end_a_reader_waits_for_the_next_event() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, vec![notice("old")])).await.unwrap();
    let mut feed = fixture.store.feed(id);
    let store = fixture.store.clone();
    let (batch, ()) = within(async {
        tokio::join!(feed.after(1, 10), async {
            tokio::task::yield_now().await;
            store.commit(events(id, vec![notice("new")])).await.unwrap();
        })
    })
    .await;
    let Batch::Frames { frames } = batch.unwrap() else { panic!("expected frames") };
    assert_eq!(frames[0].event().unwrap(), notice("new"));
}

#[tokio::test]
async fn a_cursor_from_elsewhere_is_reset() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, (0..5).map(|n| notice(n.to_string())).collect())).await.unwrap();
    assert_eq!(within(fixture.store.feed(id).after(6, 10)).await.unwrap(), Batch::Reset);
    fixture.store.commit(rows(id, vec![Row::Horizon(3)])).await.unwrap();
    let mut feed = fixture.store.feed(id);
    for cursor in 0..3 {
        assert_eq!(within(feed.after(cursor, 10)).await.unwrap(), Batch::Reset, "{cursor}");
    }
    assert_eq!(read_to(&mut feed, 3, 5, 10).await.len(), 2);
    assert_eq!(fixture.stored(id).len(), 2);
}

#[tokio::test]
async fn a_reader_that_waits_at_the_horizon_is_not_reset() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(events(id, vec![notice("a"), notice("b")])).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Horizon(9)])).await.unwrap();
    let mut feed = fixture.store.feed(id);
    let (batch, _) = within(async { tokio::join!(feed.after(2, 10), fixture.store.commit(events(id, vec![notice("c")]))) }).await;
    let Batch::Frames { frames } = batch.unwrap() else { panic!("expected frames") };
    assert_eq!(frames[0].seq, 3);
}

#[tokio::test]
async fn a_waiting_reader_learns_of_the_deletion() {
    let (fixture, id) = Fixture::with_session().await;
    let mut feed = fixture.store.feed(id);
    let deletion = fixture.store.commit(rows(id, vec![Row::DeleteSession]));
    let (batch, deleted) = within(async { tokio::join!(feed.after(0, 10), deletion) }).await;
    deleted.unwrap();
    assert_eq!(batch.unwrap(), Batch::Deleted);
    assert_eq!(within(fixture.store.feed(id).after(0, 10)).await.unwrap(), Batch::Deleted);
    assert_eq!(within(fixture.store.feed(session_id(99)).after(0, 10)).await.unwrap(), Batch::Deleted);
}

#[tokio::test]
async fn a_waiting_reader_ends_when_the_store_closes() {
    let (fixture, id) = Fixture::with_session().await;
    let mut feed = fixture.store.feed(id);
    let (batch, ()) = within(async { tokio::join!(feed.after(0, 10), fixture.store.close()) }).await;
    assert!(matches!(batch, Err(FeedError::Closed)));
    assert!(matches!(within(fixture.store.feed(id).after(0, 10)).await, Err(FeedError::Closed)));
}

#[tokio::test]
async fn a_slow_reader_gets_the_same_bytes_from_the_database() {
    let (fixture, id) = Fixture::with_session().await;
    let mut quick = fixture.store.feed(id);
    let mut hot = Vec::new();
    // More than a tail holds, with events that are larger than a batch and than a whole tail.
    let sizes = [10, 200_000, 1_500_000, 7, 2_500_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 5];
    for (n, size) in sizes.into_iter().enumerate() {
        let last =
            fixture.store.commit(events(id, vec![notice("é\"\\".repeat(size / 4)), output("c", n as u64, "z")])).await.unwrap().last_seq;
        let cursor = hot.len() as u64;
        hot.extend(read_to(&mut quick, cursor, last, 10).await);
    }
    let mut slow = fixture.store.feed(id);
    assert_eq!(read_to(&mut slow, 0, hot.len() as u64, 5).await, hot);
    fixture.store.close().await;

    let reopened = Store::open(&fixture.path(), false).await.unwrap();
    let mut cold = reopened.feed(id);
    assert_eq!(read_to(&mut cold, 0, hot.len() as u64, 1000).await, hot);
}

/// Reads a session to `last` with its own feed and says what text the stream has.
async fn follow(store: Store, session: u128, stream: &str, total: u64) -> String {
    let mut feed = store.feed(session_id(session));
    let mut cursor = 0;
    let mut read = String::new();
    while (read.len() as u64) < total {
        let Batch::Frames { frames } = within(feed.after(cursor, 16)).await.unwrap() else { panic!("expected frames") };
        for frame in frames {
            assert_eq!(frame.seq, cursor + 1);
            cursor = frame.seq;
            if let Some(Event::CopilotDelta(delta)) = frame.event()
                && delta.tool_call_id == stream
            {
                assert_eq!(delta.offset, read.len() as u64);
                read.push_str(&delta.content);
            }
        }
    }
    read
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_and_writers_at_once_lose_and_double_nothing() {
    let fixture = Fixture::new().await;
    let mut writers = tokio::task::JoinSet::new();
    let mut readers = tokio::task::JoinSet::new();
    let total = 3_000;
    // Two sessions, two streams in each, every stream with a reader of its own.
    let mut expected = BTreeMap::new();
    for session in 1..=2 {
        fixture.store.commit(create(session_id(session))).await.unwrap();
        for stream in ["a", "b"] {
            let store = fixture.store.clone();
            readers.spawn(async move { (session, stream, follow(store, session, stream, total).await) });
            let store = fixture.store.clone();
            writers.spawn(async move {
                let letter = |n| char::from(b'a' + u8::try_from(n % 26).unwrap()).to_string();
                let pieces = (0..total).map(|n| events(session_id(session), vec![output(stream, n, &letter(n))]));
                for piece in pieces {
                    store.commit(piece).await.unwrap();
                }
            });
            let text: String = (0..total).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).collect();
            expected.insert((session, stream), text);
        }
    }
    while let Some(written) = within(writers.join_next()).await {
        written.unwrap();
    }
    while let Some(read) = within(readers.join_next()).await {
        let (session, stream, text) = read.unwrap();
        assert_eq!(expected.remove(&(session, stream)), Some(text));
    }
    assert!(expected.is_empty());
}
