//! What a sandbox costs: the start of an agent, and a command that runs for one, beside the same without it.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use testkit::server::{Rig, Server};

use crate::figures::Figure;
use crate::rig::{Session, rig};
use crate::table::Line;

const WITHOUT: &str = "without a sandbox";
/// Starts in each round, and commands in each turn.
const STARTS: usize = 5;
const COMMANDS: usize = 20;
const SOON: Duration = Duration::from_secs(60);

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let starts = Pair::start(rig).await?;
    let (mut held_ms, mut free_ms) = (Vec::new(), Vec::new());
    for _ in 0..rounds * STARTS {
        held_ms.push(agent_ms(&starts.held).await?);
        free_ms.push(agent_ms(&starts.free).await?);
    }
    starts.end().await;
    let terminals = Pair::start(|| Rig::default().faulty_agent().env("VOXPILOT_MODEL", "relay")).await?;
    let (mut held_command_ms, mut free_command_ms) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        held_command_ms.push(command_ms(&terminals.held).await?);
        free_command_ms.push(command_ms(&terminals.free).await?);
    }
    terminals.end().await;
    Ok(vec![
        Line::new("new agent: message to end of its turn, ms", Figure::of(held_ms)).beside(Figure::of(free_ms), WITHOUT),
        Line::new("`true` in a terminal, to its end, ms", Figure::of(held_command_ms)).beside(Figure::of(free_command_ms), WITHOUT),
    ])
}

/// The same server twice, measured by turns.
struct Pair {
    held: Server,
    free: Server,
}

impl Pair {
    async fn start(rig: impl Fn() -> Rig) -> anyhow::Result<Pair> {
        let held = rig().config("sandbox = \"workdir\"\n").start().await;
        let (_, list) = held.call("GET", "/api/agents", None).await;
        let is_held = |agent: &Value| agent["sandbox"].as_str().is_some_and(|by| by != "unavailable");
        ensure!(list["agents"].as_array().is_some_and(|agents| agents.iter().any(is_held)), "there is no sandbox here");
        Ok(Pair { held, free: rig().start().await })
    }

    async fn end(self) {
        self.held.end().await;
        self.free.end().await;
    }
}

async fn agent_ms(server: &Server) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let session = Session::open(server, 1).await?;
    let took_ms = begun.elapsed().as_secs_f64() * 1e3;
    session.close().await?;
    Ok(took_ms)
}

/// In one turn of an agent that runs already; what the turn itself costs is in both.
async fn command_ms(server: &Server) -> anyhow::Result<f64> {
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "calls []").await;
    ensure!(client.turn_end(SOON).await == "completed", "the agent did not start: {}", client.seen.tail());
    let one = [
        json!(["terminal/create", { "command": "/bin/true" }]),
        json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]),
        json!(["terminal/release", { "terminalId": "$terminal" }]),
    ];
    let calls: Vec<Value> = std::iter::repeat_n(one, COMMANDS).flatten().collect();
    let begun = Instant::now();
    server.send(&session, &format!("calls {}", json!(calls))).await;
    let state = client.turn_end(SOON).await;
    let took_ms = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(state == "completed", "the commands did not run: {}", client.seen.tail());
    server.call("DELETE", &format!("/api/sessions/{session}"), None).await;
    Ok(took_ms / COMMANDS as f64)
}
