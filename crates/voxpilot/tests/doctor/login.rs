//! The real Copilot CLI, logged out and not.

use testkit::processes;
use testkit::server::Rig;

use crate::{SOON, copilot, copilot_path, doctor, is};

#[tokio::test]
async fn a_logged_out_copilot_is_told_with_the_command_that_logs_in() {
    let rig = Rig::default();
    let home = rig.copilot_home().display().to_string();
    let mut env = vec![("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned()), ("VOXPILOT_COPILOT_HOME".to_owned(), home.clone())];
    env.extend(copilot_path());
    let report = doctor(&rig, &[], &env).await;
    is(report.one(Some("copilot"), "installed"), "ok", &["1.0."], "");
    is(report.one(Some("copilot"), "start"), "ok", &["Copilot answers"], "");
    let login = report.one(Some("copilot"), "login");
    is(login, "fail", &["needs you to sign in"], "/copilot login");
    assert!(login["fix"].as_str().unwrap().starts_with(&format!("COPILOT_HOME={home} ")), "{login}");
    is(report.one(Some("copilot"), "state"), "ok", &[&home], "");
    is(report.one(None, "node"), "ok", &["for copilot"], "");
    report.is_complete();
    processes::none_left(rig.home(), SOON).await.unwrap();
}

#[tokio::test]
async fn one_that_works_is_well_and_one_whose_state_is_not_its_own_is_not() {
    let rig = Rig::default();
    let report = doctor(&rig, &[], &copilot(&rig)).await;
    is(report.one(Some("copilot"), "login"), "ok", &["opens a session"], "");
    is(report.one(Some("copilot"), "sessions"), "ok", &["none damaged"], "");
    assert!(!report.failed, "{:#?}", report.checks);
    std::fs::remove_dir_all(rig.copilot_home()).unwrap();
    std::fs::write(rig.copilot_home(), "").unwrap();
    let report = doctor(&rig, &[], &copilot(&rig)).await;
    is(report.one(Some("copilot"), "state"), "fail", &["is not a directory"], "mv ");
    report.is_complete();
}
