//! Strangers who open connections and send half of something.

use serde_json::json;
use testkit::server::Rig;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::SOON;

#[tokio::test]
async fn three_hundred_half_sent_requests_do_not_lock_the_owner_out() {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut watching = server.stream(&session, None).await;
    let address = server.base.trim_start_matches("http://");
    let mut half_sent = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\ncode=").await.unwrap();
        half_sent.push(stream);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: local").await.unwrap();
        half_sent.push(stream);
    }
    server.send(&session, "say hello").await;
    assert_eq!(watching.turn_end(SOON).await, "completed");
    let (status, _) = server.call("GET", "/api/sessions", None).await;
    assert_eq!(status, 200);
    drop(half_sent);
    server.end().await;
}
