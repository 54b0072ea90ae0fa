//! Every kind of line that we send, against the schema of the tested version.

use serde_json::{Value, json};

use crate::schema::Schema;

/// As it stands on the wire, without the version of JSON-RPC, which the program leaves out and does not mind.
pub(crate) fn check(line: &Value) {
    let mut line = line.clone();
    line.as_object_mut().unwrap().remove("jsonrpc");
    let schema = if line.get("id").is_some() { "request" } else { "notification" };
    Schema::of(schema).check(&line).unwrap_or_else(|why| panic!("{why}\n{line}"));
}

/// What answers a request of the program's.
pub(crate) fn check_answer(method: &str, line: &Value) {
    Schema::of(method).check(&line["result"]).unwrap_or_else(|why| panic!("{why}\n{line}"));
}

/// The lines that a connection does not send in the other tests.
#[test]
fn what_is_seldom_sent_is_right_too() {
    use agents::codex::request;
    let pages = [
        (request::LIST, request::list(None, None)),
        (request::LIST, request::list(Some("/w".as_ref()), Some("c"))),
        (request::HISTORY, request::history("t", Some("c"))),
        (request::CLOSE, request::thread("t")),
        (request::DELETE, request::thread("t")),
        (request::LOGOUT, Value::Null),
    ];
    for (method, params) in pages {
        check(&json!({ "id": "a", "method": method, "params": params }));
    }
    let stdio = agents::McpServer {
        name: "files".to_owned(),
        transport: agents::Transport::Stdio {
            command: "/bin/mcp".into(),
            args: vec!["-x".to_owned()],
            env: vec![("A".to_owned(), "b".to_owned())],
        },
    };
    let http = agents::McpServer {
        name: "web".to_owned(),
        transport: agents::Transport::Http { url: "http://127.0.0.1:1/".to_owned(), headers: vec![("X-Key".to_owned(), "k".to_owned())] },
    };
    let params = request::start("/w".as_ref(), &[stdio, http]);
    assert_eq!(
        params["config"]["mcp_servers"],
        json!({
            "files": { "command": "/bin/mcp", "args": ["-x"], "env": { "A": "b" } },
            "web": { "url": "http://127.0.0.1:1/", "http_headers": { "X-Key": "k" } },
        })
    );
    check(&json!({ "id": "a", "method": request::START, "params": params }));
    check(&json!({ "id": "a", "method": request::RESUME, "params": request::resume("t", "/w".as_ref(), &[]) }));
}
