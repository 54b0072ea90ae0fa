//! S2-4: Copilot as a server on a TCP port, and what a lost connection means.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::Instant;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::processes;
use testkit::server::Rig;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use crate::replies::delegate;
use crate::setup::{Real, SOON, Setup};

/// Copilot on a port of its own, with the scripted model behind it.
struct Remote {
    child: Child,
    address: SocketAddr,
}

impl Remote {
    async fn start(rig: &Rig, model: &ModelServer) -> Remote {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let child = Command::new(testkit::copilot::path())
            .args(["--acp", "--port", &address.port().to_string()])
            .envs(testkit::copilot::offline(&rig.copilot_home(), &model.base_url(), "coder"))
            .current_dir(rig.work_dir())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + SOON;
        while TcpStream::connect(address).await.is_err() {
            assert!(Instant::now() < deadline, "Copilot does not listen");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        Remote { child, address }
    }

    /// The wrapper and the program behind it, each by its own number.
    async fn end(mut self, rig: &Rig) {
        for process in processes::of_dir(&rig.copilot_home()) {
            processes::signal(process.pid, "KILL");
        }
        self.child.wait().await.unwrap();
    }
}

/// Passes connections on to `target` until it is told to cut them.
struct Cable {
    address: SocketAddr,
    listener: std::sync::Arc<TcpListener>,
    target: SocketAddr,
    carrying: JoinSet<()>,
}

impl Cable {
    async fn lay(target: SocketAddr) -> Cable {
        let listener = std::sync::Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let address = listener.local_addr().unwrap();
        let mut cable = Cable { address, listener, target, carrying: JoinSet::new() };
        cable.carry();
        cable
    }

    fn carry(&mut self) {
        let (listener, target) = (self.listener.clone(), self.target);
        self.carrying.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut here, _)) = listener.accept().await {
                connections.spawn(async move {
                    let mut there = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
                });
            }
        });
    }

    /// Cuts what there is; what comes next goes through again.
    async fn cut(&mut self) {
        self.carrying.shutdown().await;
        self.carry();
    }
}

/// Holds C2.
#[tokio::test]
async fn s2_4_copilot_works_over_tcp_and_a_lost_connection_ends_the_call_with_the_reason() {
    let model = ModelServer::start(Script::new());
    let rig = Rig::default().model(&model.base_url());
    let remote = Remote::start(&rig, &model).await;
    let mut cable = Cable::lay(remote.address).await;
    let port = cable.address.port();
    let rig = rig.env("VOXPILOT_AGENT", "copilot").config(&format!("[agents.copilot]\nurl = \"tcp://127.0.0.1:{port}\"\n"));
    let server = rig.start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let client = server.stream(&session, None).await;
    let mut setup = Setup { agent: Real::Copilot, model, server, session, client };

    setup.exchange("far", "say hello", "Hello over TCP.").await;
    assert_eq!(setup.client.seen.agent_text("far"), "Hello over TCP.");
    let warning = setup.notices("agent_unauthenticated");
    assert_eq!(warning.len(), 1);
    assert!(warning[0]["text"].as_str().unwrap().contains(&format!("tcp://127.0.0.1:{port}")), "{}", warning[0]);
    assert!(setup.server.log().contains("without authentication"));

    setup.main([delegate("far", "go on"), Reply::text("It broke off.")]);
    setup.coder([Reply::text("half a sentence ").stall()]);
    setup.send("go on").await;
    setup.until_written("far", "half a sentence").await;
    cable.cut().await;
    let gone = setup.until_notice("agent_gone").await;
    assert!(gone.data["text"].as_str().unwrap().contains("its sessions ended with it"), "{}", gone.data);
    assert_eq!(setup.turn_end().await, "completed", "the main AI is told and answers");
    assert!(setup.client.seen.agent_text("far").contains("half a sentence"), "what was written is kept");

    setup.exchange("far", "again", "Back again.").await;
    assert!(setup.client.seen.agent_text("far").ends_with("Back again."), "{}", setup.client.seen.tail());
    remote.end(setup.server.rig()).await;
    setup.end().await;
}
