//! Redirects: the key and the conversation stay at the origin that was configured.

use std::time::Duration;

use model::{Fault, Provider};
use testkit::model_server::{ModelServer, Reply, Script};

use crate::asking::{KEY, ask_model, model, provider, says, settings};

const PATIENCE: Duration = Duration::from_secs(60);
const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

/// Each dialect with the paths of its chat and of its list of models.
const DIALECTS: [(Provider, &str, &str); 4] = [
    (Provider::OpenAi, "/v1/chat/completions", "/v1/models"),
    (Provider::Anthropic, "/v1/messages", "/v1/models"),
    (Provider::Gemini, "/v1/models/main:streamGenerateContent?alt=sse", "/v1/models"),
    (Provider::Ollama, "/v1/api/chat", "/v1/api/tags"),
];

fn redirect(status: u16, location: &str) -> Reply {
    Reply::status(status).header("location", location).body("text/plain", "moved")
}

fn assert_refused(fault: &Fault, to: &str) {
    assert!(matches!(fault, Fault::Redirected { to: named, .. } if named == to), "{fault:?}");
    assert_eq!(fault.code(), "model_redirected");
    let message = fault.to_string();
    assert!(message.contains(to) && !message.contains(KEY) && !message.contains("hidden"), "{message}");
}

#[tokio::test]
async fn no_dialect_sends_key_or_conversation_to_another_host() {
    for (of, chat, list) in DIALECTS {
        for status in STATUSES {
            let thief = ModelServer::start(Script::rules(|_| Reply::text("stolen")));
            let to = format!("127.0.0.1:{}", thief.port());
            let location = format!("http://{to}/hidden?x=1");
            let script = Script::new().route(chat, [redirect(status, &location)]).route(list, [redirect(status, &location)]);
            let server = ModelServer::start(script);
            let model = model(provider(of, &server.base_url()));
            let heard = ask_model(&model, says("a secret plan")).await;
            assert_refused(heard.fault(), &to);
            assert_refused(&model.names(PATIENCE).await.unwrap_err(), &to);
            assert!(thief.requests().is_empty() && thief.other_requests().is_empty(), "{of} {status}: {:?}", thief.other_requests());
            assert_eq!(server.other_requests().len(), 2, "{of} {status}: nothing is tried again");
        }
    }
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_the_conversation() {
    let script = Script::new().route("/old/chat/completions", [redirect(307, "/mid"), redirect(308, "/mid")]);
    let server = ModelServer::start(
        script.route("/mid", [redirect(308, "v1/chat/completions"), redirect(307, "v1/chat/completions")]).otherwise(|_| Reply::text("ok")),
    );
    let model = model(settings(&format!("http://127.0.0.1:{}/old", server.port())));
    for _ in 0..2 {
        assert_eq!(ask_model(&model, says("hi")).await.completion().text, "ok");
    }
    let last = server.requests().pop().unwrap();
    assert_eq!((last.last_user(), last.header("authorization").unwrap()), ("hi".to_owned(), format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn a_chain_that_leaves_the_origin_is_broken_where_it_leaves() {
    let thief = ModelServer::start(Script::rules(|_| Reply::text("stolen")));
    let to = format!("127.0.0.1:{}", thief.port());
    let script = Script::new().route("/v1/chat/completions", [redirect(307, "/a")]).route("/a", [redirect(308, "/b")]);
    let server = ModelServer::start(script.route("/b", [redirect(307, &format!("//{to}/v1/chat/completions"))]));
    let heard = ask_model(&model(settings(&server.base_url())), says("hi")).await;
    assert_refused(heard.fault(), &to);
    assert!(thief.requests().is_empty() && thief.other_requests().is_empty());
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let script = Script::new().route("/v1/chat/completions", std::iter::repeat_n(redirect(307, "/v1/chat/completions"), 100));
    let server = ModelServer::start(script);
    let heard = ask_model(&model(settings(&server.base_url())), says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Redirected { .. }), "{:?}", heard.fault());
    assert!(server.other_requests().len() < 20, "{}", server.other_requests().len());
}

#[tokio::test]
async fn an_address_with_another_name_port_or_password_is_another_place() {
    for location in [
        "http://localhost:{port}/v1/chat/completions",
        "http://127.0.0.1:1/v1/chat/completions",
        "https://127.0.0.1:{port}/v1/chat/completions",
        "http://me:hidden@127.0.0.1:{port}/v1/chat/completions",
        "http://127.0.0.1.example:{port}/",
        "//[::1]:{port}/v1/chat/completions",
    ] {
        let script = Script::new().route("/asked/chat/completions", []);
        let server = ModelServer::start(script);
        let location = location.replace("{port}", &server.port().to_string());
        server.push("/asked/chat/completions", redirect(307, &location));
        let heard = ask_model(&model(settings(&format!("http://127.0.0.1:{}/asked", server.port()))), says("hi")).await;
        assert!(matches!(heard.fault(), Fault::Redirected { .. }), "{location}: {:?}", heard.fault());
        assert!(!heard.fault().to_string().contains("hidden"), "{}", heard.fault());
        assert_eq!(server.requests().len(), 0, "{location}");
    }
}

/// What the library of the client makes of an odd address is not what a browser makes of it: whatever it is, nothing gets out.
#[tokio::test]
async fn oddly_written_addresses_lead_nowhere() {
    for location in [
        "\\\\{to}/v1/chat/completions",
        "/\\{to}/v1/chat/completions",
        "http:\\\\{to}/v1/chat/completions",
        "http:{to}/v1/chat/completions",
        "http:/{to}/v1/chat/completions",
        "http:///{to}/v1/chat/completions",
        "http://{own}\\@{to}/v1/chat/completions",
        "http://{own}@{to}/v1/chat/completions",
        "http://{to}#@{own}/",
        "http://{to}?@{own}/",
        "http://{to}%2f@{own}/",
        "//{to}",
        " //{to}",
        "\thttp://{to}/",
        "HTTP://{to}/",
        "http://0177.0.0.1:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f000001:{port}/",
        "http://127.1:{port}/",
        "http://localhost.:{port}/",
    ] {
        let thief = ModelServer::start(Script::rules(|_| Reply::text("stolen")));
        let server = ModelServer::start(Script::new().route("/v1/chat/completions", []));
        let [to, own] = [&thief, &server].map(|server| format!("127.0.0.1:{}", server.port()));
        let location = location.replace("{to}", &to).replace("{own}", &own).replace("{port}", &thief.port().to_string());
        server.push("/v1/chat/completions", redirect(307, &location));
        let heard = ask_model(&model(settings(&server.base_url())), says("hi")).await;
        assert!(heard.outcome.is_err(), "{location}");
        assert!(thief.requests().is_empty() && thief.other_requests().is_empty(), "{location}");
    }
}
