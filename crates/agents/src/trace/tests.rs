#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

fn record(seq: u64, line: &str) -> Record {
    Record { seq, time_ms: 1_000 + seq, body: Body::FromAgent(Bytes::copy_from_slice(line.as_bytes())) }
}

fn shown(mask: &Mask, line: &str) -> String {
    Entry::read(&record(1, line), mask).payload.text().to_owned()
}

#[test]
fn a_line_without_secrets_is_shown_as_it_is() {
    for line in
        [r#"{ "jsonrpc":"2.0", "id": 1.0,  "result": null }"#, "npm WARN", r#"{"tokens":{"inputTokens":3}}"#, "sk-short ghp_x task-force"]
    {
        assert_eq!(shown(&Mask::default(), line), line);
    }
}

#[test]
fn secrets_are_masked_by_value_by_name_and_by_shape() {
    let mask = Mask::new(["hunter2hunter2".to_owned(), "abc".to_owned()]);
    let pat = format!("github_pat_{}", "A1b2_".repeat(8));
    let classic = format!("gho_{}", "a1B2".repeat(9));
    let line = json!({
        "method": "session/new",
        "params": {
            "mcpServers": [
                { "name": "a", "env": [{ "name": "KEY", "value": "env-value" }], "args": ["--key=hunter2hunter2", "abc"] },
                { "name": "b", "headers": [{ "name": "X-Any", "value": "header-value" }] },
                { "name": "c", "env": { "KEY": "map-value" } },
            ],
            "Authorization": "Basic Zm9vOmJhcg==",
            "accessToken": "access-value",
            "client_secret": "client-value",
            "text": format!("use {pat}, {classic} or sk-proj-0123456789abcdef; Authorization: Bearer eyJhbGciOi.x-y"),
        },
    });
    let shown = shown(&mask, &line.to_string());
    for secret in [
        "env-value",
        "header-value",
        "map-value",
        "hunter2",
        "Zm9v",
        "access-value",
        "client-value",
        "A1b2",
        "a1B2",
        "0123456789abcdef",
        "eyJ",
    ] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let value: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(value["params"]["mcpServers"][0]["args"], json!(["--key=[masked]", "abc"]), "a value that is too short is left");
    assert_eq!(value["params"]["text"], "use [masked], [masked] or [masked]; Authorization: [masked]");
    assert_eq!(value["params"]["mcpServers"][0]["name"], "a");
}

#[test]
fn secrets_in_text_that_is_no_json_are_masked_too() {
    let mask = Mask::new(["hunter2hunter2".to_owned()]);
    assert_eq!(shown(&mask, "login with hunter2hunter2 failed"), "login with [masked] failed");
    let half = r#"{"method":"x","params":{"token":"ghp_abcdefghijklmnopqrstuvwxyz"#;
    assert!(!shown(&mask, half).contains("abcdef"));
    let exit = Body::Exit { code: Some(1), signal: None, stderr_tail: "bad token hunter2hunter2".to_owned() };
    let entry = Entry::read(&Record { seq: 1, time_ms: 0, body: exit }, &mask);
    assert!(!entry.payload.text().contains("hunter2"), "{entry:?}");
}

#[test]
fn a_secret_cannot_be_found_out_by_searching_for_it() {
    let mask = Mask::new(["hunter2hunter2".to_owned()]);
    let record = record(1, r#"{"method":"say","params":"hunter2hunter2"}"#);
    let fits = |text: &str| Filter { text: Some(text.to_owned()), ..Filter::default() }.admit(&record, &mask).is_some();
    assert!(fits("PARAMS") && fits("masked"));
    assert!(!fits("hunter2") && !fits("r2h"));
}

#[test]
fn what_a_line_is_and_belongs_to_is_told() {
    let table = [
        (r#"{"id":"prompt:1","method":"session/prompt"}"#, Kind::Request, Some("session/prompt"), Some("\"prompt:1\"")),
        (r#"{"method":"session/update"}"#, Kind::Notification, Some("session/update"), None),
        (r#"{"id":0,"result":null}"#, Kind::Response, None, Some("0")),
        (r#"{"id":0,"error":{"code":1,"message":"no"}}"#, Kind::Error, None, Some("0")),
        (r#"[{"id":0,"result":1}]"#, Kind::Batch, None, None),
        ("{", Kind::Text, None, None),
        ("42", Kind::Text, None, None),
    ];
    for (line, kind, method, id) in table {
        let entry = Entry::read(&record(1, line), &Mask::default());
        let found = (entry.kind, entry.method.as_deref(), entry.id.map(|id| id.to_string()));
        assert_eq!(found, (kind, method, id.map(str::to_owned)), "{line}");
    }
}

#[test]
fn a_capture_line_says_when_who_and_what() {
    let entry = |body| Entry::read(&Record { seq: 1, time_ms: 3_045, body }, &Mask::default()).captured(1_000);
    let line = |text: &'static str| Bytes::from_static(text.as_bytes());
    assert_eq!(entry(Body::FromAgent(line(r#"{"a":1}"#))), "{\"t\":2.045,\"dir\":\"<\",\"msg\":{\"a\":1}}\n");
    assert_eq!(
        entry(Body::ToAgent { write_id: Uuid::nil(), line: line("x\"") }),
        "{\"t\":2.045,\"dir\":\">\",\"msg\":\"x\\\"\",\"raw\":true}\n"
    );
    assert_eq!(entry(Body::Notice("full".to_owned())), "{\"t\":2.045,\"dir\":\"#\",\"msg\":{\"notice\":\"full\"}}\n");
}
