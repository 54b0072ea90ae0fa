//! Kills at random moments, one after the other, while a client keeps sending messages. The seed decides whom and when.

use std::time::{Duration, Instant};

use serde_json::json;

use super::case::{Agent, Victim};
use super::conversation::{self, Pacing};
use super::findings::{Fault, Findings};
use super::outcome::{self, text};
use super::reader::Address;
use super::rig_processes;
use super::setup::Setup;

/// How many messages may wait for their turn before the client stops sending.
const AHEAD: usize = 6;
/// The longest time between two kills; the shortest is none. A real agent takes seconds to start, and where it dies too must have a chance.
const LONGEST_MS: u64 = 1200;
const LONGEST_SLOW_MS: u64 = 8000;
/// One kill in so many comes while the server is still starting.
const EARLY: u64 = 4;
/// How the call of an agent ends that died in the middle of it, or before it could be asked.
const CUT_SHORT: [&str; 3] = ["interrupted", "agent_not_started", "agent_gone"];
/// How a turn ends that was nothing but such a call.
const ENDED: [&str; 3] = ["failed", "interrupted", "unknown"];
const DRAIN: Duration = Duration::from_secs(240);
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Server,
    /// Server, runner, agent, browser, and two of them at once.
    Anybody,
}

#[derive(Clone, Copy, Debug)]
pub struct Kills {
    pub agent: Agent,
    pub who: Who,
    /// Without a main AI: what the client sends is what the agent is asked.
    pub straight: bool,
    pub count: usize,
    pub seed: u64,
}

/// What came of one.
pub struct RandomRun {
    pub what: Kills,
    pub kills: usize,
    pub messages: usize,
    pub interrupted: usize,
    pub findings: Findings,
    pub log: String,
    pub took: Duration,
}

impl RandomRun {
    pub fn sentence(&self) -> String {
        let who = if self.what.who == Who::Server { "the server" } else { "anybody" };
        let verdict = if self.findings.is_empty() { "all in order" } else { "NOT in order" };
        format!(
            "{}{}: {who} killed {} times at random moments (seed {}) during {} messages, {} of them interrupted: {verdict}, {} s.",
            self.what.agent.name(),
            if self.what.straight { ", talked to without a main AI" } else { "" },
            self.kills,
            self.what.seed,
            self.messages,
            self.interrupted,
            self.took.as_secs()
        )
    }
}

/// A small generator, enough to choose moments and the same for the same seed everywhere (xorshift64*).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound.max(1)
    }
}

impl Kills {
    pub async fn run(self) -> RandomRun {
        let begun = Instant::now();
        let mut run = RandomRun {
            what: self,
            kills: 0,
            messages: 0,
            interrupted: 0,
            findings: Findings::default(),
            log: String::new(),
            took: Duration::ZERO,
        };
        let setup = Setup::start(self.agent, Pacing::paced(Duration::from_millis(12)), false).await;
        match setup {
            Err(error) => run.findings.add(error.into()),
            Ok(mut setup) => {
                if let Err(error) = self.converse(&mut setup, &mut run).await {
                    run.findings.add(error.into());
                }
                run.log = setup.server.log();
                let panicked = run.log.contains("panicked");
                run.findings.expect(!panicked, || "something panicked".to_owned());
                run.findings += setup.close().await;
            }
        }
        run.took = begun.elapsed();
        run
    }

    async fn converse(self, setup: &mut Setup, run: &mut RandomRun) -> Result<(), String> {
        if self.straight {
            setup.change(json!({ "model": "relay" })).await?;
        }
        setup.say(&self.message(0)).await?;
        let sender = Sender { address: setup.address.clone(), kills: self };
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let (sent, killed) = tokio::join!(sender.chat(stopped), async {
            let outcome = self.kill_on(setup, run).await;
            let _ = stop.send(true);
            outcome
        });
        killed?;
        let mut sent = sent?;
        sent.insert(0, self.message(0));
        run.messages = sent.len();
        drained(setup, sent.len()).await?;
        self.judge(setup, &sent, run).await
    }

    fn message(self, number: usize) -> String {
        let name = format!("m-{number}");
        if self.straight { conversation::prompt(self.agent, &name, "plain") } else { format!("{name} plain") }
    }

    async fn kill_on(self, setup: &mut Setup, run: &mut RandomRun) -> Result<(), String> {
        let mut dice = Dice::new(self.seed);
        let longest_ms = if self.agent.has_wrapper() && self.who == Who::Anybody { LONGEST_SLOW_MS } else { LONGEST_MS };
        while run.kills < self.count {
            if let Some(fault) = setup.reader.fault() {
                return Err(fault);
            }
            tokio::time::sleep(Duration::from_millis(dice.below(longest_ms))).await;
            let victim = match self.who {
                Who::Server => Victim::Server,
                Who::Anybody => {
                    let all =
                        [Victim::Browser, Victim::Server, Victim::Runner, Victim::Agent, Victim::ServerAndRunner, Victim::ServerAndAgent];
                    all[usize::try_from(dice.below(all.len() as u64)).unwrap_or(0)]
                }
            };
            setup.kill_victim(victim).await;
            run.kills += 1;
            while victim.takes_server() && run.kills < self.count && dice.below(EARLY) == 0 {
                setup.server.restart_briefly(Duration::from_millis(dice.below(50))).await;
                run.kills += 1;
            }
            setup.bring_back(victim).await;
        }
        Ok(())
    }

    /// Every acknowledged message ran once and in order, or says that it was cut short; every text is whole.
    async fn judge(self, setup: &Setup, sent: &[String], run: &mut RandomRun) -> Result<(), String> {
        let findings = &mut run.findings;
        let messages = outcome::all_messages(setup).await?;
        let seen = setup.reader.seen();
        outcome::agree_with_reader(&messages, &seen, findings);
        let states = outcome::states(&seen, findings);
        let users: Vec<&str> =
            messages.iter().filter(|message| message["role"] == "user").map(|message| text(message, "content")).collect();
        findings.expect(users == sent, || format!("stored are {users:?}, acknowledged were {sent:?}"));
        let mut expected_log = Vec::new();
        let mut uncertain = Vec::new();
        let asked = messages.iter().enumerate().filter(|(_, message)| message["role"] == "user");
        for (number, (index, message)) in asked.enumerate() {
            let name = format!("m-{number}");
            let rest = &messages[index + 1..];
            let turn = &rest[..rest.iter().position(|next| next["role"] == "user").unwrap_or(rest.len())];
            let state = states.get(text(message, "turn_id")).map_or("", String::as_str);
            let tool = turn.iter().find(|message| message["role"] == "tool");
            let stop = tool.map(|tool| text(&tool["delegation"], "stop_reason")).unwrap_or_default();
            let is_cut = CUT_SHORT.contains(&stop);
            let is_ended = if self.straight && is_cut { ENDED.contains(&state) } else { state == "completed" };
            findings.expect(is_ended, || format!("{name} ended as {state:?}"));
            let answer = turn.last().map(|last| text(last, "content")).unwrap_or_default();
            let is_answered = self.straight || answer == format!("All done with {name}.");
            findings.expect(is_answered, || format!("{name} was answered {answer:?}"));
            if is_cut {
                run.interrupted += 1;
                uncertain.push(name.clone());
            } else {
                let whole = tool.map(|tool| text(tool, "display")).unwrap_or_default();
                findings.expect(is_whole(self.agent, whole, &name), || format!("the agent's text for {name} is {whole:?} ({stop})"));
            }
            expected_log.push(name);
        }
        if self.who == Who::Server && run.interrupted > 0 {
            findings
                .add(Fault::Lost(format!("{} messages were interrupted although only the server died: {uncertain:?}", run.interrupted)));
        }
        let log = setup.log();
        for (index, line) in log.iter().enumerate().filter(|(index, line)| log[..*index].contains(line)) {
            findings.add(Fault::Doubled(format!("{line} was carried out again as number {index}")));
        }
        expected_log.retain(|name| log.contains(name) || !uncertain.contains(name));
        findings.expect(log == expected_log, || format!("carried out {log:?}, expected {expected_log:?}"));
        Ok(())
    }
}

/// The agent's text as its model says it. Copilot says a word of its own after a crash.
fn is_whole(agent: Agent, found: &str, name: &str) -> bool {
    match agent {
        Agent::Copilot => found.ends_with(&conversation::task_text(name)),
        Agent::Codex => found == conversation::task_text(name),
        Agent::Demo => found == format!("Working on {name}.\n\n`echo {name} >> log.txt` ended with exit code 0."),
    }
}

async fn drained(setup: &Setup, count: usize) -> Result<(), String> {
    setup.reader.until("the end of all turns", DRAIN, |seen| super::setup::ended(seen) >= count).await?;
    rig_processes::until("at most one agent", DRAIN, || rig_processes::agents(setup.home(), setup.agent).len() <= 1).await
}

struct Sender {
    address: Address,
    kills: Kills,
}

impl Sender {
    /// Sends messages, each until it is acknowledged, a few ahead of what is done; gives them in order.
    async fn chat(&self, mut stopped: tokio::sync::watch::Receiver<bool>) -> Result<Vec<String>, String> {
        let mut sent = Vec::new();
        while !*stopped.borrow_and_update() {
            let waiting = self.address.get("/queue").await.ok().and_then(|queue| queue["items"].as_array().map(Vec::len));
            if waiting.is_none_or(|waiting| waiting >= AHEAD) {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            let content = self.kills.message(sent.len() + 1);
            self.address.post(&content).await?;
            sent.push(content);
        }
        Ok(sent)
    }
}
