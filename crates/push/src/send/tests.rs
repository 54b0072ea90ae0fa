//! What is sent goes to what was checked, at each send anew.

use std::net::IpAddr;
use std::sync::Mutex;

use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::*;

// Made up for this test: the point is the base point of the curve.
const KEY: &str = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
const AUTH: &str = "AAAAAAAAAAAAAAAAAAAAAA";
const PUBLIC: [u8; 4] = [93, 184, 216, 34];
const HERE: [u8; 4] = [127, 0, 0, 1];

/// Answers each lookup with the next of these, and the last one from then on.
fn answers(answers: &[&[[u8; 4]]]) -> Lookup {
    let answers = Mutex::new(answers.iter().map(|answer| answer.to_vec()).rev().collect::<Vec<_>>());
    Arc::new(move |_| {
        let mut answers = answers.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop() } else { answers.last().cloned() };
        Box::pin(async move { Ok(next.unwrap_or_default().into_iter().map(IpAddr::from).collect()) })
    })
}

fn sender(allowed: &[&str], lookup: Lookup) -> (tempfile::TempDir, Sender) {
    let dir = tempfile::tempdir().unwrap();
    let keys = Keys::load_or_make(dir.path()).unwrap();
    let allowed = allowed.iter().map(|host| host.parse().unwrap()).collect();
    (dir, Sender::with_lookup(keys, "mailto:x@example.com".to_owned(), allowed, lookup).unwrap())
}

fn to(endpoint: &str) -> Subscription {
    Subscription::new(endpoint, KEY, AUTH).unwrap()
}

fn note() -> Note {
    Note { payload: b"{}".to_vec(), ttl: Duration::from_secs(1), urgency: Urgency::Normal, topic: "t".to_owned() }
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_resolves_to() {
    let (_dir, public) = sender(&[], answers(&[&[PUBLIC]]));
    assert_eq!(public.check(&to("https://push.example/x")).await, Ok(()));
    for private in [&[HERE][..], &[PUBLIC, HERE], &[[10, 0, 0, 1]], &[[169, 254, 169, 254]], &[]] {
        let (_dir, sender) = sender(&[], answers(&[private]));
        assert_eq!(sender.check(&to("https://push.example/x")).await, Err(DestinationRefused), "{private:?}");
    }
}

#[tokio::test]
async fn a_name_that_is_pointed_at_this_machine_later_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://push.example:{}/x", listener.local_addr().unwrap().port());
    let (_dir, sender) = sender(&[], answers(&[&[PUBLIC], &[HERE]]));
    assert_eq!(sender.check(&to(&endpoint)).await, Ok(()));
    let sent = sender.send_once(&to(&endpoint), &note()).await;
    assert!(matches!(sent, Outcome::Failed(_)), "{sent:?}");
    tokio::select! {
        biased;
        knocked = listener.accept() => panic!("it was connected to: {knocked:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn what_is_stored_is_checked_again_when_it_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in [
        "https://127.0.0.1",
        "https://[::ffff:127.0.0.1]",
        "https://localhost",
        "http://127.0.0.1",
        "https://0x7f000001",
        "https://box.local",
    ] {
        let (_dir, sender) = sender(&[], answers(&[&[HERE]]));
        let sent = sender.send(&to(&format!("{host}:{port}/x")), &note()).await;
        assert_eq!(sent, Outcome::Failed(DestinationRefused.to_string()), "{host}");
    }
    tokio::select! {
        biased;
        knocked = listener.accept() => panic!("it was connected to: {knocked:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // A second lookup would lead to a public address.
    let (_dir, sender) = sender(&[&format!("push.lan:{port}")], answers(&[&[HERE], &[PUBLIC]]));
    let subscription = to(&format!("http://push.lan:{port}/x"));
    let note = note();
    let sending = sender.send_once(&subscription, &note);
    let reading = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0; 7];
        stream.read_exact(&mut first).await.unwrap();
        first
    };
    let (sent, first) = tokio::join!(sending, reading);
    assert_eq!(&first, b"POST /x");
    assert!(matches!(sent, Outcome::Failed(_)), "the connection was closed without an answer: {sent:?}");
}

#[tokio::test]
async fn behind_a_proxy_only_what_needs_no_check_is_sent() {
    let (_dir, mut sender) = sender(&["push.lan:443"], answers(&[&[PUBLIC]]));
    sender.proxies = Matcher::builder().https("http://127.0.0.1:1").build();
    for endpoint in ["https://fcm.googleapis.com/x", "https://push.lan/x"] {
        assert_eq!(sender.check(&to(endpoint)).await, Ok(()), "{endpoint}");
    }
    for endpoint in ["https://push.example/x", "https://93.184.216.34/x"] {
        assert_eq!(sender.check(&to(endpoint)).await, Err(DestinationRefused), "{endpoint}");
    }
}
