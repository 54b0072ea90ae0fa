//! Behind a proxy: whose word counts about host, origin and scheme, and what a host name that nobody named is told.

use crate::rig::{Answer, Options, Rig, TOKEN, answer};

async fn behind(proxy: &str) -> Rig {
    let trusted_proxies = vec![(proxy.parse().unwrap(), 32)];
    Rig::start(Options { trusted_proxies, allowed_hosts: vec!["cockpit.example".to_owned()], ..Options::default() }).await
}

async fn ask(rig: &Rig, headers: &[(&str, &str)]) -> Answer {
    let request = rig.http.get(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN);
    answer(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_tells_the_host_and_the_scheme() {
    let rig = behind("127.0.0.1").await;
    let forwarded = [("x-forwarded-host", "cockpit.example"), ("x-forwarded-proto", "https")];
    for (origin, status) in [
        ("https://cockpit.example", 200),
        ("http://cockpit.example", 403),
        ("https://cockpit.example:8443", 403),
        ("https://evil.example", 403),
    ] {
        let headers = [&forwarded[..], &[("origin", origin)]].concat();
        assert_eq!(ask(&rig, &headers).await.status, status, "{origin}");
    }
    let foreign = ask(&rig, &[("x-forwarded-host", "evil.example")]).await;
    foreign.refuses(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_anybody_else_such_headers_do_not_count() {
    let rig = behind("192.0.2.1").await;
    let headers = [("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "https"), ("x-forwarded-for", "203.0.113.5")];
    assert_eq!(ask(&rig, &headers).await.status, 200);
    let headers = [("x-forwarded-host", "cockpit.example"), ("origin", "https://cockpit.example")];
    ask(&rig, &headers).await.refuses(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_host_is_served_and_another_one_is_told_what_to_set() {
    let rig = behind("192.0.2.1").await;
    for own in ["cockpit.example", "Cockpit.Example:8443", "cockpit.example."] {
        assert_eq!(ask(&rig, &[("host", own)]).await.status, 200, "{own}");
    }
    let refused = ask(&rig, &[("host", "vox.lan:8000")]).await;
    refused.refuses(403, "forbidden");
    assert!(refused.text.contains("VOXPILOT_ALLOWED_HOSTS=vox.lan"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_may_come_out_at_another_port_of_the_persons_own_machine() {
    let rig = Rig::replies([]).await;
    for name in ["localhost:9000", "127.0.0.1:9000", "[::1]:9000"] {
        let origin = format!("http://{name}");
        assert_eq!(ask(&rig, &[("host", name), ("origin", &origin)]).await.status, 200, "{name}");
    }
}
