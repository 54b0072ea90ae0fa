//! Numbers, order, joining, and durable before visible.

use domain::event::Event;
use proptest::prelude::*;

use crate::fixture::*;

#[tokio::test]
async fn numbers_are_dense_in_each_session_from_one() {
    let fixture = Fixture::new().await;
    let ids = [session_id(1), session_id(2)];
    for id in ids {
        assert_eq!(fixture.store.commit(create(id)).await.unwrap().last_seq, 0);
    }
    for n in 1..=5 {
        for id in ids {
            let committed = fixture.store.commit(events(id, vec![notice("a"), notice("b")])).await.unwrap();
            assert_eq!(committed.last_seq, 2 * n);
        }
    }
    for id in ids {
        let frames = fixture.stored(id);
        assert_eq!(frames.len(), 10);
        assert_dense(&frames, 0);
        assert_eq!(fixture.store.session(id).await.unwrap().unwrap().last_seq, 10);
    }
}

#[tokio::test]
async fn many_events_in_one_write_are_all_there_in_order() {
    let (fixture, id) = Fixture::with_session().await;
    // Every size of statement, and what is left over.
    let count = 64 * 3 + 63;
    fixture.store.commit(events(id, (0..count).map(|n| notice(n.to_string())).collect())).await.unwrap();
    let frames = fixture.stored(id);
    assert_dense(&frames, 0);
    let read: Vec<Event> = frames.iter().map(|frame| frame.event().unwrap()).collect();
    assert_eq!(read, (0..count).map(|n| notice(n.to_string())).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_caller_sees_its_writes_in_the_order_it_handed_them_over() {
    let (fixture, id) = Fixture::with_session().await;
    for committed in fixture.commit_all((0..300).map(|n| events(id, vec![notice(n.to_string())]))).await {
        committed.unwrap();
    }
    let frames = fixture.stored(id);
    let read: Vec<Event> = frames.iter().map(|frame| frame.event().unwrap()).collect();
    assert_eq!(read, (0..300).map(|n| notice(n.to_string())).collect::<Vec<_>>());
}

#[tokio::test]
async fn only_neighbouring_pieces_of_one_stream_are_joined() {
    let (fixture, id) = Fixture::with_session().await;
    let given = vec![
        output("a", 0, "x😀"),
        output("a", 3, "y"),
        output("b", 0, "z"),
        output("a", 4, "w"),
        text(9, 0, "t"),
        text(9, 1, "u"),
        notice("between"),
        text(9, 2, "v"),
    ];
    fixture.store.commit(events(id, given)).await.unwrap();
    let read: Vec<Event> = fixture.stored(id).iter().map(|frame| frame.event().unwrap()).collect();
    let joined = [output("a", 0, "x😀y"), output("b", 0, "z"), output("a", 4, "w"), text(9, 0, "tu"), notice("between"), text(9, 2, "v")];
    assert_eq!(read, joined);
}

#[tokio::test]
async fn a_flood_of_small_pieces_becomes_few_events_with_the_same_text() {
    // What is to survive a power loss is never written where it stands.
    let fixture = Fixture::durable().await;
    let id = session_id(1);
    fixture.store.commit(create(id)).await.unwrap();
    let committed = fixture.commit_all((0..20_000).map(|n| events(id, vec![output("a", n, "x")]))).await;
    let count = committed.into_iter().map(|committed| committed.unwrap().last_seq).max().unwrap();
    assert!(count < 20_000, "nothing was joined");
    let mut length = 0;
    for frame in fixture.stored(id) {
        let Some(Event::CopilotDelta(delta)) = frame.event() else { panic!("{frame:?}") };
        assert_eq!(delta.offset, length);
        length += delta.content.len() as u64;
    }
    assert_eq!(length, 20_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_reader_sees_is_in_the_database_already() {
    let (fixture, id) = Fixture::with_session().await;
    let writer = fixture.store.clone();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        for n in 0..300 {
            writer.commit(events(id, vec![notice(n.to_string())])).await.unwrap();
        }
    });
    let mut feed = fixture.store.feed(id);
    let mut cursor = 0;
    while cursor < 300 {
        let seen = read_to(&mut feed, cursor, cursor + 1, 1).await;
        assert_eq!(fixture.stored(id)[usize::try_from(cursor).unwrap()], seen[0]);
        cursor += 1;
    }
    within(tasks.join_next()).await.unwrap().unwrap();
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..2u8, "[a-z😀]{0,4}").prop_map(|(stream, content)| output(if stream == 0 { "a" } else { "b" }, 0, &content)),
        (0..2u128, "[a-z😀]{0,4}").prop_map(|(stream, content)| text(stream, 0, &content)),
        "[a-z\"\\\\\n]{0,4}".prop_map(notice),
    ]
}

/// Gives each delta the offset that its stream has reached, and the text that every stream ends up with.
fn place(events: &mut [Event]) -> std::collections::BTreeMap<String, String> {
    let mut streams = std::collections::BTreeMap::<String, String>::new();
    for event in events {
        let (key, offset, content) = match event {
            Event::CopilotDelta(delta) => (delta.tool_call_id.clone(), &mut delta.offset, &delta.content),
            Event::TextDelta(delta) => (delta.message_id.to_string(), &mut delta.offset, &delta.content),
            _ => continue,
        };
        let stream = streams.entry(key).or_default();
        *offset = stream.encode_utf16().count() as u64;
        stream.push_str(content);
    }
    streams
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However writes are cut and grouped: every stream has its whole text, applied by offset, and the rest its order; and a reader from
    /// the hot tail gets the same bytes as one from the database.
    #[test]
    fn grouping_changes_no_text_and_no_order(mut given in prop::collection::vec(any_event(), 1..80), cut in 1..9usize) {
        let streams = place(&mut given);
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let (fixture, id) = Fixture::with_session().await;
            let mut feed = fixture.store.feed(id);
            let committed = fixture.commit_all(given.chunks(cut).map(|chunk| events(id, chunk.to_vec()))).await;
            let last = committed.into_iter().map(|committed| committed.unwrap().last_seq).max().unwrap();
            let stored = fixture.stored(id);
            let hot = read_to(&mut feed, 0, last, 7).await;
            assert_eq!(hot, stored);
            assert_dense(&stored, 0);
            let mut read: Vec<Event> = stored.iter().map(|frame| frame.event().unwrap()).collect();
            assert_eq!(place(&mut read.clone()), streams);
            let placed = read.clone();
            place(&mut read);
            assert_eq!(read, placed, "an offset is not where its stream had come to");
            let others = |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Notice(_))).cloned().collect::<Vec<_>>();
            assert_eq!(others(&read), others(&given));
            fixture.store.close().await;
        });
    }
}
