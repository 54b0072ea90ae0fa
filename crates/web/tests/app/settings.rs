//! `/api/settings`: what the web side does with what the server was started with; which settings there are is known to the binary.

use std::sync::Arc;

use domain::policy::Policy;
use engine::Choices;
use serde_json::{Value, json};
use web::{Configuration, Here, OriginKind, SettingKind, SettingOrigin, SettingRefusal, SettingView};

use crate::rig::Rig;

const KEY: &str = "permission_policy";

/// One setting that can be chosen, and one that cannot.
pub(crate) fn policy_alone(choices: Choices) -> Configuration {
    let list = |here: &Here| vec![view(here.get(KEY))];
    let change = move |here: &Here, wishes: &serde_json::Map<String, Value>| {
        let mut after = here.clone();
        for (key, value) in wishes {
            match (key.as_str(), value.as_str()) {
                (KEY, Some(text)) if text.parse::<Policy>().is_ok() => drop(after.insert(KEY.to_owned(), text.to_owned())),
                (KEY, None) if value.is_null() => drop(after.remove(KEY)),
                (KEY, _) => return Err(SettingRefusal::Bad("`permission_policy` has a bad value".to_owned())),
                ("bind", _) => return Err(SettingRefusal::Fixed("`bind` cannot be changed here".to_owned())),
                _ => return Err(SettingRefusal::Unknown(format!("there is no setting `{key}`"))),
            }
        }
        let chosen_policy = after.get(KEY).and_then(|text| text.parse().ok());
        Ok((after, Choices { chosen_policy, ..choices.clone() }))
    };
    let none = |_: &Here, _: Option<web::NewMainAi>| Err(SettingRefusal::Fixed("there is no such file here".to_owned()));
    Configuration {
        list: Arc::new(list),
        change: Arc::new(change),
        main_ai: Arc::new(web::MainAiState::default),
        set_main_ai: Arc::new(none),
    }
}

fn view(chosen: Option<&String>) -> SettingView {
    SettingView {
        key: KEY.to_owned(),
        title: "Permission policy".to_owned(),
        about: "Who decides.".to_owned(),
        section: "Permissions".to_owned(),
        kind: SettingKind::Choice,
        choices: vec!["ask".to_owned(), "auto".to_owned()],
        unit: None,
        value: chosen.map_or(Value::Null, |text| Value::from(text.as_str())),
        default: Value::Null,
        effective: chosen.map_or(json!("auto"), |text| Value::from(text.as_str())),
        variable: "VOXPILOT_PERMISSION_POLICY".to_owned(),
        origin: SettingOrigin { kind: if chosen.is_some() { OriginKind::Here } else { OriginKind::Default }, name: None },
        locked: false,
        changeable: true,
        restart: false,
    }
}

async fn listed(rig: &Rig) -> Value {
    rig.get("/api/settings").await.json()["settings"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_chosen_here_holds_at_once_and_can_be_taken_back() {
    let rig = Rig::replies([]).await;
    let before = listed(&rig).await;
    assert_eq!((&before["key"], &before["value"], &before["origin"]), (&json!(KEY), &json!(null), &json!({ "kind": "default" })));
    assert_eq!(rig.patch("/api/settings", json!({ KEY: "deny" })).await.status, 204);
    let chosen = listed(&rig).await;
    assert_eq!((&chosen["value"], &chosen["origin"]["kind"]), (&json!("deny"), &json!("here")));
    let server = rig.get("/api/server").await.json();
    assert_eq!(
        (&server["permission_policy"], &server["relay_policy"]),
        (&json!("deny"), &json!("deny")),
        "stricter also for a direct chat"
    );
    assert_eq!(rig.patch("/api/settings", json!({ KEY: null })).await.status, 204);
    assert_eq!(listed(&rig).await, before);
    assert_eq!(rig.get("/api/server").await.json()["permission_policy"], "auto");
    assert_eq!(rig.engine.store().preference(KEY).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_changes_all_are_made_or_none() {
    let rig = Rig::replies([]).await;
    rig.patch("/api/settings", json!({ KEY: "ask", "bind": "0.0.0.0:1" })).await.refuses(409, "conflict");
    rig.patch("/api/settings", json!({ KEY: "ask", "nonsense": 1 })).await.refuses(422, "invalid");
    rig.patch("/api/settings", json!({ KEY: "perhaps" })).await.refuses(422, "invalid");
    rig.patch("/api/settings", json!([])).await.refuses(422, "invalid");
    assert_eq!(listed(&rig).await["value"], Value::Null);
}

/// The choice in the welcome page is the same as the one in the settings.
#[tokio::test(flavor = "multi_thread")]
async fn the_policy_is_chosen_in_one_place() {
    let rig = Rig::replies([]).await;
    assert_eq!(rig.patch("/api/server", json!({ "permission_policy": "ask" })).await.status, 204);
    assert_eq!(listed(&rig).await["value"], "ask");
}
