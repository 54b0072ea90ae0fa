#![allow(clippy::unwrap_used)]

use super::*;

fn settings(configured: Vec<Agent>) -> Settings {
    Settings {
        copilot_command: "/nowhere/copilot".into(),
        copilot_home: Some("/state".into()),
        copilot_token_file: None,
        own_exe: "/bin/sh".into(),
        configured,
    }
}

fn nowhere() -> Places {
    Places::default()
}

#[test]
fn configured_agents_are_added_or_take_a_known_place() {
    let other = |id: &str| Agent { id: id.into(), title: id.into(), command: "x".into(), ..Agent::default() };
    let catalogue = Catalogue::new(settings(vec![other("mine"), other(COPILOT)]));
    let ids: Vec<_> = catalogue.iter().map(|agent| agent.id.as_str()).collect();
    assert_eq!(ids, [COPILOT, CODEX, "claude", "gemini", "opencode", "qwen", "goose", "codex-acp", DEMO, "mine"]);
    assert_eq!(catalogue.get(COPILOT).unwrap().title, COPILOT);
}

#[test]
fn without_copilot_the_demo_agent_is_the_default() {
    let catalogue = Catalogue::new(settings(vec![]));
    assert_eq!(catalogue.default_id(&nowhere()), DEMO);
    let installed = Catalogue::new(Settings { copilot_command: "sh".into(), ..settings(vec![]) });
    let places = Places::of(&[("PATH".into(), "/nowhere:/bin".into())]);
    assert_eq!(installed.default_id(&places), COPILOT);
}

#[test]
fn how_an_agent_differs_is_data_and_follows_how_it_is_reached() {
    let catalogue = Catalogue::new(settings(vec![]));
    let (copilot, demo) = (catalogue.get(COPILOT).unwrap(), catalogue.get(DEMO).unwrap());
    assert_eq!((copilot.mcp_flag(), demo.mcp_flag()), (Some("--additional-mcp-config"), None));
    assert_eq!(copilot.settle_after_disconnect(), Duration::ZERO);
    let remote = Agent { remote: Some("127.0.0.1:1".into()), ..copilot.clone() };
    assert_eq!((remote.mcp_flag(), remote.settle_after_disconnect()), (None, Duration::from_secs(3)));
}

#[test]
fn what_to_do_is_said_with_the_command_that_does_it() {
    let catalogue = Catalogue::new(settings(vec![]));
    let get = |id: &str| catalogue.get(id).unwrap();
    assert!(get(COPILOT).login_advice().contains("`copilot login`"));
    assert_eq!(get("opencode").login_command().as_deref(), Some("opencode auth login"));
    assert!(get("opencode").login_advice().contains("`opencode auth login`"));
    assert_eq!(get(COPILOT).install_advice(), "install it with `npm install -g @github/copilot`, or set VOXPILOT_COPILOT_CLI_PATH");
    assert_eq!(get("gemini").install_advice(), "install it with `npm install -g @google/gemini-cli`");
    assert_eq!(get(DEMO).install_advice(), "");
    let own = Agent { login: vec!["sign-in".into()], ..Agent::added("mine", "/opt/mine".into()) };
    assert!(own.login_advice().starts_with("run `mine sign-in`;"));
    for agent in catalogue.iter().chain([&own, &Agent::added("other", "/opt/other".into())]) {
        assert!(!agent.login_advice().contains("its own command"), "{}", agent.id);
    }
}

#[test]
fn an_added_agent_is_known_by_its_program() {
    let claude = Agent::added("mine", "/opt/claude-agent-acp".into());
    assert_eq!((claude.id.as_str(), claude.title.as_str(), claude.command.to_str()), ("mine", "mine", Some("/opt/claude-agent-acp")));
    assert!(claude.variables.contains(&"ANTHROPIC_*") && claude.package.is_none());
    let other = Agent::added("mine", "/opt/other".into());
    assert_eq!((other.quirks, other.variables.len()), (Quirks::default(), 0));
}

#[test]
fn a_version_is_asked_of_the_agents_own_program_only() {
    let catalogue = Catalogue::new(settings(vec![]));
    let asked = |agent: &Agent, path: &str, how| agent.tells_version(&Program { path: path.into(), how });
    let gemini = catalogue.get("gemini").unwrap();
    assert!(asked(gemini, "/usr/bin/gemini", Found::Path) && asked(gemini, "/npm/gemini", Found::Npm));
    assert!(!asked(gemini, "/usr/bin/npx", Found::Npx) && !asked(gemini, "/usr/bin/node", Found::Path));
    assert!(!asked(gemini, "/home/me/start-gemini.sh", Found::Path), "what a script does with it is anybody's guess");
    let mine = Agent::added("mine", "x".into());
    assert!(asked(&mine, "/opt/mine", Found::Path));
    for wrapper in ["node", "npx", "bunx", "python3.12", "uvx", "bash", "docker"] {
        assert!(!asked(&mine, &format!("/usr/bin/{wrapper}"), Found::Path), "{wrapper}");
    }
    assert!(asked(catalogue.get(DEMO).unwrap(), "/bin/voxpilot", Found::BuiltIn));
}

#[test]
fn npx_is_used_only_while_somebody_allows_it() {
    let dir = tempfile::tempdir().unwrap();
    let npx = dir.path().join("npx");
    std::fs::write(&npx, "").unwrap();
    std::fs::set_permissions(&npx, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let places = Places::of(&[("PATH".into(), dir.path().into())]);
    let catalogue = Catalogue::new(settings(vec![]));
    let how = |catalogue: &Catalogue, id: &str| catalogue.find(catalogue.get(id).unwrap(), &places).map(|program| program.how);
    assert_eq!(how(&catalogue, "codex-acp"), None);
    catalogue.allow_npx("codex-acp", true);
    assert_eq!((how(&catalogue, "codex-acp"), how(&catalogue, "claude")), (Some(Found::Npx), None));
    catalogue.allow_npx("codex-acp", false);
    assert_eq!(how(&catalogue, "codex-acp"), None);
    let known = Agent { npx: true, ..catalogue.get("claude").unwrap().clone() };
    assert_eq!(how(&Catalogue::new(settings(vec![known])), "claude"), Some(Found::Npx));
    assert_eq!(how(&catalogue, COPILOT), None, "another program was configured for it");
}

#[test]
fn copilot_gets_its_state_directory_and_its_token() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "secret\n").unwrap();
    let mut settings = settings(vec![]);
    settings.copilot_token_file = Some(file.path().to_owned());
    let catalogue = Catalogue::new(settings);
    let env = catalogue.get(COPILOT).unwrap().environment(std::iter::empty()).unwrap();
    assert_eq!(env, [("COPILOT_HOME".into(), "/state".into()), ("COPILOT_GITHUB_TOKEN".into(), "secret".into())]);
}

#[test]
fn what_makes_an_agent_ask_is_in_its_environment_unless_the_configuration_says_otherwise() {
    let catalogue = Catalogue::new(settings(vec![]));
    let goose = |env: &[(&str, &str)]| Agent {
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..catalogue.get("goose").unwrap().clone()
    };
    let mode = |agent: &Agent| agent.environment([("GOOSE_MODE".into(), "auto".into())].into_iter()).unwrap();
    assert_eq!(mode(&goose(&[])), [("GOOSE_MODE".to_owned(), "approve".to_owned())]);
    assert_eq!(goose(&[]).acts_unasked(), None);
    let careless = goose(&[("GOOSE_MODE", "auto")]);
    assert_eq!(mode(&careless), [("GOOSE_MODE".to_owned(), "auto".to_owned())]);
    assert!(careless.acts_unasked().unwrap().contains("GOOSE_MODE is `approve`"));
    assert_eq!(goose(&[("GOOSE_MODE", "approve")]).acts_unasked(), None);
    let never = Agent { quirks: Quirks { asks: Asks::Never, ..Quirks::default() }, ..goose(&[]) };
    assert!(never.acts_unasked().is_some());
}
