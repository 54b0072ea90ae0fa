use demo_agent::{CwdPolicy, Pace};
use serde_json::json;

use crate::client::Home;

#[test]
fn initialize_says_what_it_can() {
    let home = Home::new();
    let mut client = home.agent();
    let result = &client.call("initialize", json!({ "protocolVersion": 99, "clientCapabilities": {} })).answer["result"];
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    assert_eq!(result["agentCapabilities"]["sessionCapabilities"], json!({ "list": {}, "resume": {}, "close": {}, "delete": {} }));
    assert_eq!(result["agentInfo"]["name"], "demo-agent");
    assert_eq!(result["authMethods"], json!([]));
}

#[test]
fn errors_have_the_right_codes() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let nobody = "00000000-0000-4000-8000-000000000000";
    let text = json!([{ "type": "text", "text": "x" }]);
    for (method, params, code) in [
        ("session/fork", json!({}), -32601),
        ("session/cancel", json!({ "sessionId": session }), -32601),
        ("session/new", json!({}), -32602),
        ("session/new", json!({ "cwd": "relative" }), -32602),
        ("session/new", json!({ "cwd": "/no/such/directory" }), -32602),
        ("session/prompt", json!({ "sessionId": session }), -32602),
        ("session/prompt", json!({ "prompt": text }), -32602),
        ("session/prompt", json!({ "sessionId": nobody, "prompt": text }), -32002),
        ("session/load", json!({ "sessionId": nobody, "cwd": home.work }), -32002),
        ("session/load", json!({ "sessionId": "../x", "cwd": home.work }), -32002),
        ("session/load", json!({ "sessionId": session, "cwd": home.work }), -32602),
        ("session/resume", json!({ "sessionId": session, "cwd": home.work }), -32602),
        ("session/close", json!({ "sessionId": nobody }), -32002),
        ("session/delete", json!({ "sessionId": nobody }), -32002),
        ("session/set_mode", json!({ "sessionId": session, "modeId": "turbo" }), -32602),
        ("session/set_config_option", json!({ "sessionId": session, "configId": "x", "value": "y" }), -32602),
        ("session/list", json!({ "cursor": "nonsense" }), -32602),
    ] {
        let outcome = client.call(method, params.clone());
        assert_eq!(outcome.error_code(), code, "{method} {params}");
    }
}

#[test]
fn bad_lines_are_answered_and_survived() {
    let home = Home::new();
    let mut client = home.agent();
    client.raw(b"");
    client.raw(b"this is not JSON \xff");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.raw(br#"{"id":5,"method":"initialize"}"#);
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
    client.notify("no/such/notification", json!({}));
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }));
    assert_eq!(client.call("initialize", json!({})).answer["result"]["protocolVersion"], 1);
}

#[test]
fn a_busy_session_refuses_a_second_prompt_and_goes_on() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Normal, CwdPolicy::AnyDirectory);
    let session = client.new_session(&home.work);
    let first = client.start_prompt(&session, "count to 20");
    let second = client.start_prompt(&session, "count to 2");
    let refused = client.finish(second, "unused");
    assert_eq!(refused.error_code(), -32602);
    assert!(refused.answer["error"]["message"].as_str().unwrap().contains("session is busy"));
    let rest = client.finish(first, "unused");
    assert_eq!(format!("{}{}", refused.text(), rest.text()).split(' ').count(), 20);
}

/// S2-42, S2-43: modes and options are set by the ids that the session came with.
#[test]
fn modes_and_options_change_and_are_announced() {
    let home = Home::new();
    let mut client = home.agent();
    let made = client.call("session/new", json!({ "cwd": home.work, "mcpServers": [] }));
    let result = &made.answer["result"];
    assert_eq!(result["modes"]["currentModeId"], "agent");
    assert_eq!(result["configOptions"][1]["currentValue"], "fast");
    let session = result["sessionId"].as_str().unwrap();
    let commands = client.next();
    assert_eq!(commands["params"]["update"]["sessionUpdate"], "available_commands_update");

    let changed = client.call("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    assert_eq!(changed.updates("current_mode_update")[0]["currentModeId"], "plan");
    assert_eq!(changed.updates("config_option_update")[0]["configOptions"][0]["currentValue"], "plan");
    let changed = client.call("session/set_config_option", json!({ "sessionId": session, "configId": "mode", "value": "agent" }));
    assert_eq!(changed.answer["result"]["configOptions"][0]["currentValue"], "agent");
    let changed = client.call("session/set_config_option", json!({ "sessionId": session, "configId": "pace", "value": "slow" }));
    assert_eq!(changed.answer["result"]["configOptions"][1]["currentValue"], "slow");
}

#[test]
fn a_policy_keeps_sessions_inside_a_directory() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Fast, CwdPolicy::Within(home.work.clone()));
    let outside = client.call("session/new", json!({ "cwd": "/", "mcpServers": [] }));
    assert_eq!(outside.error_code(), -32602);
    client.new_session(&home.work);
}
