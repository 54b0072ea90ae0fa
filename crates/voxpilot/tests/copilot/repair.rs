//! A session whose record is damaged: told while it happens, named by the doctor, repaired, and continued with its memory.

use std::process::Output;

use serde_json::json;
use testkit::faulty_agent::voxpilot_path;
use testkit::model_server::{Reply, Script};

use crate::setup::{SOON, Setup, journal_of, kill_idle_agent, said, start_with};

async fn run(setup: &Setup, args: &[&str]) -> Output {
    let rig = setup.server.rig();
    let mut command = tokio::process::Command::new(voxpilot_path());
    command.args(args).envs(testkit::copilot::offline(&rig.copilot_home(), &setup.model.base_url(), "coder"));
    command.env("VOXPILOT_COPILOT_CLI_PATH", testkit::copilot::path()).env("HOME", rig.home().join("home"));
    command.env("VOXPILOT_DATA_DIR", rig.data_dir()).env("VOXPILOT_WORK_DIR", rig.work_dir());
    let output = command.current_dir(rig.work_dir()).kill_on_drop(true).output();
    tokio::time::timeout(SOON, output).await.expect("the command ends in time").unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn a_damaged_session_is_repaired_by_the_command_that_the_notice_and_the_doctor_name_and_goes_on_with_its_memory() {
    let mut setup = start_with(Script::new(), json!({ "model": "relay" }), |rig| rig).await;
    setup.coder([Reply::text("I shall remember the heron.")]);
    assert_eq!(setup.turn("remember the word heron").await, "completed", "{}", setup.client.seen.tail());
    let journal = journal_of(&setup, "remember the word heron").unwrap();
    let agent_session = journal.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    kill_idle_agent(&setup).await;
    let mut lines: Vec<String> = std::fs::read_to_string(&journal).unwrap().lines().map(str::to_owned).collect();
    lines.insert(2, "\u{fffd}this is no event".to_owned());
    std::fs::write(&journal, lines.join("\n") + "\n{\"type\":\"half of a").unwrap();

    setup.coder([Reply::text("Going on.")]);
    assert_eq!(setup.turn("go on").await, "completed", "{}", setup.client.seen.tail());
    assert_eq!(setup.notices("session_lost").len(), 1);
    let [notice] = &setup.notices("session_damaged")[..] else { panic!("{}", setup.client.seen.tail()) };
    let mend = format!("voxpilot repair {agent_session}");
    assert!(notice["text"].as_str().unwrap().contains(&format!("`{mend}`")), "{notice}");

    let report = text(&run(&setup, &["doctor"]).await.stdout);
    assert!(report.contains(&format!("fix: {mend}")) && report.contains("line 3 is no event"), "{report}");
    let output = run(&setup, &["repair", &agent_session]).await;
    assert!(output.status.success() && text(&output.stdout).contains("repaired"), "{output:?}");
    let report = text(&run(&setup, &["doctor"]).await.stdout);
    assert!(!report.contains("is damaged") && report.contains("none damaged"), "{report}");

    let body = json!({ "agent": "copilot", "agent_session_id": agent_session });
    let (status, session) = setup.server.call("POST", "/api/sessions", Some(body)).await;
    assert_eq!(status, 201, "{session}");
    setup.session = session["id"].as_str().unwrap().to_owned();
    setup.client = setup.server.stream(&setup.session, None).await;
    setup.coder([Reply::text("It was heron.")]);
    assert_eq!(setup.turn("which word was it?").await, "completed", "{}", setup.client.seen.tail());
    let asked = said(setup.coder_requests().last().unwrap());
    assert!(asked.contains("remember the word heron") && asked.contains("I shall remember the heron."), "{asked}");
    assert!(!asked.contains("[Recap:"), "{asked}");
    setup.end().await;
}
