//! The real CLI, held to its work directory.

use std::ffi::OsStr;

use serde_json::json;
use testkit::model_server::{Reply, Script};

use crate::replies::{bash, delegate};
use crate::setup::start_with;

#[tokio::test]
async fn copilot_works_in_a_sandbox_and_does_not_get_out_of_it() {
    let exe = testkit::faulty_agent::voxpilot_path();
    if agents::Mechanism::find(&exe, Some(OsStr::new("/usr/bin:/bin")), &[]).is_none() {
        println!("skipped: neither Landlock nor bubblewrap works here");
        return;
    }
    // What it is given in the data directory it can read, and nothing else there.
    let config = "[agents.copilot]\nsandbox = \"workdir\"\n[mcp_servers.nothing]\ncommand = \"/bin/true\"\n";
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "auto" }), |rig| rig.config(config)).await;
    let (home, work) = (setup.server.rig().home().to_owned(), setup.server.rig().work_dir());
    std::fs::write(home.join("data/kept"), "never to be seen").unwrap();
    let script = format!("echo in > inside.txt; echo out > {0}/home/outside.txt; cat {0}/data/kept; echo end", home.display());
    setup.main([delegate("held", "try it"), Reply::text("Tried.")]);
    setup.coder([Reply::new().and_call(bash(&script)), Reply::text("That is all.")]);
    assert_eq!(setup.turn("go").await, "completed", "{}", setup.client.seen.tail());
    let made = std::fs::read_to_string(work.join("inside.txt"));
    assert_eq!(made.ok().as_deref(), Some("in\n"), "{}", setup.client.seen.tail());
    assert!(!home.join("home/outside.txt").exists());
    assert!(!format!("{:?}", setup.model.requests()).contains("never to be seen"));
    setup.exchange("held", "and again", "Still here.").await;
    setup.end().await;
}
