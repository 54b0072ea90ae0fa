//! The settings: precedence, forms and messages.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::catalogue::{Offers, Reference};
use domain::policy::Policy;
use voxpilot::config::{Config, ConfigFile, Durability, EnvValue, LogFormat, McpTransport, Origin, Sources, resolve};

const PROJECT: &str = "/work/voxpilot.toml";
const USER: &str = "/home/ada/.config/voxpilot/voxpilot.toml";

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn file(path: &str, text: &str) -> ConfigFile {
    ConfigFile { path: PathBuf::from(path), text: text.to_owned(), open_to_others: false, trusted: true, scripts: Vec::new() }
}

fn sources(flags: &[(&str, &str)], env: &[(&str, &str)], files: &[(&str, &str)]) -> Sources {
    let mut env = map(env);
    env.entry("HOME".to_owned()).or_insert("/home/ada".to_owned());
    let find = |wanted: &str| files.iter().find(|(path, _)| *path == wanted).map(|(path, text)| file(path, text));
    Sources { flags: map(flags), env, project: find(PROJECT), user: find(USER), cwd: PathBuf::from("/work"), ..Sources::default() }
}

fn from_env(env: &[(&str, &str)]) -> Config {
    resolve(&sources(&[], env, &[])).unwrap()
}

fn from_file(text: &str) -> Config {
    resolve(&sources(&[], &[], &[(PROJECT, text)])).unwrap()
}

fn problems(sources: &Sources) -> Vec<String> {
    resolve(sources).unwrap_err().problems
}

fn origin(config: &Config, key: &str) -> Origin {
    config.entries.iter().find(|entry| entry.key == key).unwrap().origin.clone()
}

/// Holds S1-61.
#[test]
fn defaults_are_those_of_the_contract() {
    let config = from_env(&[]);
    assert_eq!(config.bind, "127.0.0.1:8000");
    assert_eq!(config.data_dir, Path::new("/home/ada/.local/share/voxpilot"));
    assert_eq!(config.work_dir, Path::new("/work"));
    assert_eq!((config.token, config.metrics_token, config.otlp_endpoint), (None, None, None));
    assert_eq!((config.model.as_str(), config.max_agent_iterations), ("relay", 25));
    assert_eq!((config.model_base_url, config.model_api_key, config.model_provider), (None, None, None));
    assert_eq!((config.agent, config.copilot_cli_path), (None, PathBuf::from("copilot")));
    assert_eq!((config.copilot_home, config.copilot_token_file), (None, None));
    assert_eq!(config.copilot_connection_ttl, Duration::from_secs(1800));
    assert_eq!((config.permission_policy, config.permission_timeout), (None, None));
    assert_eq!((config.durability, config.log_format), (Durability::Process, LogFormat::Text));
    assert_eq!(config.log, "info");
    let all_default = config.entries.iter().all(|entry| entry.origin == Origin::Default);
    assert!(!config.entries.is_empty() && all_default, "{:?}", config.entries);
    assert!(config.warnings.is_empty() && config.agents.is_empty());
}

#[test]
fn a_flag_beats_a_variable_beats_the_project_file_beats_the_users_file() {
    let flag = [("bind", "flag:1")];
    let variable = [("VOXPILOT_BIND", "variable:2")];
    let files = [(PROJECT, "bind = 'project:3'"), (USER, "bind = 'user:4'")];
    let table = [
        (sources(&flag, &variable, &files), "flag:1", Origin::Flag("--bind".into())),
        (sources(&[], &variable, &files), "variable:2", Origin::Environment("VOXPILOT_BIND".into())),
        (sources(&[], &[], &files), "project:3", Origin::File(PROJECT.into())),
        (sources(&[], &[], &files[1..]), "user:4", Origin::File(USER.into())),
        (sources(&[], &[("VOXPILOT_BIND", "")], &files[1..]), "user:4", Origin::File(USER.into())),
        (sources(&[], &[], &[]), "127.0.0.1:8000", Origin::Default),
    ];
    for (sources, expected, from) in table {
        let config = resolve(&sources).unwrap();
        assert_eq!((config.bind.as_str(), origin(&config, "bind")), (expected, from));
    }
}

/// A value for every setting, with what it must become.
const EVERY_SETTING: [(&str, &str, &str); 34] = [
    ("bind", "localhost:0", "localhost:0"),
    ("data_dir", "/data", "/data"),
    ("work_dir", "/elsewhere", "/elsewhere"),
    ("work_dirs", "/more", "/more"),
    ("token", "0123456789abcdef", "***"),
    ("metrics_token", "fedcba9876543210", "***"),
    ("allowed_hosts", "vox.lan,Cockpit.example", "vox.lan,Cockpit.example"),
    ("trusted_proxies", "127.0.0.1,10.0.0.0/8", "127.0.0.1,10.0.0.0/8"),
    ("tls", "self-signed", "self-signed"),
    ("tls_cert", "/tls/cert.pem", "/tls/cert.pem"),
    ("tls_key", "/tls/key.pem", "/tls/key.pem"),
    ("model", "gpt-x", "gpt-x"),
    ("model_base_url", "http://[::1]:9/v1", "http://[::1]:9/v1"),
    ("model_api_key", "sk-hidden", "***"),
    ("model_provider", "openrouter", "openrouter"),
    ("max_agent_iterations", "3", "3"),
    ("agent", "my-agent", "my-agent"),
    ("agents_registry", "/registry.json", "/registry.json"),
    ("copilot_cli_path", "/opt/copilot", "/opt/copilot"),
    ("copilot_home", "/state", "/state"),
    ("copilot_token_file", "/secrets/token", "/secrets/token"),
    ("copilot_connection_ttl", "60", "60"),
    ("permission_policy", "read-only", "read-only"),
    ("permission_timeout", "90", "90"),
    ("durability", "disk", "disk"),
    ("log", "info,engine=debug", "info,engine=debug"),
    ("log_format", "json", "json"),
    ("otlp_endpoint", "http://127.0.0.1:4318", "http://127.0.0.1:4318"),
    ("title", "A project", "A project"),
    ("suggestions", "Mend it", "Mend it"),
    ("ignore", "*.min.js", "*.min.js"),
    ("disk_quota", "20G", "20G"),
    ("push_contact", "mailto:ada@example.org", "mailto:ada@example.org"),
    ("push_hosts", "push.lan:443,127.0.0.1:*", "push.lan:443,127.0.0.1:*"),
];

#[test]
fn every_setting_can_be_given_in_every_way() {
    let flags: Vec<_> = EVERY_SETTING.iter().map(|(key, value, _)| (*key, *value)).collect();
    let names: Vec<_> = EVERY_SETTING.iter().map(|(key, ..)| format!("VOXPILOT_{}", key.to_uppercase())).collect();
    let env: Vec<_> = names.iter().zip(&EVERY_SETTING).map(|(name, (_, value, _))| (name.as_str(), *value)).collect();
    let text = EVERY_SETTING.iter().map(|(key, value, _)| match *key {
        "suggestions" | "ignore" | "work_dirs" => format!("{key} = ['{value}']\n"),
        _ => format!("{key} = '{value}'\n"),
    });
    let text: String = text.collect();
    for sources in [sources(&flags, &[], &[]), sources(&[], &env, &[]), sources(&[], &[], &[(PROJECT, &text)])] {
        let config = resolve(&sources).unwrap();
        assert_eq!(config.entries.len(), EVERY_SETTING.len(), "the table above names every setting");
        for (key, _, expected) in EVERY_SETTING {
            let entry = config.entries.iter().find(|entry| entry.key == key).unwrap();
            assert_eq!(entry.value.as_deref(), Some(expected), "{key}");
            assert_ne!(entry.origin, Origin::Default, "{key}");
        }
        assert_eq!(config.token.unwrap().expose(), "0123456789abcdef");
        assert_eq!(config.model_api_key.unwrap().expose(), "sk-hidden");
        assert_eq!(config.metrics_token.unwrap().expose(), "fedcba9876543210");
        assert_eq!(config.otlp_endpoint.as_deref(), Some("http://127.0.0.1:4318"));
        assert_eq!(config.permission_policy, Some(Policy::ReadOnly));
        assert_eq!(config.permission_timeout, Some(Duration::from_secs(90)));
        assert_eq!((config.durability, config.log_format), (Durability::Disk, LogFormat::Json));
    }
}

#[test]
fn numbers_in_a_file_need_no_quotes() {
    let config = from_file("max_agent_iterations = 7\ncopilot_connection_ttl = 0");
    assert_eq!((config.max_agent_iterations, config.copilot_connection_ttl), (7, Duration::ZERO));
}

/// Holds S3-16, C40.
#[test]
fn the_bare_name_of_the_ttl_works_and_the_prefixed_one_wins() {
    let bare = ("COPILOT_CONNECTION_TTL", "5");
    let config = from_env(&[bare]);
    assert_eq!(config.copilot_connection_ttl, Duration::from_secs(5));
    assert_eq!(origin(&config, "copilot_connection_ttl"), Origin::Environment("COPILOT_CONNECTION_TTL".into()));
    let both = from_env(&[bare, ("VOXPILOT_COPILOT_CONNECTION_TTL", "6")]);
    assert_eq!(both.copilot_connection_ttl, Duration::from_secs(6));
    let over_file = resolve(&sources(&[], &[bare], &[(PROJECT, "copilot_connection_ttl = 7")])).unwrap();
    assert_eq!(over_file.copilot_connection_ttl, Duration::from_secs(5));
}

#[test]
fn paths_are_relative_to_where_they_were_given() {
    let files = [(PROJECT, "data_dir = 'below'"), (USER, "copilot_home = '../state'\ncopilot_token_file = '~/token'")];
    let config = resolve(&sources(&[("copilot_cli_path", "bin/copilot")], &[], &files)).unwrap();
    assert_eq!(config.data_dir, Path::new("/work/below"));
    assert_eq!(config.copilot_home.unwrap(), Path::new("/home/ada/.config/voxpilot/../state"));
    assert_eq!(config.copilot_token_file.unwrap(), Path::new("/home/ada/token"));
    assert_eq!(config.copilot_cli_path, Path::new("/work/bin/copilot"));
}

#[test]
fn the_data_directory_follows_the_users_base_directories() {
    assert_eq!(from_env(&[("XDG_DATA_HOME", "/xdg")]).data_dir, Path::new("/xdg/voxpilot"));
    assert_eq!(from_env(&[("XDG_DATA_HOME", "relative")]).data_dir, Path::new("/home/ada/.local/share/voxpilot"));
    let homeless = problems(&sources(&[], &[("HOME", "")], &[]));
    assert!(homeless[0].contains("VOXPILOT_DATA_DIR"), "{homeless:?}");
}

#[test]
fn a_bad_value_is_named_with_its_source_and_the_expected_form() {
    let table = [
        ("bind", "8000", "host:port"),
        ("bind", "host:99999", "host:port"),
        ("bind", "::1:80", "host:port"),
        ("token", "only-15-letters", "at least 16"),
        ("token", "with a space in it", "at least 16"),
        ("model", " spaced", "a model's name"),
        ("model_base_url", "ftp://host", "http or https"),
        ("model_base_url", "http://", "http or https"),
        ("model_base_url", "http://user:secret@host", "without a password"),
        ("model_provider", "acme", "github, openai, anthropic, gemini, ollama or openrouter"),
        ("max_agent_iterations", "0", "1 to 1000"),
        ("max_agent_iterations", "many", "1 to 1000"),
        ("max_agent_iterations", "+5", "1 to 1000"),
        ("agent", "../x", "an agent's id"),
        ("copilot_connection_ttl", "-1", "whole seconds"),
        ("copilot_connection_ttl", "30m", "whole seconds"),
        ("copilot_connection_ttl", "18446744073709551615", "whole seconds"),
        ("permission_policy", "maybe", "auto, auto-all, ask, read-only or deny"),
        ("permission_timeout", "0", "whole seconds from 1"),
        ("durability", "forever", "process or disk"),
        ("log", "engine=loud", "a filter"),
        ("log_format", "xml", "text or json"),
        ("metrics_token", "only-15-letters", "at least 16"),
        ("otlp_endpoint", "127.0.0.1:4318", "http or https"),
        ("otlp_endpoint", "http://host:4318?key=x", "a query"),
        ("otlp_endpoint", "http://user:secret@host/x", "without a password"),
    ];
    for (key, value, expected) in table {
        let variable = format!("VOXPILOT_{}", key.to_uppercase());
        let text = format!("{key} = '{value}'");
        let flag = format!("`--{}`", key.replace('_', "-"));
        for (sources, named) in [
            (sources(&[(key, value)], &[], &[]), flag),
            (sources(&[], &[(&variable, value)], &[]), format!("`{variable}`")),
            (sources(&[], &[], &[(PROJECT, &text)]), format!("`{key}` in {PROJECT}")),
        ] {
            let problems = problems(&sources);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains(&named) && problems[0].contains(expected), "{named} {expected}: {problems:?}");
            let secret = key.ends_with("token") || value.contains('@');
            assert_eq!(problems[0].contains(value), !secret, "only a secret is not repeated: {problems:?}");
            assert!(!problems[0].contains("user:secret"), "{problems:?}");
        }
    }
}

#[test]
fn an_empty_value_is_bad_except_in_the_environment() {
    assert_eq!(from_env(&[("VOXPILOT_MODEL", ""), ("VOXPILOT_TOKEN", "")]).model, "relay");
    assert!(problems(&sources(&[("model", "")], &[], &[]))[0].contains("`--model` is empty"));
    assert!(problems(&sources(&[], &[], &[(PROJECT, "data_dir = ''")]))[0].contains("is empty"));
}

#[test]
fn unknown_names_are_errors_that_name_them() {
    let files = [(PROJECT, "modle = 'x'"), (USER, "[server]\nport = 1")];
    let problems = problems(&sources(&[], &[("VOXPILOT_MODLE", "x"), ("VOXPILOT", "fine"), ("OTHER", "fine")], &files));
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("`VOXPILOT_MODLE`") && problems[0].contains("VOXPILOT_MODEL,"), "{problems:?}");
    assert!(problems[1].contains("`modle`") && problems[1].contains(PROJECT), "{problems:?}");
    assert!(problems[2].contains("`server`") && problems[2].contains(USER), "{problems:?}");
}

#[test]
fn a_file_that_is_not_toml_is_named_with_its_line_but_not_quoted() {
    let problems = problems(&sources(&[], &[], &[(PROJECT, "bind = 'a:1'\ntoken = 'hidden-secret\n")]));
    assert!(problems[0].contains(PROJECT) && problems[0].contains("line 2"), "{problems:?}");
    assert!(!problems[0].contains("hidden-secret"), "{problems:?}");
}

#[test]
fn a_value_of_the_wrong_kind_is_named() {
    for text in ["bind = true", "bind = ['a:1']", "bind = 1.5", "[bind]\nhost = 'a'"] {
        let problems = problems(&sources(&[], &[], &[(PROJECT, text)]));
        assert!(problems[0].contains("`bind`") && problems[0].contains("host:port"), "{problems:?}");
    }
}

#[test]
fn agent_sections_are_read_and_the_first_file_wins() {
    let project = "[agents.mine]\ncommand = 'bin/mine'\nargs = ['--acp']\ntitle = 'Mine'\n[agents.mine.env]\nKEY = 'hidden-value'\n";
    let user = "[agents.mine]\ncommand = 'other'\n[agents.copilot]\nenv = { COPILOT_MODEL = 'x' }\n";
    let config = resolve(&sources(&[], &[], &[(PROJECT, project), (USER, user)])).unwrap();
    let mine = &config.agents["mine"];
    assert_eq!(mine.command.as_deref(), Some(Path::new("/work/bin/mine")));
    assert_eq!((mine.args.as_deref(), mine.title.as_deref()), (Some(["--acp".to_owned()].as_slice()), Some("Mine")));
    assert_eq!(mine.env, [("KEY".to_owned(), EnvValue::Text("hidden-value".to_owned()))].into());
    assert_eq!(config.agents["copilot"].command, None);
    let report = config.report();
    assert!(report.contains("agents.mine.command") && report.contains("agents.copilot.env.COPILOT_MODEL"), "{report}");
    assert!(!report.contains("hidden-value"), "{report}");
}

#[test]
fn an_agents_section_says_where_a_key_is_and_what_the_agent_is_offered() {
    let user = "[agents.gemini]\nnpx = true\noffers = ['write', 'terminal']\nasks = false\n\
                env = { A = { variable = 'MY_KEY' }, B = { file = '~/.secret' }, C = 'hidden-value' }\n\
                [agents.claude]\noffers = []\n";
    let config = resolve(&sources(&[], &[], &[(USER, user)])).unwrap();
    let gemini = &config.agents["gemini"];
    assert_eq!((gemini.npx, gemini.asks), (true, Some(false)));
    assert_eq!(gemini.offers, Some(Offers { read: false, write: true, terminal: true }));
    assert_eq!(config.agents["claude"].offers, Some(Offers::NONE));
    assert_eq!(gemini.env["A"], EnvValue::Elsewhere(Reference::Variable("MY_KEY".into())));
    assert_eq!(gemini.env["B"], EnvValue::Elsewhere(Reference::File("/home/ada/.secret".into())));
    let report = config.report();
    assert!(report.contains("the variable MY_KEY") && report.contains("the file /home/ada/.secret"), "{report}");
    assert!(!report.contains("hidden-value"), "{report}");
}

#[test]
fn a_registry_adds_agents_that_a_section_can_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.json");
    let catalogue = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let user = format!("agents_registry = {:?}\n[agents.alpha]\nnpx = true\n", path.display().to_string());
        let config = resolve(&sources(&[], &[], &[(USER, &user)])).unwrap();
        voxpilot::catalogue::catalogue(&config, Path::new("/bin/sh")).map_err(|error| format!("{error:#}"))
    };
    let alpha = r#"{ "id": "alpha", "name": "Alpha", "description": "d", "distribution": { "npx": { "package": "@x/alpha@1.2.3" } } }"#;
    let found = catalogue(&format!(r#"{{ "version": "1", "agents": [{alpha}] }}"#)).unwrap();
    let alpha = found.get("alpha").unwrap();
    assert_eq!((alpha.title.as_str(), alpha.about.as_str(), alpha.npx), ("Alpha", "d", true));
    let error = catalogue("{}").unwrap_err();
    assert!(error.contains("agents_registry") && error.contains("registry.json") && error.contains("missing field `agents`"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let config = Config { agents_registry: Some(path), ..from_env(&[]) };
    let error = voxpilot::catalogue::catalogue(&config, Path::new("/bin/sh")).unwrap_err();
    assert!(format!("{error:#}").contains("registry.json"), "{error:#}");
}

#[test]
fn bad_agent_sections_are_named() {
    for (text, named) in [
        ("agents = 1", "`agents`"),
        ("[agents]\nmine = 1", "`agents.mine`"),
        ("[agents.'a b']\ncommand = 'x'", "`agents.a b`"),
        ("[agents.mine]\ncomand = 'x'", "`agents.mine.comand`"),
        ("[agents.mine]\ncommand = 1", "`agents.mine.command`"),
        ("[agents.mine]\ncommand = ''", "`agents.mine.command`"),
        ("[agents.mine]\nargs = 'x'", "`agents.mine.args`"),
        ("[agents.mine]\nargs = [1]", "`agents.mine.args`"),
        ("[agents.mine]\nenv = { A = 1 }", "`agents.mine.env`"),
        ("[agents.mine]\nenv = { VOXPILOT_TOKEN = 'x' }", "`agents.mine.env`"),
        ("[agents.mine]\nenv = { A = { variable = 'VOXPILOT_TOKEN' } }", "`agents.mine.env`"),
        ("[agents.mine]\nenv = { A = { variable = 'X', file = 'y' } }", "`agents.mine.env`"),
        ("[agents.mine]\nenv = { A = { file = '' } }", "`agents.mine.env`"),
        ("[agents.mine]\nenv = { A = { value = 'x' } }", "`agents.mine.env`"),
        ("[agents.mine]\nnpx = 'yes'", "`agents.mine.npx`"),
        ("[agents.mine]\nasks = 1", "`agents.mine.asks`"),
        ("[agents.mine]\noffers = 'read'", "`agents.mine.offers`"),
        ("[agents.mine]\noffers = ['reed']", "`agents.mine.offers`"),
        ("[agents.mine]\ntitle = 1", "`agents.mine.title`"),
    ] {
        let problems = problems(&sources(&[], &[], &[(PROJECT, text)]));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(named) && problems[0].contains(PROJECT), "{named}: {problems:?}");
    }
}

#[test]
fn mcp_servers_are_read_and_nothing_that_may_be_secret_is_shown() {
    let project = "[mcp_servers.tiny]\ncommand = 'bin/tiny'\nargs = ['-v']\nenv = { KEY = 'hidden-value' }\n\
                   [mcp_servers.far]\nurl = 'https://host/mcp?key=hidden-value'\nheaders = { Authorization = 'hidden-value' }\n\
                   [mcp_servers.old]\ntype = 'sse'\nurl = 'http://host/sse'\n";
    let user = "[mcp_servers.tiny]\ncommand = 'other'\n";
    let config = resolve(&sources(&[], &[], &[(PROJECT, project), (USER, user)])).unwrap();
    let transport = |name: &str| config.mcp_servers[name].transport.clone();
    assert_eq!(transport("tiny"), McpTransport::Stdio { command: "/work/bin/tiny".into(), args: vec!["-v".into()] });
    assert_eq!(transport("old"), McpTransport::Sse { url: "http://host/sse".into() });
    assert_eq!(config.mcp_servers["far"].secrets["Authorization"].expose(), "hidden-value");
    let report = config.report();
    assert!(report.contains("mcp_servers.tiny.KEY") && report.contains("http https://host/mcp"), "{report}");
    assert!(!report.contains("hidden-value") && !format!("{config:?}").contains("hidden-value"), "{report}");
    for (text, named) in [
        ("mcp_servers = 1", "`mcp_servers`"),
        ("[mcp_servers]\na = 1", "`mcp_servers.a`"),
        ("[mcp_servers.'a b']\ncommand = 'x'", "`mcp_servers.a b`"),
        ("[mcp_servers.a]", "`mcp_servers.a`"),
        ("[mcp_servers.a]\ncommand = 'x'\nurl = 'http://x'", "`mcp_servers.a`"),
        ("[mcp_servers.a]\ncommand = 'x'\nheaders = {}", "`mcp_servers.a.headers`"),
        ("[mcp_servers.a]\ncommand = 'x'\nenv = { A = 1 }", "`mcp_servers.a.env`"),
        ("[mcp_servers.a]\nurl = 'ftp://x'", "`mcp_servers.a.url`"),
        ("[mcp_servers.a]\nurl = 'http://x'\ntype = 'ws'", "`mcp_servers.a.type`"),
    ] {
        let problems = problems(&sources(&[], &[], &[(PROJECT, text)]));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(named) && problems[0].contains(PROJECT), "{named}: {problems:?}");
    }
}

/// Holds C2.
#[test]
fn an_agent_on_tcp_is_on_this_machine_unless_it_is_allowed_not_to_be() {
    let from = |text: &str| resolve(&sources(&[], &[], &[(PROJECT, text)]));
    for url in ["tcp://127.0.0.1:3000", "tcp://localhost:3000/", "tcp://[::1]:3000"] {
        let config = from(&format!("[agents.far]\nurl = '{url}'")).unwrap();
        assert_eq!(config.agents["far"].remote.as_deref(), Some(url.trim_start_matches("tcp://").trim_end_matches('/')));
        assert!(config.warnings.iter().any(|warning| warning.contains("without authentication")), "{:?}", config.warnings);
    }
    assert!(from("[agents.far]\nurl = 'tcp://10.0.0.1:3000'\nallow_remote = true").is_ok());
    for (text, named) in [
        ("[agents.far]\nurl = 'tcp://10.0.0.1:3000'", "allow_remote"),
        ("[agents.far]\nurl = 'tcp://host:3000'", "allow_remote"),
        ("[agents.far]\nurl = 'http://127.0.0.1:3000'", "tcp://host:port"),
        ("[agents.far]\nurl = 'tcp://127.0.0.1'", "tcp://host:port"),
        ("[agents.far]\nurl = 'tcp://127.0.0.1:1'\ncommand = 'x'", "either a command or a url"),
        ("[agents.far]\nallow_remote = 'yes'", "true or false"),
    ] {
        let problems = problems(&sources(&[], &[], &[(PROJECT, text)]));
        assert!(problems.len() == 1 && problems[0].contains(named), "{named}: {problems:?}");
    }
}

#[test]
fn an_agent_is_sandboxed_where_its_section_says_so() {
    let from = |text: &str| resolve(&sources(&[], &[], &[(PROJECT, text)]));
    assert!(from("[agents.a]\ncommand = 'x'\nsandbox = 'workdir'").unwrap().agents["a"].confined);
    assert!(!from("[agents.a]\ncommand = 'x'").unwrap().agents["a"].confined);
    for (text, named) in [
        ("[agents.a]\ncommand = 'x'\nsandbox = 'all'", "\"workdir\""),
        ("[agents.a]\ncommand = 'x'\nsandbox = true", "\"workdir\""),
        ("[agents.a]\nurl = 'tcp://127.0.0.1:1'\nsandbox = 'workdir'", "either a url or a sandbox"),
    ] {
        let problems = problems(&sources(&[], &[], &[(PROJECT, text)]));
        assert!(problems.len() == 1 && problems[0].contains(named), "{named}: {problems:?}");
    }
}

#[test]
fn a_model_without_an_endpoint_is_an_error_that_says_what_is_missing() {
    let problems = problems(&sources(&[], &[("VOXPILOT_MODEL", "gpt-x")], &[]));
    assert!(problems[0].contains("gpt-x") && problems[0].contains("VOXPILOT_MODEL_BASE_URL"), "{problems:?}");
}

#[test]
fn a_preset_finds_its_usual_key_unless_one_is_configured() {
    let preset = ("VOXPILOT_MODEL_PROVIDER", "github");
    let usual = from_env(&[preset, ("GITHUB_TOKEN", "usual")]);
    assert_eq!(usual.model_api_key.as_ref().unwrap().expose(), "usual");
    assert_eq!(origin(&usual, "model_api_key"), Origin::Environment("GITHUB_TOKEN".into()));
    let own = from_env(&[preset, ("GITHUB_TOKEN", "usual"), ("VOXPILOT_MODEL_API_KEY", "own")]);
    assert_eq!(own.model_api_key.unwrap().expose(), "own");
    let none = from_env(&[preset]);
    assert!(none.warnings[0].contains("GITHUB_TOKEN"), "{:?}", none.warnings);
    assert!(from_env(&[("VOXPILOT_MODEL_PROVIDER", "ollama")]).warnings.is_empty());
}

#[test]
fn a_provider_key_is_not_sent_to_another_address() {
    let elsewhere = ("VOXPILOT_MODEL_BASE_URL", "http://127.0.0.1:9/v1");
    let preset = from_env(&[("VOXPILOT_MODEL_PROVIDER", "github"), elsewhere, ("GITHUB_TOKEN", "usual")]);
    assert_eq!(preset.model_api_key.as_ref().map(|key| key.expose()), None);
    assert!(preset.warnings.is_empty(), "{:?}", preset.warnings);
    let own = from_env(&[("VOXPILOT_MODEL_PROVIDER", "github"), elsewhere, ("VOXPILOT_MODEL_API_KEY", "own")]);
    assert_eq!(own.model_api_key.unwrap().expose(), "own");
}

#[test]
fn what_is_unwise_is_a_warning() {
    let mut open = sources(&[], &[], &[(PROJECT, "token = '0123456789abcdef'\nmodel_api_key = 'k'")]);
    assert!(resolve(&open).unwrap().warnings.is_empty());
    open.project.as_mut().unwrap().open_to_others = true;
    let warnings = resolve(&open).unwrap().warnings;
    assert!(warnings[0].contains("token and model_api_key") && warnings[0].contains(PROJECT), "{warnings:?}");
    // What the file holds is not in use, so nothing of it is at stake.
    open.flags = map(&[("token", "another-token-here"), ("model_api_key", "other")]);
    assert!(resolve(&open).unwrap().warnings.is_empty());
}

#[test]
fn a_project_that_is_not_trusted_can_only_make_a_policy_stricter() {
    let resolved = |env: &[(&str, &str)], user: &str| {
        let mut sources = sources(&[], env, &[(PROJECT, "permission_policy = 'read-only'"), (USER, user)]);
        sources.project.as_mut().unwrap().trusted = false;
        let config = resolve(&sources).unwrap();
        (config.permission_policy, config.least_policy)
    };
    // What a person chooses elsewhere may still be stricter than this.
    assert_eq!(resolved(&[], ""), (None, Some(Policy::ReadOnly)));
    assert_eq!(resolved(&[], "permission_policy = 'auto'"), (Some(Policy::Auto), Some(Policy::ReadOnly)));
    assert_eq!(resolved(&[], "permission_policy = 'deny'"), (Some(Policy::Deny), None));
    assert_eq!(resolved(&[("VOXPILOT_PERMISSION_POLICY", "auto")], ""), (Some(Policy::Auto), None));
}

#[test]
fn secrets_are_hidden_from_debug_output() {
    let config = from_env(&[("VOXPILOT_TOKEN", "0123456789abcdef"), ("VOXPILOT_MODEL_API_KEY", "sk-hidden")]);
    let shown = format!("{config:?}{}", config.report());
    assert!(!shown.contains("0123456789abcdef") && !shown.contains("sk-hidden"), "{shown}");
}

#[test]
fn the_default_agent_is_copilot_where_it_is_installed() {
    let dir = tempfile::tempdir().unwrap();
    let default = |config: &Config, path: Option<&Path>| {
        let env: Vec<_> = path.map(|path| ("PATH".into(), path.into())).into_iter().collect();
        let catalogue = voxpilot::catalogue::catalogue(config, Path::new("/bin/sh")).unwrap();
        voxpilot::catalogue::default_agent(config, &catalogue, &env).unwrap()
    };
    let mut config = Config { copilot_cli_path: "a-copilot".into(), ..from_env(&[]) };
    let path = Some(dir.path());
    assert_eq!(default(&config, path), "demo");
    let program = dir.path().join("a-copilot");
    std::fs::write(&program, "").unwrap();
    assert_eq!(default(&config, path), "demo", "a file that cannot be run is no program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(default(&config, path), "copilot");
    assert_eq!(default(&config, None), "demo");
    config.copilot_cli_path = program;
    assert_eq!(default(&config, None), "copilot");
    config.agent = Some("gemini".into());
    assert_eq!(default(&config, path), "gemini");
}

/// Above the files, below variables and flags; what a stranger's file asks for stays.
#[test]
fn what_is_chosen_in_the_page_has_its_place() {
    let here = |key: &str, text: &str, sources: Sources| Sources { here: [(key.to_owned(), text.to_owned())].into(), ..sources };
    let files = [(USER, "title = 'mine'\npermission_policy = 'auto'")];
    let config = resolve(&here("title", "chosen", sources(&[], &[], &files))).unwrap();
    assert_eq!((config.title.as_deref(), origin(&config, "title")), (Some("chosen"), Origin::Here));
    let config = resolve(&here("title", "chosen", sources(&[], &[("VOXPILOT_TITLE", "given")], &files))).unwrap();
    assert_eq!(config.title.as_deref(), Some("given"));
    let config = resolve(&here("permission_policy", "ask", sources(&[], &[], &files))).unwrap();
    assert_eq!((config.permission_policy, config.chosen_policy), (Some(Policy::Auto), Some(Policy::Ask)));
    let problem = resolve(&here("max_agent_iterations", "0", sources(&[], &[], &files))).unwrap_err().to_string();
    assert!(problem.contains("`max_agent_iterations` has the bad value `0`"), "{problem}");
}
