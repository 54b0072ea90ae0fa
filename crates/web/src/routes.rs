//! The calls of the contract, one file a resource; and for every call, in one table, who may make it and how the audit log names
//! it. A call that is not in the table is for the owner alone, and fails a test.

pub(crate) mod agents;
pub(crate) mod artifacts;
pub(crate) mod attachments;
pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod conversations;
pub(crate) mod devices;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod login;
pub(crate) mod main_ai;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod push;
pub(crate) mod queue;
pub(crate) mod reach;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod stream;
pub(crate) mod trace;
pub(crate) mod trust;
pub(crate) mod turn;

use axum::http::Method;

/// Who may make a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    Anybody,
    /// Every device, by its cookie alone: the page itself, which is not yet able to show its key.
    Page,
    /// Every device, also one whose page has lost its key: it says so itself what that means.
    Device,
    /// Every device, and programs with the token.
    Reader,
    /// Full devices, and programs with the token.
    Owner,
    /// Those, and agents with the token that is made for them.
    Delegator,
    /// Every device, and programs with the token or with the one that opens nothing else.
    Scraper,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    method: &'static str,
    path: &'static str,
    pub(crate) who: Who,
    /// How the audit log names it once it has worked.
    pub(crate) action: Option<&'static str>,
}

const fn call(method: &'static str, path: &'static str, who: Who) -> Call {
    Call { method, path, who, action: None }
}

/// What only the owner may do, and what is told of it.
const fn act(method: &'static str, path: &'static str, action: &'static str) -> Call {
    Call { method, path, who: Who::Owner, action: Some(action) }
}

const UNKNOWN: Call = call("", "", Who::Owner);

const CALLS: &[Call] = &[
    call("GET", "/", Who::Page),
    call("GET", "/{*path}", Who::Page),
    // Both tell the audit log themselves: only they know whom they let in.
    call("GET", "/login", Who::Anybody),
    call("POST", "/login", Who::Anybody),
    call("GET", "/login.css", Who::Anybody),
    call("GET", "/login.js", Who::Anybody),
    call("GET", "/faces/{name}", Who::Anybody),
    // What a browser fetches by itself to install the page, without its cookie; there is nothing of anybody's in it.
    call("GET", "/manifest.webmanifest", Who::Anybody),
    call("GET", "/sw.js", Who::Anybody),
    call("GET", "/favicon.ico", Who::Anybody),
    call("GET", "/icons/{*path}", Who::Anybody),
    call("GET", "/api/health", Who::Anybody),
    call("GET", "/api/openapi.json", Who::Reader),
    call("GET", "/api/sessions", Who::Reader),
    act("POST", "/api/sessions", "session-created"),
    call("GET", "/api/sessions/{id}", Who::Reader),
    act("PATCH", "/api/sessions/{id}", "session-changed"),
    act("DELETE", "/api/sessions/{id}", "session-deleted"),
    call("GET", "/api/sessions/{id}/stream", Who::Reader),
    call("GET", "/api/stream", Who::Reader),
    call("GET", "/api/search", Who::Reader),
    call("GET", "/api/models", Who::Reader),
    call("GET", "/api/sessions/{id}/messages", Who::Reader),
    act("POST", "/api/sessions/{id}/messages", "prompt"),
    call("GET", "/api/sessions/{id}/messages/{message_id}", Who::Reader),
    call("GET", "/api/sessions/{id}/attachments/{attachment_id}", Who::Reader),
    call("GET", "/api/sessions/{id}/files", Who::Reader),
    call("GET", "/api/sessions/{id}/files/view", Who::Reader),
    call("GET", "/api/sessions/{id}/files/picture", Who::Reader),
    // It only asks; there may be too many paths for an address.
    call("POST", "/api/sessions/{id}/files/viewable", Who::Reader),
    call("GET", "/api/sessions/{id}/changes", Who::Reader),
    call("GET", "/api/sessions/{id}/changes/file", Who::Reader),
    call("GET", "/api/sessions/{id}/changes/lines", Who::Reader),
    call("GET", "/api/sessions/{id}/changes/picture", Who::Reader),
    act("POST", "/api/sessions/{id}/changes/revert", "change-reverted"),
    act("POST", "/api/sessions/{id}/changes/undo", "revert-undone"),
    act("POST", "/api/sessions/{id}/changes/commit", "committed"),
    act("POST", "/api/sessions/{id}/changes/draft", "commit-drafted"),
    call("GET", "/api/project", Who::Reader),
    call("GET", "/api/sessions/{id}/queue", Who::Reader),
    act("PATCH", "/api/sessions/{id}/queue/{message_id}", "queued-prompt-changed"),
    act("DELETE", "/api/sessions/{id}/queue/{message_id}", "queued-prompt-withdrawn"),
    act("POST", "/api/sessions/{id}/queue/{message_id}/now", "queued-prompt-preferred"),
    act("POST", "/api/sessions/{id}/queue/send-next", "queue-continued"),
    act("POST", "/api/sessions/{id}/cancel", "stopped"),
    act("POST", "/api/sessions/{id}/confirm", "tool-answered"),
    act("POST", "/api/sessions/{id}/permissions/{request_id}", "permission-answered"),
    act("DELETE", "/api/sessions/{id}/permissions/{request_id}/held", "denial-undone"),
    call("GET", "/api/sessions/{id}/permission-rules", Who::Reader),
    act("DELETE", "/api/sessions/{id}/permission-rules/{rule_id}", "rule-revoked"),
    call("GET", "/api/sessions/{id}/agents", Who::Reader),
    act("PATCH", "/api/sessions/{id}/agents/{name}", "agent-changed"),
    // The raw traffic may hold what nobody thought of masking.
    call("GET", "/api/sessions/{id}/trace", Who::Owner),
    call("GET", "/api/sessions/{id}/trace/capture", Who::Owner),
    call("GET", "/api/sessions/{id}/trace/{runner}/{seq}", Who::Owner),
    call("GET", "/api/agents", Who::Reader),
    // It starts the agent.
    call("POST", "/api/agents/{id}/sessions", Who::Owner),
    act("POST", "/api/agents/{id}/npx", "agent-npx"),
    act("POST", "/api/agents/{id}/login", "agent-login"),
    act("POST", "/api/agents/{id}/logout", "agent-logout"),
    act("POST", "/api/agents/{id}/test", "agent-tested"),
    act("POST", "/api/agents/{id}/install", "agent-installed"),
    act("DELETE", "/api/agents/{id}/chore", "agent-chore-stopped"),
    call("GET", "/api/conversations", Who::Reader),
    // It starts agents.
    call("POST", "/api/conversations", Who::Owner),
    call("GET", "/api/artifacts/{id}", Who::Reader),
    call("PUT", "/api/artifacts/{id}/viewed", Who::Owner),
    call("POST", "/api/artifacts/{id}/comments", Who::Owner),
    call("PATCH", "/api/artifacts/{id}/comments/{comment_id}", Who::Owner),
    call("DELETE", "/api/artifacts/{id}/comments/{comment_id}", Who::Owner),
    act("POST", "/api/artifacts/{id}/submit", "prompt"),
    call("GET", "/api/sessions/{id}/review", Who::Reader),
    call("PUT", "/api/sessions/{id}/review/viewed", Who::Owner),
    call("POST", "/api/sessions/{id}/review/comments", Who::Owner),
    call("PATCH", "/api/sessions/{id}/review/comments/{comment_id}", Who::Owner),
    call("DELETE", "/api/sessions/{id}/review/comments/{comment_id}", Who::Owner),
    act("POST", "/api/sessions/{id}/review/submit", "prompt"),
    call("GET", "/api/devices", Who::Reader),
    act("PATCH", "/api/devices/{device_id}", "device-renamed"),
    act("DELETE", "/api/devices/{device_id}", "device-revoked"),
    act("POST", "/api/devices/link", "link-made"),
    call("POST", "/api/devices/key", Who::Device),
    call("POST", "/api/logout", Who::Device),
    call("GET", "/api/server", Who::Reader),
    act("PATCH", "/api/server", "policy-chosen"),
    // It says where things lie on the server.
    call("GET", "/api/settings", Who::Owner),
    act("PATCH", "/api/settings", "settings-changed"),
    call("GET", "/api/main-ai", Who::Owner),
    // Only a device on a safe address may send a key, which the calls see to themselves. They ask the provider, and end with whoever asks.
    call("POST", "/api/main-ai/models", Who::Owner),
    call("POST", "/api/main-ai/test", Who::Owner),
    act("PUT", "/api/main-ai", "main-ai-set"),
    act("DELETE", "/api/main-ai", "main-ai-removed"),
    // Whoever watches may be told. Both tell the audit log themselves, since they are not the owner's alone.
    call("GET", "/api/push", Who::Reader),
    call("PUT", "/api/push", Who::Reader),
    call("DELETE", "/api/push", Who::Reader),
    call("POST", "/api/push/test", Who::Reader),
    call("GET", "/api/audit", Who::Owner),
    // It says where the server is found.
    call("GET", "/api/reach", Who::Owner),
    call("GET", "/api/reach/check", Who::Owner),
    act("PUT", "/api/reach/network", "network-opened"),
    act("DELETE", "/api/reach/network", "network-closed"),
    call("GET", "/api/trust", Who::Reader),
    act("POST", "/api/trust", "project-trusted"),
    act("DELETE", "/api/trust", "project-trust-revoked"),
    call("GET", "/metrics", Who::Scraper),
    // Its tools tell the audit log themselves: only they know what was done.
    call("POST", "/mcp", Who::Delegator),
];

/// What the table says of a request; `route` is the path as the router has it.
pub(crate) fn find(method: &Method, route: Option<&str>, path: &str) -> Call {
    // The page's own catch-all also matches calls that do not exist.
    if path.starts_with("/api/") && route.is_none_or(|route| !route.starts_with("/api/")) {
        return UNKNOWN;
    }
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    // There every method is one of the protocol's, which refuses those that it has no use for.
    let found = CALLS.iter().find(|call| (call.method == method || call.who == Who::Delegator) && Some(call.path) == route);
    found.copied().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Vec<(String, String)> {
        let document: serde_json::Value = serde_json::from_str(&crate::openapi_document()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let calls =
            paths.iter().flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone())));
        calls.collect()
    }

    #[test]
    fn every_call_says_who_may_make_it() {
        let missing: Vec<_> =
            described().into_iter().filter(|(method, path)| !CALLS.iter().any(|call| (call.method, call.path) == (method, path))).collect();
        assert!(missing.is_empty(), "not in the table of calls: {missing:?}");
    }

    #[test]
    fn the_table_names_nothing_that_does_not_exist() {
        let described = described();
        let pages = ["/", "/{*path}", "/login", "/login.css", "/login.js", "/faces/{name}", "/api/openapi.json"];
        let app = ["/manifest.webmanifest", "/sw.js", "/favicon.ico", "/icons/{*path}"];
        let outside = [&pages[..], &app[..]].concat();
        for call in CALLS.iter().filter(|call| !outside.contains(&call.path)) {
            assert!(described.contains(&(call.method.to_owned(), call.path.to_owned())), "{} {}", call.method, call.path);
        }
    }

    #[test]
    fn whatever_changes_something_is_told_in_the_audit_log() {
        for call in CALLS.iter().filter(|call| call.method != "GET" && call.who == Who::Owner) {
            let reads =
                ["/api/agents/{id}/sessions", "/api/conversations", "/api/main-ai/models", "/api/main-ai/test"].contains(&call.path);
            // A mark that something was read and a comment that waits do nothing yet: sending the review is told.
            let notes = call.path.ends_with("/viewed") || call.path.contains("/comments");
            assert!(call.action.is_some() != (reads || notes), "{} {}", call.method, call.path);
        }
    }

    #[test]
    fn what_is_unknown_is_for_the_owner_alone() {
        for (method, route, path) in [
            (Method::GET, Some("/{*path}"), "/api/no-such-call"),
            (Method::PUT, Some("/api/sessions"), "/api/sessions"),
            (Method::POST, None, "/api/sessions/x"),
        ] {
            assert_eq!(find(&method, route, path).who, Who::Owner, "{method} {path}");
        }
        assert_eq!(find(&Method::HEAD, Some("/"), "/").who, Who::Page);
    }
}
