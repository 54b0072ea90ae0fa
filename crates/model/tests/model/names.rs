//! What an endpoint lists, and how it fails to.

use std::time::Duration;

use model::{Fault, Model, Settings};
use testkit::model_server::{ModelServer, Reply, Script};

use crate::asking::{KEY, model, settings};

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn an_endpoint_lists_its_models_to_who_has_the_key() {
    let server = ModelServer::start(Script::new());
    assert_eq!(model(settings(&server.base_url())).names(PATIENCE).await.unwrap(), ["main", "coder"]);
    let asked = server.other_requests();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("GET", "/v1/models"));
    let settings = Settings::Endpoint { model: "x".to_owned(), base_url: Some(server.base_url()), api_key: None, provider: None };
    assert_eq!(model(settings).names(PATIENCE).await.unwrap().len(), 2, "a local server has no key to check");
    assert_eq!(Model::new(Settings::Relay).unwrap().names(PATIENCE).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn an_endpoint_that_cannot_list_them_says_why() {
    let replies = [
        Reply::status(401).body("application/json", &format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#)),
        Reply::status(503).body("text/plain", "down"),
        Reply::new().body("text/html", "<html>"),
        Reply::new().body("application/json", "{"),
    ];
    let server = ModelServer::start(Script::new().route("/v1/models", replies));
    let asked = model(settings(&server.base_url()));
    assert!(matches!(asked.names(PATIENCE).await, Err(Fault::Unauthorized { status: 401, .. })));
    assert!(matches!(asked.names(PATIENCE).await, Err(Fault::Unavailable { status: Some(503), .. })));
    for _ in 0..2 {
        let fault = asked.names(PATIENCE).await.unwrap_err();
        assert!(matches!(fault, Fault::Malformed { .. }), "{fault}");
        assert!(!fault.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_or_says_nothing_is_not_waited_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let silent = model(settings(&address)).names(Duration::from_millis(200)).await;
    assert!(matches!(silent, Err(Fault::Stalled { .. })), "{silent:?}");
    drop(listener);
    let gone = model(settings(&address)).names(PATIENCE).await;
    assert!(matches!(gone, Err(Fault::Refused { .. })), "{gone:?}");
}
