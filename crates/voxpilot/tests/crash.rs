//! A selection of the crash matrix, and random kills. `make crash` runs all of it.

use testkit::crash::{Agent, Case, Findings, Kills, Matrix, Who, run};

/// Decides which cases are run and when the random kills come; another one finds other things.
const SEED: u64 = 7;

async fn all_hold(agent: Agent, count: usize) {
    let cases = Case::selection(agent, count, SEED);
    let mut failed = Vec::new();
    run(Matrix::new(cases, 3), |done| {
        if !done.findings.is_empty() {
            failed.push(format!("{}\n{}\n{}", done.case, said(&done.findings), done.log));
        }
    })
    .await;
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

async fn survives(kills: Kills) {
    let run = kills.run().await;
    assert!(run.findings.is_empty(), "{}\n{}\n{}", run.sentence(), said(&run.findings), run.log);
}

fn said(findings: &Findings) -> String {
    findings.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_agent_survives_whoever_dies() {
    all_hold(Agent::Demo, 18).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_copilot_cli_survives_whoever_dies() {
    all_hold(Agent::Copilot, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_codex_cli_survives_whoever_dies() {
    all_hold(Agent::Codex, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_goes_on_through_random_kills_of_anybody() {
    survives(Kills { agent: Agent::Codex, who: Who::Anybody, straight: false, count: 8, seed: SEED }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_go_on_through_random_kills_of_the_server() {
    survives(Kills { agent: Agent::Copilot, who: Who::Server, straight: false, count: 15, seed: SEED }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_done_twice_through_random_kills_of_anybody() {
    survives(Kills { agent: Agent::Demo, who: Who::Anybody, straight: false, count: 15, seed: SEED }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn talking_straight_to_an_agent_survives_random_kills_of_anybody() {
    survives(Kills { agent: Agent::Demo, who: Who::Anybody, straight: true, count: 15, seed: SEED }).await;
}
