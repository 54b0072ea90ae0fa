//! What an agent can do, in one list for all agents: from a probe where there was one, else by the agent's own words, else from what is
//! known of it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use agents::catalogue::{Agent, Asks, SecondPrompt};
use agents::{Capabilities, Dialect, Quirks};
use serde::{Deserialize, Serialize};

use crate::catalogue::Tested;

/// A file of more than this is none of ours.
const PROBE_BYTES: u64 = 64 * 1024;

const YES: &str = "yes";
const NO: &str = "no";
pub(crate) const UNKNOWN: &str = "unknown";
const PLAIN: &[&str] = &[YES, NO];

/// The abilities, each with its title and what it may be besides unknown.
const ABILITIES: [(&str, &str, &[&str]); 14] = [
    ("restores", "Comes back after a crash", &["loaded", "resumed", "recap", NO]),
    ("resumes", "Resumes a session", PLAIN),
    ("loads", "Loads a session", PLAIN),
    ("lists", "Lists its sessions", PLAIN),
    ("cancels", "Stops on request", PLAIN),
    ("asks", "Asks before it acts", PLAIN),
    ("images", "Takes images", PLAIN),
    ("audio", "Takes audio", PLAIN),
    ("mcp_http", "MCP servers over HTTP", PLAIN),
    ("mcp_sse", "MCP servers over SSE", PLAIN),
    ("mcp_stdio", "MCP servers that are commands", PLAIN),
    ("usage", "Reports its token usage", PLAIN),
    ("second_prompt", "A second prompt while one runs", &["queued", "cancels", "steers"]),
    ("login", "Has a login", PLAIN),
];

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ability {
    pub id: &'static str,
    pub title: &'static str,
    /// yes, no or unknown; of `restores` and `second_prompt` their own words.
    pub value: &'static str,
    /// probe, agent or known; nothing where nobody knows.
    pub source: Option<&'static str>,
}

/// What `voxpilot probe` has seen of an agent, as it is written down.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Probe {
    pub agent: String,
    /// As the agent told it; what is seen of one version says nothing of another.
    pub version: Option<String>,
    pub at: String,
    /// By the id of the ability.
    pub held: BTreeMap<String, String>,
}

impl Probe {
    pub fn path(data_dir: &Path, agent: &str) -> PathBuf {
        data_dir.join("probes").join(format!("{agent}.json"))
    }

    /// What an earlier probe has left.
    fn read(data_dir: &Path, agent: &str) -> Option<Probe> {
        let mut text = String::new();
        std::fs::File::open(Probe::path(data_dir, agent)).ok()?.take(PROBE_BYTES).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// `said` is what it last said of itself, `version` what its program says that it is.
pub(crate) fn of(agent: &Agent, version: Option<&str>, said: Option<&Capabilities>, data_dir: &Path) -> (Vec<Ability>, Option<Tested>) {
    let current = |of: Option<&str>| version.is_none_or(|version| of.is_none_or(|of| names(version, of)));
    let said = said.filter(|said| current(said.agent_version.as_deref()));
    let version = said.and_then(|said| said.agent_version.as_deref()).or(version);
    let probe = Probe::read(data_dir, &agent.id).filter(|probe| match (&probe.version, version) {
        (Some(probed), Some(version)) => names(version, probed),
        (probed, version) => probed.is_none() && version.is_none(),
    });
    let tested = probe.as_ref().map(|probe| Tested { at: probe.at.clone(), version: probe.version.clone() });
    (list(agent, said, probe.as_ref()), tested)
}

fn list(agent: &Agent, said: Option<&Capabilities>, probe: Option<&Probe>) -> Vec<Ability> {
    let ability = |(id, title, words): (&'static str, &'static str, &'static [&'static str])| {
        // Only words that belong to it: anybody may have written the file.
        let probed = probe.and_then(|probe| probe.held.get(id)).and_then(|held| words.iter().find(|word| *word == held).copied());
        let found = probed.map(|value| (value, "probe"));
        let found = found.or_else(|| told(id, said?).map(|value| (value, "agent")));
        let (value, source) = found.or_else(|| known(id, agent).map(|value| (value, "known"))).unzip();
        Ability { id, title, value: value.unwrap_or(UNKNOWN), source }
    };
    ABILITIES.map(ability).to_vec()
}

/// By the agent's own words.
fn told(id: &str, said: &Capabilities) -> Option<&'static str> {
    let is = |yes: bool| Some(if yes { YES } else { NO });
    match id {
        // One that can do neither is told by us what was said before; whether one that can really does, only a crash shows.
        "restores" => (!said.load && !said.resume).then_some("recap"),
        "resumes" => is(said.resume),
        "loads" => is(said.load),
        "lists" => is(said.list),
        "images" => is(said.image),
        "audio" => is(said.audio),
        "mcp_http" => is(said.mcp_http),
        "mcp_sse" => is(said.mcp_sse),
        "login" => (said.login.is_some() || !said.auth_methods.is_empty()).then_some(YES),
        _ => None,
    }
}

fn known(id: &str, agent: &Agent) -> Option<&'static str> {
    let quirks = &agent.quirks;
    match id {
        "asks" if *quirks != Quirks::default() => Some(if quirks.asks == Asks::Never { NO } else { YES }),
        // The protocol has every agent take them; one that does not may have a flag for it.
        "mcp_stdio" => (agent.dialect == Dialect::Acp || agent.mcp_flag().is_some()).then_some(YES),
        "second_prompt" => match quirks.second_prompt {
            SecondPrompt::Unknown => None,
            SecondPrompt::Queued => Some("queued"),
            SecondPrompt::Cancels => Some("cancels"),
            SecondPrompt::Steers => Some("steers"),
        },
        "login" => (!agent.login.is_empty()).then_some(YES),
        _ => None,
    }
}

/// Whether a program's words for its version name this one: `GitHub Copilot CLI 1.0.102.` is `1.0.102`.
fn names(words: &str, version: &str) -> bool {
    let plain = |word: &str| word.trim_matches(|char: char| !char.is_ascii_alphanumeric()).trim_start_matches('v').to_owned();
    words == version || words.split(|char: char| char.is_whitespace() || char == '/').any(|word| plain(word) == plain(version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::catalogue::{COPILOT, Catalogue, Settings};

    fn copilot() -> Agent {
        let settings = Settings {
            copilot_command: "copilot".into(),
            copilot_home: None,
            copilot_token_file: None,
            own_exe: "x".into(),
            configured: vec![],
        };
        Catalogue::new(settings).get(COPILOT).unwrap().clone()
    }

    fn said() -> Capabilities {
        Capabilities { load: true, image: true, agent_version: Some("1.0.102".into()), ..Capabilities::default() }
    }

    fn value(list: &[Ability], id: &str) -> (&'static str, Option<&'static str>) {
        list.iter().find(|ability| ability.id == id).map(|ability| (ability.value, ability.source)).unwrap()
    }

    #[test]
    fn a_probe_beats_the_agents_words_and_those_beat_what_is_known() {
        let held = [("loads", "no"), ("restores", "loaded"), ("images", "perhaps"), ("second_prompt", "queued")];
        let held = held.map(|(id, value)| (id.to_owned(), value.to_owned())).into();
        let probe = Probe { agent: COPILOT.into(), version: Some("1.0.102".into()), at: String::new(), held };
        let nobody = list(&copilot(), None, None);
        assert_eq!(value(&nobody, "second_prompt"), ("cancels", Some("known")));
        assert_eq!((value(&nobody, "loads"), value(&nobody, "usage")), ((UNKNOWN, None), (UNKNOWN, None)));
        let told = list(&copilot(), Some(&said()), None);
        assert_eq!((value(&told, "loads"), value(&told, "resumes")), (("yes", Some("agent")), ("no", Some("agent"))));
        assert_eq!(value(&told, "restores"), (UNKNOWN, None), "that it says so is not yet that it does");
        let probed = list(&copilot(), Some(&said()), Some(&probe));
        assert_eq!((value(&probed, "loads"), value(&probed, "restores")), (("no", Some("probe")), ("loaded", Some("probe"))));
        assert_eq!(value(&probed, "images"), ("yes", Some("agent")), "a word that means nothing does not count");
        assert_eq!(value(&probed, "second_prompt"), ("queued", Some("probe")));
        let neither = Capabilities { load: false, ..said() };
        assert_eq!(value(&list(&copilot(), Some(&neither), None), "restores"), ("recap", Some("agent")));
    }

    #[test]
    fn what_was_seen_of_another_version_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let probe = Probe { version: Some("1.0.102".into()), held: [("asks".to_owned(), "no".to_owned())].into(), ..Probe::default() };
        let path = Probe::path(dir.path(), COPILOT);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, serde_json::to_vec(&probe).unwrap()).unwrap();
        let asks = |version: Option<&str>, said: Option<&Capabilities>| value(&of(&copilot(), version, said, dir.path()).0, "asks").1;
        assert_eq!(asks(Some("GitHub Copilot CLI 1.0.102."), None), Some("probe"));
        assert_eq!(asks(None, Some(&said())), Some("probe"));
        assert_eq!(asks(Some("GitHub Copilot CLI 1.0.1021."), Some(&said())), Some("known"));
        assert_eq!(asks(None, None), Some("known"));
        assert_eq!(value(&of(&copilot(), Some("2.0"), Some(&said()), dir.path()).0, "loads"), (UNKNOWN, None));
    }
}
