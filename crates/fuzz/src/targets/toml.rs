//! The `voxpilot.toml` of a project, which anybody may have written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use domain::policy::Policy;
use voxpilot::config::{Config, ConfigFile, Sources, resolve, visible};

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;

pub(super) const TARGET: Target = Target {
    name: "toml",
    about: "a project's voxpilot.toml, with and without consent",
    run,
    generate,
    max_bytes: 8 * 1024,
    // The library makes room for four values in every list, so `[[[[` takes 200 bytes for each byte. A project's file has 64 KiB at most.
    memory: Memory { per_byte: 512, ..Memory::USUAL },
};

/// Never to be seen in a message.
const SECRET: &str = "s3cret-canary-0123456789";

const LANGUAGE: Language = Language {
    words: &[
        "bind = '0.0.0.0:1'\n",
        "token = 'known-to-the-attacker-0123'\n",
        "permission_policy = 'auto'\n",
        "permission_policy = 'deny'\n",
        "permission_policy = 'read-only'\n",
        "title = 'A project'\n",
        "suggestions = ['one', 'two']\n",
        "ignore = ['*.min.js']\n",
        "work_dirs = ['/']\n",
        "model = 'x'\n",
        "model_base_url = 'http://127.0.0.1:9/v1'\n",
        "model_provider = 'github'\n",
        "model_api_key = 'k'\n",
        "disk_quota = '5M'\n",
        "log = 'debug'\n",
        "[agents.mine]\n",
        "[agents.copilot]\n",
        "command = './agent'\n",
        "args = ['--acp']\n",
        "url = 'tcp://127.0.0.1:9'\n",
        "allow_remote = true\n",
        "env = { A = 'b', C = { file = 'd' } }\n",
        "sandbox = 'workdir'\n",
        "[mcp_servers.x]\n",
        "[[agents]]\n",
        "agents = { a = { command = 'x' } }\n",
        "agents.a.command = 'x'\n",
        "\"\"\"",
        "'''",
        "\\u0000",
        "\\u202E",
        "inf",
        "nan",
        "1979-05-27T07:32:00Z",
        "true",
        "{ }",
        "[ ]",
        "#",
        "=",
        ".",
    ],
    lines: true,
    json: true,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

/// The person's own settings, and what comes of them alone.
static OWN: LazyLock<(Sources, Config)> = LazyLock::new(|| {
    let own = ConfigFile {
        path: PathBuf::from("/home/ada/.config/voxpilot/voxpilot.toml"),
        text: format!("token = '{SECRET}'\n[agents.own]\ncommand = '/usr/bin/own'\n[mcp_servers.own]\nurl = 'http://127.0.0.1:1/'\n"),
        open_to_others: false,
        trusted: true,
        scripts: Vec::new(),
    };
    let env = [("HOME", "/home/ada"), ("GITHUB_TOKEN", SECRET), ("PATH", "/usr/bin")];
    let sources = Sources {
        env: env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        user: Some(own),
        cwd: PathBuf::from("/home/ada/project"),
        ..Sources::default()
    };
    let config = resolve(&sources).expect("the person's own settings are good");
    (sources, config)
});

fn run(input: &[u8], features: &mut Features) {
    let text = String::from_utf8_lossy(input).into_owned();
    for policy in [None, Some("ask"), Some("deny")] {
        let flags = policy.map(|policy| ("permission_policy".to_owned(), policy.to_owned()));
        untrusted(&text, flags.into_iter().collect(), features);
    }
    trusted(&text, features);
}

fn with_project(text: &str, flags: BTreeMap<String, String>, trusted: bool) -> Sources {
    let path = PathBuf::from("/home/ada/project/voxpilot.toml");
    let project = ConfigFile { path, text: text.to_owned(), open_to_others: true, trusted, scripts: Vec::new() };
    Sources { project: Some(project), flags, ..OWN.0.clone() }
}

/// Without consent the file keeps nobody from starting, and nothing of it counts but what is harmless or stricter.
fn untrusted(text: &str, flags: BTreeMap<String, String>, features: &mut Features) {
    let own = resolve(&Sources { flags: flags.clone(), ..OWN.0.clone() }).expect("the person's own settings are good");
    let sources = with_project(text, flags, false);
    let config = match resolve(&sources) {
        Ok(config) => config,
        Err(error) => panic!("an untrusted file keeps the server from starting: {error}"),
    };
    assert!(essence(&config) == essence(&own), "an untrusted file changes settings:\n{}\nnot\n{}", essence(&config), essence(&own));
    assert!(config.token == own.token && config.model_api_key == own.model_api_key, "an untrusted file changes a secret");
    let before = own.permission_policy.unwrap_or(Policy::Auto);
    let after = config.least_policy.map_or(before, |least| before.stricter(least));
    assert!(after.stricter(before) == after, "an untrusted file weakens the policy from {before:?} to {after:?}");
    presentable(config.warnings.iter());
    presentable(config.entries.iter().filter_map(|entry| entry.value.as_ref()));
    features.note_size("warnings", config.warnings.len());
    features.note((config.title.is_some(), config.suggestions.len().min(9), config.least_policy.map(Policy::as_str)));

    let review = sources.review().expect("there is a file");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for line in &review.lines {
        let written = lines.get(line.number - 1).map(|text| visible(text.trim_end_matches(['\n', '\r'])));
        assert!(written.as_deref() == Some(&line.text), "line {} is shown as {:?}", line.number, line.text);
    }
    assert!(review.lines.windows(2).all(|pair| pair[0].number < pair[1].number), "lines are shown out of order");
    features.note((review.lines.len().min(20), review.problem.is_some()));
    // What nobody is asked about makes no difference once it is trusted.
    if review.lines.is_empty() && review.problem.is_none() {
        let mut all = sources.clone();
        all.project.iter_mut().for_each(|project| project.trusted = true);
        if let Ok(all) = resolve(&all) {
            let all = Config { permission_policy: own.permission_policy, ..all };
            assert!(essence(&all) == essence(&own), "consent that nobody was asked for changes settings");
        }
    }
}

/// With consent it counts, or what is wrong with it is said.
fn trusted(text: &str, features: &mut Features) {
    match resolve(&with_project(text, BTreeMap::new(), true)) {
        Ok(config) => {
            features.note(("trusted", config.agents.len().min(8), config.mcp_servers.len().min(8)));
            presentable(config.warnings.iter());
        }
        Err(error) => {
            let shown = error.to_string();
            presentable(shown.lines());
            assert!(!error.problems.is_empty(), "an error without a problem");
            for problem in &error.problems {
                let named = problem.contains("voxpilot.toml") || problem.contains('`');
                assert!(named, "a problem that names nothing: {problem}");
                features.note(problem.split('`').step_by(2).take(2).map(|part| part.len().min(60)).collect::<Vec<_>>());
            }
        }
    }
}

/// What people see holds no secret and no control character.
fn presentable<T: AsRef<str>>(texts: impl Iterator<Item = T>) {
    for text in texts {
        let text = text.as_ref();
        assert!(!text.contains(SECRET), "a secret is shown: {text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\t'), "a control character is shown: {text:?}");
    }
}

/// Everything that a file must not change by itself. Secrets show as hidden, so they are compared apart.
fn essence(config: &Config) -> String {
    let harmless = Config { title: None, suggestions: Vec::new(), ignore: Vec::new(), least_policy: None, ..config.clone() };
    format!("{:?}", Config { entries: Vec::new(), warnings: Vec::new(), ..harmless })
}
