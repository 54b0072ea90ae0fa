//! Nobody can fill the log, and no secret stands in it.

use serde_json::{Value, json};
use testkit::server::Rig;

use crate::{SOON, wait_for};

const SECRET: &str = "a-secret-that-nobody-knows";
const LOG_BYTES: usize = 256 * 1024;

#[tokio::test]
async fn a_flood_of_bad_lines_is_clipped_masked_and_counted() {
    for format in ["text", "json"] {
        let server = Rig::default().faulty_agent().env("GITHUB_TOKEN", SECRET).env("VOXPILOT_LOG_FORMAT", format).start().await;
        let session = server.new_session(json!({ "permission_policy": "auto" })).await;
        let mut client = server.stream(&session, None).await;
        server.send(&session, &format!("bad_lines 20000 {SECRET}")).await;
        assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
        assert!(client.seen.agent_text("main").ends_with("20000 bad lines"));
        // Told as soon as there is something else to tell.
        let told = || server.log().contains("more lines of this kind were left out");
        while !told() {
            server.send(&session, "garbage").await;
            client.turn_end(SOON).await;
        }
        let log = server.log();
        assert!(log.len() < LOG_BYTES, "{} bytes of log", log.len());
        assert!(log.contains("the agent sent what is no message") && log.contains("[masked]"), "{log}");
        assert!(!log.contains(SECRET), "the secret is in the log");
        assert!(!log.contains('\u{1b}') && log.contains("\\u{1b}"), "what is hidden is made visible");
        let longest = log.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest < 1000, "a line of {longest} characters");
        if format == "json" {
            let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            assert!(
                lines.into_iter().all(|line| line["level"].is_string() && line["message"].is_string() && line["timestamp"].is_string())
            );
        }
        server.end().await;
    }
}

#[tokio::test]
async fn what_an_agent_says_on_its_way_out_is_masked_too() {
    let server = Rig::default().faulty_agent().env("GITHUB_TOKEN", SECRET).start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, &format!("last_words {SECRET}")).await;
    client.turn_end(SOON).await;
    wait_for("the end of the agent is logged", || server.log().contains("the agent is gone")).await;
    assert!(!server.log().contains(SECRET), "{}", server.log());
    server.end().await;
}
