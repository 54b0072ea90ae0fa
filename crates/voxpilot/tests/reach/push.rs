//! Nobody makes the server send requests to its own machine by naming it as a push service.

use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::push_service::PushService;
use testkit::server::{Rig, Server};
use tokio::net::TcpListener;

// Made up for this test: the point is the base point of the curve.
const KEY: &str = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
const AUTH: &str = "AAAAAAAAAAAAAAAAAAAAAA";

async fn subscribe(server: &Server, device: &SignedIn, subscription: Value) -> u16 {
    let http = tls::client().no_proxy().build().unwrap();
    device.sends(http.put(format!("{}/api/push", server.base))).json(&subscription).send().await.unwrap().status().as_u16()
}

async fn test(server: &Server, device: &SignedIn) -> u16 {
    let http = tls::client().no_proxy().build().unwrap();
    device.sends(http.post(format!("{}/api/push/test", server.base))).send().await.unwrap().status().as_u16()
}

async fn device(server: &Server, kind: &str) -> SignedIn {
    let (_, link) = server.call("POST", "/api/devices/link", Some(json!({ "kind": kind }))).await;
    let http = tls::client().no_proxy().build().unwrap();
    SignedIn::by_link(&http, link["url"].as_str().unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_push_endpoint_on_this_machine_is_refused_and_never_connected_to() {
    let server = Rig::default().demo_agent().start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for kind in ["read-only", "full"] {
        let device = device(&server, kind).await;
        for host in ["https://127.0.0.1", "https://localhost", "https://[::ffff:127.0.0.1]", "https://2130706433", "http://127.0.0.1"] {
            let subscription = json!({ "endpoint": format!("{host}:{port}/x"), "keys": { "p256dh": KEY, "auth": AUTH } });
            assert_eq!(subscribe(&server, &device, subscription).await, 422, "{host} for a {kind} device");
            assert_eq!(test(&server, &device).await, 409, "it has no subscription");
        }
    }
    tokio::select! {
        biased;
        knocked = listener.accept() => panic!("it was connected to: {knocked:?}"),
        () = std::future::ready(()) => {}
    }
    server.end().await;
}

#[tokio::test]
async fn a_push_service_that_the_operator_names_is_used() {
    let service = PushService::start().await;
    let subscription = service.subscription("phone");
    let endpoint = subscription["endpoint"].as_str().unwrap();
    let host = endpoint.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let server = Rig::default().demo_agent().env("VOXPILOT_PUSH_HOSTS", host).start().await;
    let device = device(&server, "read-only").await;
    assert_eq!(subscribe(&server, &device, subscription).await, 204);
    assert_eq!(test(&server, &device).await, 202);
    assert_eq!(service.wait_for(1).await[0].payload["kind"], "test");
    server.end().await;
}
