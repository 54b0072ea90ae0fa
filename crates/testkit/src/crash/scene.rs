//! Plays one case: up to its moment, through the strike, to the end and one message beyond.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::case::{Agent, Case, Moment, Release, Victim};
use super::cast;
use super::findings::{Fault, Findings};
use super::outcome::Outcome;
use super::script::{MIDDLE, MUSINGS, Tempo};
use super::stage::{SOON, Stage};

/// How long the rest of the world has while a server is away.
const MEANWHILE: Duration = Duration::from_millis(400);
const LOOK: Duration = Duration::from_millis(25);

pub struct Played {
    pub outcome: Option<Outcome>,
    pub findings: Findings,
    /// Everything the server wrote to its log.
    pub log: String,
}

pub async fn play(case: Case) -> Played {
    let held = matches!(case.moment, Moment::Loading | Moment::Cancelling);
    let mut stage = match Stage::start(case.agent, Tempo::gated(), held).await {
        Ok(stage) => stage,
        Err(error) => return Played { outcome: None, findings: Findings(vec![error.into()]), log: String::new() },
    };
    let mut findings = Findings::default();
    let outcome = match converse(&mut stage, case, &mut findings).await {
        Ok(outcome) => Some(outcome),
        Err(error) => {
            findings.add(error.into());
            None
        }
    };
    findings.expect(case.victim != Victim::Browser || stage.watcher.connections() > 1, || "the browser never came back".to_owned());
    stage.tempo.open();
    let log = stage.server.log();
    findings.expect(!log.contains("panicked"), || "something panicked".to_owned());
    findings += stage.close().await;
    Played { outcome, findings, log }
}

async fn converse(stage: &mut Stage, case: Case, findings: &mut Findings) -> Result<Outcome, String> {
    stage.say("step-1 plain").await?;
    approach(stage, case.moment).await?;
    let crowd = Crowd::watch(stage, case.agent);
    stage.strike(case.victim).await;
    if case.release == Release::Meanwhile {
        release(stage, case.moment)?;
        tokio::time::sleep(MEANWHILE).await;
    }
    stage.bring_back(case.victim).await;
    release_rest(stage, case, findings).await?;
    let turns = if case.moment == Moment::QueuedPrompts { 4 } else { 2 };
    if case.moment == Moment::Idle {
        stage.address.post("step-2 plain").await?;
    }
    stage.turns_ended(turns).await?;
    if case.moment == Moment::PermissionPending {
        stage.change(json!({ "permission_policy": "auto" })).await?;
    }
    stage.release_tool()?;
    let first = stage.say("step-3 recalling").await?;
    let again = stage.address.post("step-3 recalling").await?;
    let same = (&first["message_id"], &first["turn_id"]) == (&again["message_id"], &again["turn_id"]);
    findings.expect(same, || format!("the same client id gave {first} and then {again}"));
    let most = crowd.most();
    findings.expect(most <= 1, || format!("{most} agents ran at once"));
    for name in ["step-1", "step-2", "step-2b", "step-2c", "step-3"] {
        let asked = stage.asked(name);
        if asked > 1 {
            findings.add(Fault::Doubled(format!("the agent worked on {name} {asked} times")));
        }
    }
    let (outcome, more) = Outcome::read(stage).await?;
    *findings += more;
    Ok(outcome)
}

/// Goes on until the moment is there.
async fn approach(stage: &Stage, moment: Moment) -> Result<(), String> {
    let post = async |content: &str| stage.address.post(content).await;
    match moment {
        Moment::Idle => {}
        Moment::ModelStreaming => {
            post("step-2 musing").await?;
            stage.tempo.main.iter().for_each(|gate| gate.release(3));
            let said = MUSINGS[..3].concat();
            stage.watcher.until("the model's first words", SOON, |seen| seen.texts.values().any(|text| *text == said)).await?;
        }
        Moment::AgentStreaming => {
            post("step-2 streaming").await?;
            stage.tempo.coder.iter().for_each(|gate| gate.release(MIDDLE));
            let word = format!("{} ", MIDDLE - 5);
            stage.watcher.until("the agent's first words", SOON, |seen| seen.texts.values().any(|text| text.contains(&word))).await?;
        }
        Moment::ToolRunning => {
            post("step-2 blocking").await?;
            stage.logged("step-2").await?;
        }
        Moment::PermissionPending => {
            stage.change(json!({ "permission_policy": "ask" })).await?;
            post("step-2 plain").await?;
            stage.watcher.until("a permission request", SOON, |seen| seen.of_kind("permission-request").next().is_some()).await?;
        }
        Moment::QueuedPrompts => {
            post("step-2 blocking").await?;
            stage.logged("step-2").await?;
            post("step-2b plain").await?;
            post("step-2c plain").await?;
            let two = |items: &serde_json::Value| items.as_array().is_some_and(|items| items.len() == 2);
            stage.watcher.until("two queued messages", SOON, |seen| seen.of_kind("queue").any(|event| two(&event.data["items"]))).await?;
        }
        Moment::Loading => {
            stage.lose_idle_agent().await?;
            post("step-2 plain").await?;
            cast::until("the load request", SOON, || stage.hold.is_held("load")).await?;
        }
        Moment::Cancelling => {
            post("step-2 blocking").await?;
            stage.logged("step-2").await?;
            let (status, answer) = stage.address.call("POST", "/cancel", Some(json!({}))).await?;
            if status != 202 {
                return Err(format!("the turn cannot be stopped: {status} {answer}"));
            }
            cast::until("the cancel notification", SOON, || stage.hold.is_held("cancel")).await?;
        }
    }
    Ok(())
}

/// Lets everything go on that was held for the moment; a permission still waits for its person.
fn release(stage: &Stage, moment: Moment) -> Result<(), String> {
    stage.tempo.open();
    let opened = match moment {
        Moment::ToolRunning | Moment::QueuedPrompts => return stage.release_tool(),
        // After a cancelled turn whose agent died, the session is loaded again.
        Moment::Loading | Moment::Cancelling => stage.hold.open("load").and_then(|()| stage.hold.open("cancel")),
        _ => Ok(()),
    };
    opened.map_err(|error| format!("a gate cannot be opened: {error}"))
}

async fn release_rest(stage: &Stage, case: Case, findings: &mut Findings) -> Result<(), String> {
    let working_tool = matches!(case.moment, Moment::ToolRunning | Moment::QueuedPrompts);
    if case.is_cut_short() && working_tool && case.release == Release::Afterwards {
        // The command must be ended by whoever cleans up, not by its own gate.
        stage.tempo.open();
        stage.watcher.until("the interruption", SOON, |seen| seen.of_kind("tool-result").count() == 2).await?;
    }
    release(stage, case.moment)?;
    if case.moment == Moment::PermissionPending && !case.is_cut_short() {
        answer(stage, findings).await?;
    }
    Ok(())
}

/// The question is still open for whoever looks now, and is answered once.
async fn answer(stage: &Stage, findings: &mut Findings) -> Result<(), String> {
    let mut client = stage.address.open(None).await?;
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
    let (first, said) = stage.address.call("POST", &path, Some(body.clone())).await?;
    findings.expect(first == 202, || format!("the answer was refused with {first}: {said}"));
    let (second, _) = stage.address.call("POST", &path, Some(body)).await?;
    if second == 202 {
        findings.add(Fault::Doubled("a permission was answered twice".to_owned()));
    }
    Ok(())
}

impl Stage {
    pub fn release_tool(&self) -> Result<(), String> {
        std::fs::write(self.work_file("go-step-2"), "").map_err(|error| format!("the tool cannot be released: {error}"))
    }
}

/// Counts the agents that run at the same time: an agent session has one owner.
struct Crowd {
    most: Arc<AtomicUsize>,
    _counting: JoinSet<()>,
}

impl Crowd {
    fn watch(stage: &Stage, agent: Agent) -> Crowd {
        let (home, most) = (stage.home().to_owned(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&most);
        let mut counting = JoinSet::new();
        counting.spawn(async move {
            loop {
                let home = home.clone();
                let count = tokio::task::spawn_blocking(move || cast::agents(&home, agent).len()).await.unwrap_or(0);
                counter.fetch_max(count, Ordering::Relaxed);
                tokio::time::sleep(LOOK).await;
            }
        });
        Crowd { most, _counting: counting }
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}
