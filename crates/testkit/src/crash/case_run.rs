//! Runs one case: up to its moment, through the kill, to the end and one message beyond.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::case::{Agent, Case, Moment, Release, Victim};
use super::conversation::{MIDDLE, Pacing, THINKING};
use super::findings::{Fault, Findings};
use super::outcome::Outcome;
use super::rig_processes;
use super::setup::{SOON, Setup};

/// How long the rest of the world has while a server is away.
const MEANWHILE: Duration = Duration::from_millis(400);
const LOOK: Duration = Duration::from_millis(25);

pub(super) struct CaseRun {
    pub outcome: Option<Outcome>,
    pub findings: Findings,
    /// Everything the server wrote to its log.
    pub log: String,
}

pub(super) async fn run_case(case: Case) -> CaseRun {
    let held = matches!(case.moment, Moment::Loading | Moment::Cancelling);
    let mut setup = match Setup::start(case.agent, Pacing::gated(), held).await {
        Ok(setup) => setup,
        Err(error) => return CaseRun { outcome: None, findings: Findings(vec![error.into()]), log: String::new() },
    };
    let mut findings = Findings::default();
    let outcome = match converse(&mut setup, case, &mut findings).await {
        Ok(outcome) => Some(outcome),
        Err(error) => {
            findings.add(error.into());
            None
        }
    };
    findings.expect(case.victim != Victim::Browser || setup.reader.connections() > 1, || "the browser never came back".to_owned());
    setup.pacing.open();
    let log = setup.server.log();
    findings.expect(!log.contains("panicked"), || "something panicked".to_owned());
    findings += setup.close().await;
    CaseRun { outcome, findings, log }
}

async fn converse(setup: &mut Setup, case: Case, findings: &mut Findings) -> Result<Outcome, String> {
    setup.say("step-1 plain").await?;
    reach(setup, case.moment).await?;
    let count_of_agents = AgentCount::watch(setup, case.agent);
    setup.kill_victim(case.victim).await;
    if case.release == Release::Meanwhile {
        release(setup, case.moment)?;
        tokio::time::sleep(MEANWHILE).await;
    }
    setup.bring_back(case.victim).await;
    release_rest(setup, case, findings).await?;
    let turns = if case.moment == Moment::QueuedPrompts { 4 } else { 2 };
    if case.moment == Moment::Idle {
        setup.address.post("step-2 plain").await?;
    }
    setup.turns_ended(turns).await?;
    if case.moment == Moment::PermissionPending {
        setup.change(json!({ "permission_policy": "auto" })).await?;
    }
    setup.release_tool()?;
    let first = setup.say("step-3 recalling").await?;
    let again = setup.address.post("step-3 recalling").await?;
    let same = (&first["message_id"], &first["turn_id"]) == (&again["message_id"], &again["turn_id"]);
    findings.expect(same, || format!("the same client id gave {first} and then {again}"));
    let most = count_of_agents.most();
    findings.expect(most <= 1, || format!("{most} agents ran at once"));
    for name in ["step-1", "step-2", "step-2b", "step-2c", "step-3"] {
        let asked = setup.asked(name);
        if asked > 1 {
            findings.add(Fault::Doubled(format!("the agent worked on {name} {asked} times")));
        }
    }
    let (outcome, more) = Outcome::read(setup).await?;
    *findings += more;
    Ok(outcome)
}

/// Goes on until the moment is there.
async fn reach(setup: &Setup, moment: Moment) -> Result<(), String> {
    let post = async |content: &str| setup.address.post(content).await;
    match moment {
        Moment::Idle => {}
        Moment::ModelStreaming => {
            post("step-2 thinking").await?;
            setup.pacing.main.iter().for_each(|gate| gate.release(3));
            let said = THINKING[..3].concat();
            setup.reader.until("the model's first words", SOON, |seen| seen.texts.values().any(|text| *text == said)).await?;
        }
        Moment::AgentStreaming => {
            post("step-2 streaming").await?;
            setup.pacing.coder.iter().for_each(|gate| gate.release(MIDDLE));
            let word = format!("{} ", MIDDLE - 5);
            setup.reader.until("the agent's first words", SOON, |seen| seen.texts.values().any(|text| text.contains(&word))).await?;
        }
        Moment::ToolRunning => {
            post("step-2 blocking").await?;
            setup.logged("step-2").await?;
        }
        Moment::PermissionPending => {
            setup.change(json!({ "permission_policy": "ask" })).await?;
            post("step-2 plain").await?;
            setup.reader.until("a permission request", SOON, |seen| seen.of_kind("permission-request").next().is_some()).await?;
        }
        Moment::QueuedPrompts => {
            post("step-2 blocking").await?;
            setup.logged("step-2").await?;
            post("step-2b plain").await?;
            post("step-2c plain").await?;
            let two = |items: &serde_json::Value| items.as_array().is_some_and(|items| items.len() == 2);
            setup.reader.until("two queued messages", SOON, |seen| seen.of_kind("queue").any(|event| two(&event.data["items"]))).await?;
        }
        Moment::Loading => {
            setup.lose_idle_agent().await?;
            post("step-2 plain").await?;
            rig_processes::until("the load request", SOON, || setup.input_gate.is_held("load")).await?;
        }
        Moment::Cancelling => {
            post("step-2 blocking").await?;
            setup.logged("step-2").await?;
            let (status, answer) = setup.address.call("POST", "/cancel", Some(json!({}))).await?;
            if status != 202 {
                return Err(format!("the turn cannot be stopped: {status} {answer}"));
            }
            rig_processes::until("the cancel notification", SOON, || setup.input_gate.is_held("cancel")).await?;
        }
    }
    Ok(())
}

/// Lets everything go on that was held for the moment; a permission still waits for its person.
fn release(setup: &Setup, moment: Moment) -> Result<(), String> {
    setup.pacing.open();
    let opened = match moment {
        Moment::ToolRunning | Moment::QueuedPrompts => return setup.release_tool(),
        // After a cancelled turn whose agent died, the session is loaded again.
        Moment::Loading | Moment::Cancelling => setup.input_gate.open("load").and_then(|()| setup.input_gate.open("cancel")),
        _ => Ok(()),
    };
    opened.map_err(|error| format!("a gate cannot be opened: {error}"))
}

async fn release_rest(setup: &Setup, case: Case, findings: &mut Findings) -> Result<(), String> {
    let working_tool = matches!(case.moment, Moment::ToolRunning | Moment::QueuedPrompts);
    if case.is_cut_short() && working_tool && case.release == Release::Afterwards {
        // The command must be ended by whoever cleans up, not by its own gate.
        setup.pacing.open();
        setup.reader.until("the interruption", SOON, |seen| seen.of_kind("tool-result").count() == 2).await?;
    }
    release(setup, case.moment)?;
    if case.moment == Moment::PermissionPending && !case.is_cut_short() {
        answer(setup, findings).await?;
    }
    Ok(())
}

/// The question is still open for whoever looks now, and is answered once.
async fn answer(setup: &Setup, findings: &mut Findings) -> Result<(), String> {
    let mut client = setup.address.open(None).await?;
    let asked = async {
        loop {
            match client.next().await {
                Some(event) if event.kind == "permission-request" => return Ok(event.data),
                Some(event) if event.kind == "ready" => return Err("lost: the open permission".to_owned()),
                Some(_) => {}
                None => return Err("the stream ended".to_owned()),
            }
        }
    };
    let request = tokio::time::timeout(SOON, asked).await.map_err(|_| "no snapshot".to_owned())??;
    let options = request["options"].as_array().cloned().unwrap_or_default();
    let option = options.iter().find(|option| option["kind"] == "allow_once").ok_or("no option allows it once")?;
    let path = format!("/permissions/{}", request["request_id"].as_str().unwrap_or_default());
    let body = json!({ "option_id": option["option_id"] });
    let (first, said) = setup.address.call("POST", &path, Some(body.clone())).await?;
    findings.expect(first == 202, || format!("the answer was refused with {first}: {said}"));
    let (second, _) = setup.address.call("POST", &path, Some(body)).await?;
    if second == 202 {
        findings.add(Fault::Doubled("a permission was answered twice".to_owned()));
    }
    Ok(())
}

impl Setup {
    pub(super) fn release_tool(&self) -> Result<(), String> {
        std::fs::write(self.work_file("go-step-2"), "").map_err(|error| format!("the tool cannot be released: {error}"))
    }
}

/// Counts the agents that run at the same time: an agent session has one owner.
struct AgentCount {
    most: Arc<AtomicUsize>,
    _counting: JoinSet<()>,
}

impl AgentCount {
    fn watch(setup: &Setup, agent: Agent) -> AgentCount {
        let (home, most) = (setup.home().to_owned(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&most);
        let mut counting = JoinSet::new();
        counting.spawn(async move {
            loop {
                let home = home.clone();
                let count = tokio::task::spawn_blocking(move || rig_processes::agents(&home, agent).len()).await.unwrap_or(0);
                counter.fetch_max(count, Ordering::Relaxed);
                tokio::time::sleep(LOOK).await;
            }
        });
        AgentCount { most, _counting: counting }
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}
