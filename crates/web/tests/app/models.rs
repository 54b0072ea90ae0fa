//! `GET /api/models`

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

use crate::rig::{Options, Rig};

fn ids(list: &Value) -> Vec<&str> {
    list["models"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_comes_first_then_what_was_used_then_what_the_provider_lists() {
    let rig = Rig::replies([]).await;
    rig.session_with(json!({ "model": "older" })).await;
    rig.session_with(json!({ "model": "newer" })).await;
    let list = rig.get("/api/models").await.json();
    assert_eq!(ids(&list), ["main", "relay", "newer", "older", "coder"]);
    assert_eq!(list["models"][1]["title"], "No main AI: talk directly to the agent");
    assert_eq!((&list["models"][0]["title"], &list["error"]), (&json!("main"), &Value::Null));
    assert_eq!(ids(&rig.get("/api/models").await.json()), ids(&list));
    assert_eq!(rig.model.other_requests().len(), 1, "the provider is asked once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_cannot_be_asked_leaves_the_others_and_says_why() {
    let script = Script::new().route("/v1/models", [Reply::status(401).body("application/json", "{}")]);
    let rig = Rig::start(Options { script, ..Options::default() }).await;
    let list = rig.get("/api/models").await.json();
    assert_eq!(ids(&list), ["main", "relay"]);
    assert!(list["error"].as_str().is_some_and(|error| error.contains("VOXPILOT_MODEL_API_KEY")), "{list}");
}

/// A provider that takes connections and says nothing; each connection is told.
async fn silent_provider() -> (String, Receiver<TcpStream>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = channel(100);
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            sender.send(stream).await.unwrap();
        }
    });
    (endpoint, asked, serving)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_asked_once_however_many_ask_and_hang_up() {
    let (endpoint, mut asked, _serving) = silent_provider().await;
    let rig = Rig::start(Options { endpoint: Some(endpoint), ..Options::default() }).await;
    let _connection = tokio::select! {
        answer = rig.get("/api/models") => panic!("the provider says nothing: {}", answer.text),
        connection = asked.recv() => connection.unwrap(),
    };
    for list in join_all((0..20).map(|_| rig.get("/api/models"))).await {
        let list = list.json();
        assert!(list["error"].as_str().is_some_and(|error| error.contains("has sent nothing")), "{list}");
    }
    assert!(asked.try_recv().is_err(), "the provider was asked again");
}
