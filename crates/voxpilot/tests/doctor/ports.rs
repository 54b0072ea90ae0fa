//! The address that a server is to have.

use testkit::server::Rig;

use crate::{doctor, is};

#[tokio::test]
async fn a_port_that_a_stranger_or_another_server_has_is_told_with_who_has_it() {
    let rig = Rig::default();
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap().to_string();
    let report = doctor(&rig, &["--agent", "demo", "--bind", &address], &[]).await;
    let pid = std::process::id().to_string();
    is(report.one(None, "server"), "warn", &[&address, "something else", &pid], "voxpilot serve --bind 127.0.0.1:0");
    report.is_complete();

    let other = Rig::default().demo_agent().start().await;
    let address = other.base.strip_prefix("http://").unwrap().to_owned();
    let report = doctor(&rig, &["--agent", "demo", "--bind", &address], &[]).await;
    is(report.one(None, "server"), "warn", &["VoxPilot server of another data directory"], "--bind 127.0.0.1:0");
    let report = doctor(other.rig(), &["--agent", "demo", "--bind", &address], &[]).await;
    is(report.one(None, "server"), "ok", &[&other.base], "");
    other.end().await;
    let report = doctor(&rig, &["--agent", "demo", "--bind", &address], &[]).await;
    is(report.one(None, "server"), "ok", &["is free"], "");
}
