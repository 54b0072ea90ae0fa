//! Mode and options of a named Copilot session: set from outside, kept over the death of the process.

use serde_json::{Value, json};

use crate::setup::{Setup, kill_idle_agent, start, start_with};

const PLAN: &str = "https://agentclientprotocol.com/protocol/session-modes#plan";
const AGENT: &str = "https://agentclientprotocol.com/protocol/session-modes#agent";

async fn set(setup: &Setup, body: Value) -> (u16, Value) {
    setup.server.call("PATCH", &format!("/api/sessions/{}/agents/docs", setup.session), Some(body)).await
}

async fn view(setup: &Setup) -> Value {
    setup.get("agents").await["agents"][0].clone()
}

fn mode_option(view: &Value) -> &Value {
    view["options"].as_array().unwrap().iter().find(|option| option["id"] == "mode").map_or(&Value::Null, |option| &option["currentValue"])
}

/// S2-42, S2-43: by the ids that Copilot's own session came with.
/// Holds C32.
#[tokio::test]
async fn c32_plan_mode_is_set_by_its_short_name_and_is_there_again_after_the_agent_was_killed() {
    let mut setup = start().await;
    setup.exchange("docs", "first", "One.").await;
    assert_eq!(view(&setup).await["mode"], AGENT);
    let (status, set) = set(&setup, json!({ "mode": "plan" })).await;
    assert_eq!((status, &set["mode"], &set["wanted"]), (200, &json!(PLAN), &Value::Null), "{set}");
    assert_eq!(mode_option(&set), PLAN);

    kill_idle_agent(&setup).await;
    assert_eq!(view(&setup).await["mode"], PLAN, "known although nothing runs");
    setup.exchange("docs", "second", "Two.").await;
    let after = view(&setup).await;
    assert_eq!((&after["mode"], mode_option(&after), &after["restored"]), (&json!(PLAN), &json!(PLAN), &json!("loaded")), "{after}");
    assert!(after["usage"]["size"].is_u64() && after["title"].is_string(), "{after}");
    setup.end().await;
}

#[tokio::test]
async fn a_mode_that_is_set_while_the_agent_is_gone_is_told_at_the_next_restore_also_by_another_server() {
    let mut setup = start().await;
    setup.exchange("docs", "first", "One.").await;
    kill_idle_agent(&setup).await;
    let (status, set) = set(&setup, json!({ "options": { "mode": PLAN } })).await;
    assert_eq!((status, &set["wanted"]), (200, &json!({ "mode": PLAN })), "{set}");
    setup.kill_server().await;
    setup.restart_server().await;
    assert_eq!(view(&setup).await["wanted"], json!({ "mode": PLAN }));
    setup.exchange("docs", "second", "Two.").await;
    let after = view(&setup).await;
    assert_eq!((&after["mode"], mode_option(&after), &after["wanted"]), (&json!(PLAN), &json!(PLAN), &Value::Null), "{after}");
    setup.end().await;
}

fn allow_all(view: &Value) -> &Value {
    let options = view["options"].as_array().unwrap();
    options.iter().find(|option| option["id"] == "allow_all").map_or(&Value::Null, |option| &option["currentValue"])
}

/// C25: the agent's own "allow all" stays on where a person chose it, over the death of its process, until they choose who is asked.
#[tokio::test]
async fn allow_all_is_respected_where_a_person_chose_it() {
    let mut setup = start_with(testkit::model_server::Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    setup.exchange("docs", "first", "One.").await;
    assert_eq!(allow_all(&view(&setup).await), "off");
    let (status, set) = set(&setup, json!({ "options": { "allow_all": "on" } })).await;
    assert_eq!((status, allow_all(&set)), (200, &json!("on")), "{set}");
    setup.exchange("docs", "second", "Two.").await;
    kill_idle_agent(&setup).await;
    setup.exchange("docs", "third", "Three.").await;
    assert_eq!(allow_all(&view(&setup).await), "on");
    let path = format!("/api/sessions/{}", setup.session);
    let (status, denied) = setup.server.call("PATCH", &path, Some(json!({ "permission_policy": "deny" }))).await;
    assert_eq!(status, 200, "{denied}");
    setup.exchange("docs", "fourth", "Four.").await;
    assert_eq!(allow_all(&view(&setup).await), "off");
    let (status, refused) = self::set(&setup, json!({ "options": { "allow_all": "on" } })).await;
    assert_eq!(status, 422, "{refused}");
    setup.end().await;
}

#[tokio::test]
async fn what_copilot_does_not_offer_is_refused_by_name() {
    let mut setup = start().await;
    setup.exchange("docs", "first", "One.").await;
    let cases = [
        (json!({ "mode": "dream" }), "`dream` is not a value of `mode`"),
        (json!({ "options": { "speed": "high" } }), "no option `speed`"),
    ];
    for (body, named) in cases {
        let (status, refused) = set(&setup, body).await;
        assert_eq!(status, 422, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(named), "{refused}");
    }
    assert_eq!(view(&setup).await["mode"], AGENT);
    setup.end().await;
}
