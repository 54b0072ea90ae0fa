//! `GET /api/openapi.json`

use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn it_describes_the_calls_of_the_contract_and_the_events() {
    let rig = Rig::replies([]).await;
    let document = rig.get("/api/openapi.json").await.json();
    let calls = [
        ("/api/health", &["get"][..]),
        ("/api/sessions", &["get", "post"]),
        ("/api/sessions/{id}", &["get", "patch", "delete"]),
        ("/api/sessions/{id}/stream", &["get"]),
        ("/api/sessions/{id}/messages", &["get", "post"]),
        ("/api/sessions/{id}/queue", &["get"]),
        ("/api/sessions/{id}/queue/{message_id}", &["patch", "delete"]),
        ("/api/sessions/{id}/queue/send-next", &["post"]),
        ("/api/sessions/{id}/cancel", &["post"]),
        ("/api/sessions/{id}/confirm", &["post"]),
        ("/api/sessions/{id}/permissions/{request_id}", &["post"]),
        ("/api/sessions/{id}/agents", &["get"]),
        ("/api/agents", &["get"]),
        ("/api/agents/{id}/login", &["post"]),
        ("/api/artifacts/{id}", &["get"]),
    ];
    for (path, methods) in calls {
        for method in methods {
            let call = &document["paths"][path][method];
            assert!(call.is_object(), "{method} {path} is not described");
            assert!(call["responses"].as_object().is_some_and(|responses| !responses.is_empty()), "{method} {path}");
        }
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in ["Event", "Message", "ToolResult", "CopilotDelta", "PermissionRequest", "Turn", "ErrorBody", "SessionView"] {
        assert!(schemas.contains_key(name), "{name} is not described");
    }
    let events = document["components"]["schemas"]["Event"].to_string();
    for kind in
        ["text-delta", "superseded", "tool-confirm", "copilot-done", "agent-update", "permission-resolved", "review-artifact", "ready"]
    {
        assert!(events.contains(&format!("\"{kind}\"")), "{kind} is not described");
    }
    assert_eq!(serde_json::from_str::<serde_json::Value>(&web::openapi_document()).unwrap(), document);
    // One that is named and missing makes the whole useless to whoever makes types from it.
    let text = web::openapi_document();
    for rest in text.split("\"#/components/schemas/").skip(1) {
        let name = rest.split('"').next().unwrap_or_default();
        assert!(schemas.contains_key(name), "{name} is named and not described");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_described_that_does_not_exist() {
    let rig = Rig::replies([]).await;
    let document = rig.get("/api/openapi.json").await.json();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let path = path
                .replace("{id}", "00000000-0000-0000-0000-000000000000")
                .replace("{message_id}", "x")
                .replace("{request_id}", "x")
                .replace("{name}", "x")
                // A stream that is opened has no end; one that is refused has.
                .replace("/api/stream", "/api/stream?s=nobody");
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = rig.send(method.clone(), &path, None).await;
            assert!(!answer.text.contains("there is no such call") && answer.status != 405, "{method} {path}: {}", answer.text);
        }
    }
}
