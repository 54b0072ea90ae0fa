//! What is tried, in order: each step says what came of it, and a step that fails says why.

use std::path::Path;

use agents::catalogue::Words;
use agents::{Capabilities, How, KnownSession};
use anyhow::{Context, Result};
use domain::agent::Failure;
use engine::Settings;

use super::driven::{Driven, Heard};
use super::{CODEWORD, Outcome, Progress};

const YES: &str = "yes";
const NO: &str = "no";
const UNKNOWN: &str = "unknown";

type Version = Option<String>;

/// What is tried, in order.
const STEPS: [&str; 7] =
    ["starts", "answers", "asks before it acts", "stops when told to", "is killed", "lists its sessions", "comes back"];

/// What it says of itself, and no more.
pub(super) async fn words_only(settings: &Settings, agent: &str, cwd: &Path, progress: Progress) -> Result<(Version, Vec<Outcome>)> {
    progress.tell(0, 1, STEPS[0]);
    let driven = Driven::start(settings, agent, cwd).await?;
    let said = driven.connection.capabilities().clone();
    driven.end().await?;
    Ok((said.agent_version.clone(), told(&said)))
}

/// Everything.
pub(super) async fn all(settings: &Settings, agent: &str, words: Words, cwd: &Path, progress: Progress) -> Result<(Version, Vec<Outcome>)> {
    let at = |step: usize| progress.tell(step, STEPS.len(), STEPS[step]);
    at(0);
    let mut driven = Driven::start(settings, agent, cwd).await?;
    let said = driven.connection.capabilities().clone();
    let mut outcomes = told(&said);
    let lived = live(&mut driven, words, cwd, &mut outcomes, &at).await;
    driven.end().await?;
    if let Some(agent_session) = lived? {
        let mut again = Driven::start(settings, agent, cwd).await?;
        let back = come_back(&mut again, words, &agent_session, &mut outcomes, &at).await;
        again.end().await?;
        back?;
    }
    Ok((said.agent_version, outcomes))
}

fn told(said: &Capabilities) -> Vec<Outcome> {
    let offers = [("loads", said.load), ("resumes", said.resume), ("lists", said.list), ("closes", said.close), ("images", said.image)];
    let offers: Vec<&str> = offers.into_iter().filter(|(_, offered)| *offered).map(|(name, _)| name).collect();
    let said = if offers.is_empty() { "nothing of what is asked for here".to_owned() } else { offers.join(", ") };
    vec![outcome(None, "answers initialize", YES), outcome(None, "says that it", &said)]
}

/// From a new session to a kill in the middle of work. Gives the session, where there is something to come back to.
async fn live(driven: &mut Driven, words: Words, cwd: &Path, outcomes: &mut Vec<Outcome>, at: &impl Fn(usize)) -> Result<Option<String>> {
    at(1);
    let opened = match driven.open(None).await {
        Ok(opened) => opened,
        Err(failure) => {
            outcomes.push(outcome(None, "opens a session", &format!("{NO}: {failure}")));
            return Ok(None);
        }
    };
    outcomes.push(outcome(None, "opens a session", YES));
    if opened.unguarded {
        outcomes.push(outcome(None, "can be set to ask", NO));
    }
    let opened = opened.agent_session;
    driven.prompt(&opened, words.say).await?;
    let ended = driven.until(|heard| heard.end.is_some() || heard.gone).await;
    let streams = ended && driven.heard.text.to_lowercase().contains(CODEWORD);
    outcomes.push(outcome(None, "streams its answer", &if streams { YES.to_owned() } else { why(&driven.heard) }));
    // Nothing that follows would say anything of one that does not even answer.
    if !streams {
        return Ok(None);
    }
    outcomes.push(outcome(Some("usage"), "tells what it uses", if driven.heard.usage { YES } else { NO }));

    at(2);
    driven.prompt(&opened, words.act).await?;
    driven.until(|heard| heard.end.is_some() || heard.gone).await;
    let made = cwd.join("probe-made.txt").exists();
    // One that has not even tried, or was held back by something else, has not shown it.
    let asks = match (driven.heard.asked, made) {
        (true, _) => YES,
        (false, true) => NO,
        (false, false) => UNKNOWN,
    };
    outcomes.push(outcome(Some("asks"), "asks before it acts", asks));
    outcomes.push(outcome(None, "does what was allowed", if made { YES } else { NO }));

    at(3);
    driven.prompt(&opened, words.slow).await?;
    let running = driven.until(|heard| !heard.text.is_empty() || heard.end.is_some() || heard.gone).await && driven.heard.end.is_none();
    driven.cancel(&opened).await?;
    let ended = driven.until(|heard| heard.end.is_some() || heard.gone).await && !driven.heard.gone;
    let cancels = if !running {
        UNKNOWN
    } else if ended {
        YES
    } else {
        NO
    };
    outcomes.push(outcome(Some("cancels"), "stops when told to", cancels));

    at(4);
    driven.prompt(&opened, words.slow).await?;
    driven.until(|heard| !heard.text.is_empty() || heard.end.is_some() || heard.gone).await;
    driven.kill().await?;
    Ok(Some(opened))
}

/// A new process after the kill.
async fn come_back(driven: &mut Driven, words: Words, agent_session: &str, outcomes: &mut Vec<Outcome>, at: &impl Fn(usize)) -> Result<()> {
    at(5);
    if let Some(lists) = driven.lists(agent_session).await {
        outcomes.push(outcome(Some("lists"), "lists it after a kill", if lists { YES } else { NO }));
    }
    at(6);
    let known = KnownSession { agent_session: agent_session.to_owned(), prompted: true, ..KnownSession::default() };
    let opened = driven.open(Some(&known)).await.map_err(|failure: Failure| anyhow::Error::msg(failure.to_string()));
    let opened = opened.context("no session after the kill")?;
    driven.prompt(&opened.agent_session, words.recall).await?;
    driven.until(|heard| heard.end.is_some() || heard.gone).await;
    let remembers = driven.heard.text.to_lowercase().contains(CODEWORD);
    let (restores, way) = match (&opened.how, remembers) {
        (How::Resumed, true) => ("resumed", Some("resumes")),
        (How::Loaded, true) => ("loaded", Some("loads")),
        (How::Lost { .. }, _) => ("recap", None),
        _ => (NO, None),
    };
    outcomes.push(outcome(Some("restores"), "comes back after a kill", restores));
    if let How::Lost { message } = &opened.how {
        outcomes.push(outcome(None, "because", message));
    }
    if let Some(id) = way {
        outcomes.push(outcome(Some(id), if id == "loads" { "loads" } else { "resumes" }, YES));
    }
    outcomes.push(outcome(None, "remembers what was said", if remembers { YES } else { NO }));
    Ok(())
}

fn outcome(id: Option<&'static str>, what: &'static str, value: &str) -> Outcome {
    Outcome { id, what, value: value.to_owned() }
}

fn why(heard: &Heard) -> String {
    match &heard.end {
        Some(Err(failure)) => format!("{NO}: {failure}"),
        Some(Ok(end)) => format!("{NO}: it ended with {} and said `{}`", end.stop_reason, heard.text.chars().take(200).collect::<String>()),
        None if heard.gone => format!("{NO}: it ended"),
        None => format!("{NO}: no answer in time"),
    }
}
