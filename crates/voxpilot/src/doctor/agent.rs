//! One agent after another: is it there, does it start, does it let us work, and is what it keeps in order.

use std::path::Path;

use agents::catalogue::{Agent, DEMO, Found, SecretError};
use agents::records::Examined;
use agents::{Capabilities, LoginCommand};
use domain::agent::Fault;
use engine::{Run, Settings, Trial};
use rustix::fs::{Access, access};
use tokio::task::JoinSet;

use super::program::VERSION_DEADLINE;
use super::{Check, Verdict, own};
use crate::config::{Config, Sources};
use crate::scratch::Scratch;

pub(super) const INSTALLED: &str = "installed";
/// So many damaged sessions of an agent are named.
const MOST_NAMED: usize = 20;

/// Those that are installed, the default one, and those that the person has configured.
pub(super) async fn all(config: &Config, sources: &Sources, settings: &Settings) -> Vec<Check> {
    let scratch = match Scratch::make(sources) {
        Ok(scratch) => scratch,
        Err(error) => {
            return vec![Check::bad("agents", Verdict::Fail, format!("none could be tried: {error:#}"), "df -h \"${TMPDIR:-/tmp}\"")];
        }
    };
    let is_shown =
        |agent: &&Agent| settings.find(agent).is_some() || agent.id == settings.default_agent || config.agents.contains_key(&agent.id);
    let shown: Vec<&Agent> = settings.catalogue.iter().filter(is_shown).collect();
    let mut looks = JoinSet::new();
    for (place, agent) in shown.iter().enumerate() {
        let tried = settings.clone().with_data_dir(scratch.data());
        let (id, work, sources) = (agent.id.clone(), scratch.work(), sources.clone());
        looks.spawn(async move { (place, look(&tried, &id, &work, &sources).await) });
    }
    let mut found = looks.join_all().await;
    found.sort_by_key(|(place, _)| *place);
    let mut checks: Vec<Check> = found.into_iter().flat_map(|(_, checks)| checks).collect();
    if shown.iter().all(|agent| agent.id == DEMO) {
        let detail = "no coding agent is installed; only the demo agent, which has no model";
        let first = settings.catalogue.iter().map(|agent| agent.install.as_str()).find(|command| !command.is_empty());
        checks.push(Check::bad("agents", Verdict::Warn, detail, first.unwrap_or("install an agent")));
    }
    checks
}

async fn look(settings: &Settings, id: &str, cwd: &Path, sources: &Sources) -> Vec<Check> {
    let Some(agent) = settings.catalogue.get(id) else { return Vec::new() };
    let worst = if agent.id == settings.default_agent { Verdict::Fail } else { Verdict::Warn };
    let Some(program) = settings.find(agent) else { return vec![missing(agent, worst)] };
    if program.how == Found::Npx {
        let detail = "not installed: npx fetches it when a session first needs it, and it is not started here";
        return vec![Check::ok(INSTALLED, detail).about(id)];
    }
    let env = match agent.environment(settings.environment.iter().cloned()) {
        Ok(env) => env,
        Err(error) => return vec![Check::bad("key", worst, error.to_string(), key_fix(agent, &error)).about(id)],
    };
    let tried = engine::try_agent(settings, id, cwd).await;
    let version = match &tried {
        Ok(Trial { capabilities: Capabilities { agent_version: Some(version), .. }, .. }) => Some(version.clone()),
        _ if agent.tells_version(&program) => match settings.confine(agent, Run { env: &env, ..Run::default() }) {
            Ok(sandbox) => agents::catalogue::version(&program.path, env.clone(), sandbox, VERSION_DEADLINE).await,
            Err(_) => None,
        },
        _ => None,
    };
    let version = version.map(|version| format!("{version}, ")).unwrap_or_default();
    let place = agent.remote.as_ref().map_or_else(|| program.path.display().to_string(), |address| format!("at {address}"));
    let mut checks = vec![Check::ok(INSTALLED, version + &place)];
    let program = program.path;
    match tried {
        Ok(trial) => checks.extend([started(&trial), login(agent, &program, &trial, worst)]),
        Err(why) => checks.push(Check::bad("start", worst, why, by_hand(agent, &program))),
    }
    if agent.remote.is_none() {
        checks.extend(state(agent, &env, worst));
        let (kept, env) = (agent.clone(), env.clone());
        let examined = tokio::task::spawn_blocking(move || kept.examine_records(&env)).await.ok().flatten();
        checks.extend(examined.into_iter().flat_map(|examined| records(examined, sources)));
    }
    checks.into_iter().map(|check| check.about(id)).collect()
}

fn missing(agent: &Agent, worst: Verdict) -> Check {
    let detail = format!("{} is not installed: there is no program `{}`", agent.title, agent.command.display());
    let fix = match agent.install.as_str() {
        "" => format!("set `command` in [agents.{}] to a program that exists", agent.id),
        command => command.to_owned(),
    };
    Check::bad(INSTALLED, worst, detail, fix).about(&agent.id)
}

fn key_fix(agent: &Agent, error: &SecretError) -> String {
    match error {
        SecretError::Exposed(path) => format!("chmod 600 {}", path.display()),
        SecretError::Empty(path) | SecretError::Unreadable { path, .. } => format!("put the key into {}", path.display()),
        SecretError::NotSet { variable, .. } => format!("export {variable}=\u{2026}   (or change `env` in [agents.{}])", agent.id),
    }
}

fn started(trial: &Trial) -> Check {
    let capabilities = &trial.capabilities;
    let name = capabilities.agent_title.as_deref().or(capabilities.agent_name.as_deref()).unwrap_or("it");
    Check::ok("start", format!("{name} answers after {:.1} s", trial.took.as_secs_f32()))
}

fn login(agent: &Agent, program: &Path, trial: &Trial, worst: Verdict) -> Check {
    let name = "login";
    match &trial.session {
        Ok(()) => Check::ok(name, "it opens a session without asking for one"),
        Err(failure) if failure.fault == Fault::NeedsLogin => {
            Check::bad(name, worst, format!("{} needs you to sign in", agent.title), login_command(agent, program, trial))
        }
        Err(failure) => Check::bad("session", worst, format!("it opens no session: {failure}"), by_hand(agent, program)),
    }
}

/// What to type: the catalogue's command, else the one that the agent advertises, else what is known to help.
fn login_command(agent: &Agent, program: &Path, trial: &Trial) -> String {
    let own = program.display().to_string();
    let words = match (&trial.capabilities.login, agent.login_command()) {
        _ if !agent.login.is_empty() => [vec![own], agent.login.clone()].concat(),
        (_, Some(command)) => return variables(agent) + &command,
        (Some(LoginCommand { command: Some(command), args, .. }), None) => [vec![command.display().to_string()], args.clone()].concat(),
        (Some(LoginCommand { args, .. }), None) => [vec![own], agent.args.clone(), args.clone()].concat(),
        (None, None) => return agent.login_advice(),
    };
    variables(agent) + &words.join(" ")
}

/// To see for oneself what it says.
fn by_hand(agent: &Agent, program: &Path) -> String {
    format!("{}{} {}   (starts it by hand; what it prints says why)", variables(agent), program.display(), agent.args.join(" "))
}

/// Of what the agent is given, only what says where its things are: the rest may be secret.
fn variables(agent: &Agent) -> String {
    let shown =
        agent.env.iter().filter(|(name, value)| name.ends_with("_HOME") || name.ends_with("_DIR") || Path::new(value).is_absolute());
    shown.map(|(name, value)| format!("{name}={value} ")).collect()
}

/// The first directory is where it keeps its things; the others need not be there.
fn state(agent: &Agent, env: &[(String, String)], worst: Verdict) -> Vec<Check> {
    let name = "state";
    let dirs = agent.state(env);
    let Some(first) = dirs.first() else { return Vec::new() };
    let used: Vec<_> = dirs.iter().filter(|dir| *dir == first || dir.exists()).collect();
    for dir in used {
        let Some(nearest) = dir.ancestors().find(|ancestor| ancestor.exists()) else { continue };
        let fix = format!("sudo chown -R \"$USER\" {0} && chmod -R u+rwX {0}", nearest.display());
        if !nearest.is_dir() {
            let fix = format!("mv {0} {0}.old", nearest.display());
            return vec![Check::bad(name, worst, format!("{} is not a directory", nearest.display()), fix)];
        }
        if access(nearest, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
            return vec![Check::bad(
                name,
                worst,
                format!("{} keeps its things in {}, where it may not write", agent.title, dir.display()),
                fix,
            )];
        }
    }
    let shown = dirs.iter().find(|dir| dir.exists()).unwrap_or(first);
    vec![Check::ok(name, format!("{}", shown.display()))]
}

fn records(examined: std::io::Result<Examined>, sources: &Sources) -> Vec<Check> {
    let name = "sessions";
    let examined = match examined {
        Ok(examined) => examined,
        Err(error) => {
            return vec![Check::bad(name, Verdict::Warn, format!("cannot be read: {error}"), "see the state directory above")];
        }
    };
    let mut checks = Vec::new();
    for (record, damage) in examined.damaged.iter().take(MOST_NAMED) {
        let title = record.title.as_ref().map(|title| format!(" (\u{201c}{title}\u{201d})")).unwrap_or_default();
        let end = if damage.repairable { "" } else { "; nothing that can be loaded is left of it" };
        let detail = format!("the agent's record of {}{title} is damaged: {damage}{end}", record.agent_session);
        checks.push(Check::bad("session", Verdict::Warn, detail, own(&format!("repair {}", record.agent_session), sources)));
    }
    if let more @ 1.. = examined.damaged.len().saturating_sub(MOST_NAMED) {
        checks.push(Check::bad(name, Verdict::Warn, format!("{more} more are damaged"), own("repair --list", sources)));
    }
    if checks.is_empty() {
        let skipped = if examined.skipped > 0 { format!("; {} not looked at", examined.skipped) } else { String::new() };
        checks.push(Check::ok(name, format!("{} of its own, none damaged{skipped}", examined.sound)));
    }
    checks
}
