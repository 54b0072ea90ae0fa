//! Every way in which an endpoint fails, and what the person is told.

use model::{Event, Fault};
use testkit::model_server::{ModelServer, Reply};

use crate::asking::{KEY, ask, ask_model, impatient_model, model, says, settings};

#[tokio::test]
async fn a_refused_key_is_not_tried_again() {
    for status in [401, 403] {
        let body = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
        let server = ModelServer::start([Reply::status(status).body("application/json", &body)]);
        let heard = ask(&server, says("hi")).await;
        assert!(matches!(heard.fault(), Fault::Unauthorized { status: s, .. } if *s == status));
        assert_eq!(server.requests().len(), 1);
        let message = heard.fault().to_string();
        assert!(message.contains(&format!("127.0.0.1:{}", server.port())), "{message}");
        assert!(message.contains("VOXPILOT_MODEL_API_KEY"), "{message}");
        assert_eq!(heard.fault().code(), "model_unauthorized");
    }
}

#[tokio::test]
async fn a_rejected_request_names_the_reason_but_never_the_key() {
    let body = format!(r#"{{"error":{{"message":"model `main`\n is unknown to {KEY}"}}}}"#);
    for status in [400, 404, 422] {
        let server = ModelServer::start([Reply::status(status).body("application/json", &body)]);
        let heard = ask(&server, says("hi")).await;
        let Fault::BadRequest { status: found, detail, .. } = heard.fault() else {
            panic!("{:?}", heard.fault());
        };
        assert_eq!(*found, Some(status));
        assert_eq!(detail, "model `main` is unknown to …");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_page_instead_of_an_error_object_is_cut_short() {
    let page = "<html>".repeat(1000);
    let server = ModelServer::start([Reply::status(400).body("text/html", &page)]);
    let heard = ask(&server, says("hi")).await;
    assert!(heard.fault().to_string().len() < 400);
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_broken_off() {
    let piece = "x".repeat(512 * 1024);
    let server = ModelServer::start([Reply::chunks(std::iter::repeat_n(piece.as_str(), 12))]);
    let heard = ask(&server, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::TooLong { most_mib: 4, .. }), "{:?}", heard.fault());
    assert_eq!(heard.fault().code(), "model_too_long");
    assert_eq!(server.requests().len(), 1, "it is not asked again");
}

#[tokio::test]
async fn silence_before_the_first_word_is_a_stall() {
    let server = ModelServer::start([Reply::new().stall()]);
    let heard = ask_model(&impatient_model(settings(&server.base_url())), says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Stalled { .. }), "{:?}", heard.fault());
    assert_eq!(heard.events, []);
    server.wait_for_hang_ups(1).await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn silence_in_mid_answer_is_a_stall() {
    let server = ModelServer::start([Reply::text("so far").stall()]);
    let heard = ask_model(&impatient_model(settings(&server.base_url())), says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Stalled { .. }), "{:?}", heard.fault());
    assert_eq!(heard.text(), "so far");
    server.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_cut_and_not_repeated() {
    let broken = [
        Reply::chunks(["so ", "far"]).cut(),
        Reply::chunks(["so ", "far"]).end_early(),
        Reply::chunks(["so ", "far"]).and_error("overloaded"),
    ];
    for reply in broken {
        let server = ModelServer::start([reply, Reply::text("never asked for")]);
        let heard = ask(&server, says("hi")).await;
        assert!(matches!(heard.fault(), Fault::Cut { .. }), "{:?}", heard.fault());
        assert_eq!(heard.text(), "so far");
        assert!(heard.pauses_ms().is_empty());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn reasoning_that_breaks_off_is_not_repeated_either() {
    let server = ModelServer::start([Reply::new().and_thought("hmm").cut(), Reply::text("no")]);
    let heard = ask(&server, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Cut { .. }), "{:?}", heard.fault());
    assert_eq!(heard.events, [Event::Thought("hmm".to_owned())]);
}

#[tokio::test]
async fn an_answer_with_nothing_in_it_is_empty() {
    for reply in [Reply::empty_choices(), Reply::new(), Reply::new().and_thought("hmm")] {
        let server = ModelServer::start([reply]);
        let heard = ask(&server, says("hi")).await;
        assert!(matches!(heard.fault(), Fault::Empty { .. }), "{:?}", heard.fault());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn what_is_not_a_completion_is_malformed() {
    let strange = [
        Reply::new().and_raw("{\"choices\": [").end_early(),
        Reply::new().body("text/html", "<html><body>welcome</body></html>"),
        Reply::new().body("application/json", r#"{"hello": "world"}"#),
    ];
    for reply in strange {
        let server = ModelServer::start([reply]);
        let heard = ask(&server, says("hi")).await;
        assert!(matches!(heard.fault(), Fault::Malformed { .. }), "{:?}", heard.fault());
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_error_object_in_the_stream_can_be_a_refusal() {
    let error = r#"{"error":{"type":"invalid_request_error","message":"too long"}}"#;
    let server = ModelServer::start([Reply::new().and_raw(error)]);
    let heard = ask(&server, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::BadRequest { detail, .. } if detail == "too long"), "{:?}", heard.fault());
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_unreachable() {
    let vacated = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = vacated.local_addr().unwrap();
    drop(vacated);
    let heard = ask_model(&model(settings(&format!("http://{address}/v1"))), says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Refused { .. }), "{:?}", heard.fault());
    assert_eq!(heard.fault().code(), "model_unreachable");
    assert!(heard.fault().to_string().contains(&address.to_string()));
    assert_eq!(heard.pauses_ms().len(), 3);
}
