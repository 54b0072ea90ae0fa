//! Nothing is installed.

use testkit::processes;
use testkit::server::Rig;

use crate::{SOON, doctor, is, only, run};

const INSTALL: &str = "npm install -g @github/copilot";

#[tokio::test]
async fn a_bare_machine_is_told_what_to_install_and_works_with_the_demo_agent() {
    let rig = Rig::default();
    let bare = [only(&rig.home().join("bin"), "git")];
    let report = doctor(&rig, &[], &bare).await;
    is(report.one(None, "agents"), "warn", &["no coding agent is installed"], INSTALL);
    is(report.one(Some("demo"), "installed"), "ok", &[], "");
    is(report.one(Some("demo"), "start"), "ok", &["answers after"], "");
    is(report.one(Some("demo"), "login"), "ok", &["opens a session"], "");
    is(report.one(None, "database"), "ok", &["will be made"], "");
    assert!(!report.failed, "{:#?}", report.checks);
    report.is_complete();
    // It has looked and left nothing.
    assert_eq!(std::fs::read_dir(rig.data_dir()).unwrap().count(), 0);
    processes::none_left(rig.home(), SOON).await.unwrap();
}

#[tokio::test]
async fn the_agent_that_is_asked_for_and_missing_is_a_failure() {
    let rig = Rig::default();
    let bare = [only(&rig.home().join("bin"), "git")];
    let report = doctor(&rig, &["--agent", "copilot"], &bare).await;
    is(report.one(Some("copilot"), "installed"), "fail", &["GitHub Copilot is not installed"], INSTALL);
    assert!(report.failed);
    report.is_complete();
    let text = String::from_utf8(run(&rig, &["doctor", "--agent", "copilot"], &bare).await.stdout).unwrap();
    assert!(text.contains("fail  copilot  ") && text.contains(&format!("fix: {INSTALL}")), "{text}");
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_named_by_its_own_name() {
    let own = "/.config/voxpilot/voxpilot.toml";
    let rig = Rig::default();
    let file = rig.home().join(format!("home{own}"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[agents.mine]\ntitle = \"Mine\"\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"echo no key >&2; exit 3\"]\n")
        .unwrap();
    let report = doctor(&rig, &[], &[only(&rig.home().join("bin"), "git")]).await;
    is(report.one(Some("mine"), "start"), "warn", &["no key"], "/bin/sh -c");
    assert!(report.of(Some("mine"), "login").is_empty());
    assert!(report.checks.iter().filter(|check| check["about"] == "mine").all(|check| !check.to_string().contains("opilot")));
    report.is_complete();
}
