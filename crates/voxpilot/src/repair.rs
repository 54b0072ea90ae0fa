//! `voxpilot repair`: brings a damaged record that an agent keeps of a session into a state that the agent can load again.

use std::process::ExitCode;

use agents::catalogue::Agent;
use agents::records::{self, Done, Record};
use anyhow::{Result, bail};
use domain::ids::SessionId;
use jiff::Timestamp;

use crate::config::{Config, Sources};
use crate::say::{say, warn};
use crate::{serve, stop};

type Environment = Vec<(String, String)>;

/// Without a session, shows what is damaged.
#[tokio::main(flavor = "current_thread")]
pub async fn run(config: &Config, sources: &Sources, session: Option<&str>) -> Result<ExitCode> {
    let settings = serve::settings(config, sources)?;
    let mut agents = Vec::new();
    for agent in settings.catalogue.iter().filter(|agent| agent.quirks.records.is_some() && agent.remote.is_none()) {
        agents.push((agent, agent.environment(settings.environment.iter().cloned())?));
    }
    let Some(session) = session else { return list(&agents) };
    let found = find(config, &agents, session).await?;
    let (mut refused, mut sound) = (false, 0);
    for (agent, record) in &found {
        match mend(agent, record) {
            Ok(()) => {}
            Err(records::RepairError::Sound) => sound += 1,
            Err(error) => {
                warn(format_args!("voxpilot: {}: {error}", record.agent_session));
                refused = true;
            }
        }
    }
    if sound == found.len() {
        say(format_args!("nothing is damaged in it"));
    }
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn list(agents: &[(&Agent, Environment)]) -> Result<ExitCode> {
    let mut any = false;
    for (agent, env) in agents {
        let Some(examined) = agent.examine_records(env) else { continue };
        for (record, damage) in examined?.damaged {
            any = true;
            let title = record.title.as_deref().map(|title| format!("  {}", domain::text::visible(title))).unwrap_or_default();
            say(format_args!("{}  {}{title}  {damage}", agent.id, record.agent_session));
        }
    }
    if !any {
        say(format_args!("no agent's record of a session is damaged"));
    }
    Ok(ExitCode::SUCCESS)
}

/// By the agent's own id, else by ours: then every agent session that belongs to it.
async fn find<'a>(config: &Config, agents: &[(&'a Agent, Environment)], session: &str) -> Result<Vec<(&'a Agent, Record)>> {
    let own = |id: &str| agents.iter().find_map(|(agent, env)| Some((*agent, agent.record(env, id)?)));
    if let Some(found) = own(session) {
        return Ok(vec![found]);
    }
    let database = config.data_dir.join(stop::DATABASE);
    let (Ok(id), true) = (session.parse::<SessionId>(), database.exists()) else {
        bail!("no agent keeps a session `{session}`: `voxpilot repair --list` shows what is damaged");
    };
    let known = store::agent_sessions_of(&database, id).await?;
    let found: Vec<_> = known.iter().filter_map(|(_, agent_session)| own(agent_session)).collect();
    if found.is_empty() {
        bail!("no agent keeps a record of session `{session}` that could be repaired: `voxpilot repair --list` shows what is damaged");
    }
    Ok(found)
}

fn mend(agent: &Agent, record: &Record) -> Result<(), records::RepairError> {
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    match records::repair(record, &time)? {
        Done::Mended { damage, kept } => {
            say(format_args!("{}: repaired: {damage}", record.agent_session));
            say(format_args!("as it was: {}", kept.display()));
            say(format_args!("{} can load it again: continue it from the list of the agent's own sessions", agent.title));
        }
        Done::SetAside { damage, kept } => {
            say(format_args!("{}: nothing that could be loaded is left of it: {damage}", record.agent_session));
            say(format_args!("set aside as {}", kept.display()));
            say(format_args!("a session of VoxPilot that had it goes on with a new one, which is told what was asked before"));
        }
    }
    Ok(())
}
