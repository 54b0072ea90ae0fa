//! Damaged records of sessions: named, and mended by the command that is named. The same with a living server, and with what the agent
//! remembers afterwards, is among the tests on the real Copilot CLI.

use std::path::PathBuf;

use testkit::server::Rig;

use crate::{copilot, doctor, is, run};

const START: &str = r#"{"type":"session.start","data":{"sessionId":"ID"},"id":"b93ec98b-8f31-4d47-a002-f240514ede74","parentId":null}"#;
const SAID: &str = r#"{"type":"user.message","data":{"content":"hi"},"id":"41317184-18e2-4bd2-8578-77c05274a3c5","parentId":null}"#;
const SOUND: &str = "01a1b2c3-0000-4000-8000-000000000001";
const TORN: &str = "01a1b2c3-0000-4000-8000-000000000002";
const GARBLED: &str = "01a1b2c3-0000-4000-8000-000000000003";
const BEHEADED: &str = "01a1b2c3-0000-4000-8000-000000000004";

fn put(rig: &Rig, id: &str, text: &str) -> PathBuf {
    let dir = rig.copilot_home().join("session-state").join(id);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("workspace.yaml"), format!("id: {id}\nname: Mend the {id} fence\n")).unwrap();
    std::fs::write(dir.join("events.jsonl"), text.replace("ID", id)).unwrap();
    dir.join("events.jsonl")
}

#[tokio::test]
async fn damaged_sessions_are_named_by_title_and_place_and_the_named_command_mends_them() {
    let rig = Rig::default();
    let env = copilot(&rig);
    put(&rig, SOUND, &format!("{START}\n{SAID}\n"));
    let torn = put(&rig, TORN, &format!("{START}\n{SAID}\n{}", &SAID[..30]));
    let garbled = put(&rig, GARBLED, &format!("{START}\nthis is no event\n{SAID}\n"));
    let beheaded = put(&rig, BEHEADED, &format!("{SAID}\n"));
    let report = doctor(&rig, &[], &env).await;
    report.is_complete();
    let named = report.of(Some("copilot"), "session");
    assert_eq!(named.len(), 3, "{named:?}");
    let of = |id: &str| *named.iter().find(|check| check["detail"].as_str().unwrap().contains(id)).unwrap();
    let byte = |lines: usize| format!("byte {}", START.len() - 2 + id_len() + 1 + lines * (SAID.len() + 1));
    is(of(TORN), "warn", &["last line is torn", "line 3", &byte(1), "Mend the"], &format!("voxpilot repair {TORN}"));
    is(of(GARBLED), "warn", &["line 2 is no event", &byte(0)], &format!("voxpilot repair {GARBLED}"));
    is(of(BEHEADED), "warn", &["beginning is missing", "nothing that can be loaded"], &format!("voxpilot repair {BEHEADED}"));

    let listed = String::from_utf8(run(&rig, &["repair", "--list"], &env).await.stdout).unwrap();
    assert!([TORN, GARBLED, BEHEADED].iter().all(|id| listed.contains(id)) && !listed.contains(SOUND), "{listed}");
    let before = std::fs::read(&torn).unwrap();
    for check in &named {
        let mend: Vec<&str> = check["fix"].as_str().unwrap().split(' ').skip(1).collect();
        let output = run(&rig, &mend, &env).await;
        assert!(output.status.success(), "{output:?}");
    }
    let report = doctor(&rig, &[], &env).await;
    is(report.one(Some("copilot"), "sessions"), "ok", &["3 of its own, none damaged"], "");
    let whole = |id: &str| format!("{START}\n{SAID}\n").replace("ID", id);
    assert_eq!(std::fs::read_to_string(&torn).unwrap(), whole(TORN));
    assert_eq!(std::fs::read_to_string(&garbled).unwrap(), whole(GARBLED));
    assert!(!beheaded.exists());
    let kept = std::fs::read_dir(torn.parent().unwrap()).unwrap().flatten().map(|entry| entry.path());
    let kept: Vec<_> = kept.filter(|path| path.to_string_lossy().contains("events.jsonl.damaged-")).collect();
    assert_eq!((kept.len(), std::fs::read(&kept[0]).unwrap()), (1, before));
}

fn id_len() -> usize {
    TORN.len()
}

#[tokio::test]
async fn what_is_sound_or_unknown_is_left_alone_and_said_to_be() {
    let rig = Rig::default();
    let env = copilot(&rig);
    let file = put(&rig, SOUND, &format!("{START}\n"));
    let output = run(&rig, &["repair", SOUND], &env).await;
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("nothing is damaged"), "{output:?}");
    for unknown in ["nothing", "../session-state", "01a1b2c3-0000-4000-8000-00000000000f"] {
        let output = run(&rig, &["repair", unknown], &env).await;
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("voxpilot repair --list"), "{output:?}");
    }
    // A process that has it is named, and nothing is touched.
    let text = format!("{START}\ngarbage\n");
    std::fs::write(&file, &text).unwrap();
    let hold = std::fs::File::create(file.with_file_name("inuse.hold")).unwrap();
    let output = run(&rig, &["repair", SOUND], &env).await;
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains(&std::process::id().to_string()), "{output:?}");
    drop(hold);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}
