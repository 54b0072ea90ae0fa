//! What Copilot is started with: its own settings, and nothing of ours.

use serde_json::json;
use testkit::model_server::Script;

use crate::setup::start_with;

/// Holds S0-7, S1-57, C1, C34.
#[tokio::test]
async fn copilot_gets_its_own_environment_the_work_directory_and_nothing_of_ours() {
    let secret = |rig: testkit::server::Rig| {
        rig.env("COPILOT_SOMETHING", "passed on").env("MY_DATABASE_PASSWORD", "hunter2").env("LC_ALL", "C.UTF-8")
    };
    let mut setup = start_with(Script::new(), json!({}), secret).await;
    setup.exchange("look", "look around", "Nice.").await;
    let processes = setup.processes();
    let work = setup.server.rig().work_dir();
    for pid in [processes.wrapper(), processes.native()] {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environ = String::from_utf8_lossy(&environ).into_owned();
        let vars: Vec<(&str, &str)> = environ.split('\0').filter_map(|var| var.split_once('=')).collect();
        let value = |name: &str| vars.iter().find(|(found, _)| *found == name).map(|(_, value)| *value);
        assert!(vars.iter().all(|(name, _)| !name.starts_with("VOXPILOT")), "{vars:?}");
        assert!(!environ.contains("test-token") && !environ.contains("hunter2"));
        assert_eq!(value("COPILOT_SOMETHING"), Some("passed on"));
        assert_eq!(value("COPILOT_HOME"), setup.server.rig().copilot_home().to_str());
        assert_eq!(value("LC_ALL"), Some("C.UTF-8"));
        assert!(value("HOME").is_some() && value("PATH").is_some());
        assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), work);
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
        assert!(command.ends_with("copilot\0--acp\0--stdio\0"), "{command:?}");
    }
    setup.end().await;
}
