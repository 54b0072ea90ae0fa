//! Files that were made to do harm: none keeps the server from its work, none takes time or memory, and nothing of them counts.

use std::os::unix::fs::symlink;
use std::process::Command;

use testkit::processes;
use testkit::server::Rig;

use crate::person::Person;

/// Each would be an error in the person's own file.
const MALFORMED: [(&str, &str); 14] = [
    ("not TOML", "bind = = 'x'\n[["),
    ("duplicate keys", "bind = '0.0.0.0:1'\nbind = '0.0.0.0:2'\n"),
    ("an unknown key", "modle = 'x'\n"),
    ("an unknown section", "[server]\nport = 1\n"),
    ("the wrong kind", "bind = true\ntoken = []\nagents = 1\nmcp_servers = 'x'\n"),
    ("a bad value", "bind = 'nowhere'\npermission_policy = 'whatever'\n"),
    ("a bad agent", "[agents.'a b']\ncomand = 1\n[agents.x]\n"),
    ("a title that is none", "title = true\n"),
    ("a title that is too long", "title = '000000000011111111112222222222333333333344444444445555555555666666666677777777778'\n"),
    ("too many suggestions", "suggestions = ['1', '2', '3', '4', '5', '6', '7', '8', '9']\n"),
    ("a suggestion of two lines", "suggestions = [\"one\\ntwo\"]\n"),
    ("a table as patterns", "[ignore]\na = 1\n"),
    ("no suggestions", "suggestions = []\n"),
    ("no patterns", "ignore = []\n"),
];

#[test]
fn a_malformed_file_is_a_warning_and_nothing_of_it_counts() {
    for (what, text) in MALFORMED {
        let person = Person::cloned(text);
        let shown = person.run(&["config"]);
        assert_eq!(shown.code, 0, "{what}: {shown:?}");
        assert!(shown.err.contains("warning: ") && shown.err.contains("voxpilot.toml"), "{what}: {shown:?}");
        let from_project = shown.out.lines().filter(|line| line.contains("voxpilot.toml") && !line.contains("not trusted"));
        assert_eq!(from_project.count(), 0, "{what}: {shown:?}");
    }
}

#[test]
fn nobody_can_consent_to_a_file_that_the_server_could_not_start_with() {
    let broken = MALFORMED.iter().take(7).map(|(what, text)| (*what, *text));
    let more = [("an agent that is not there", "agent = 'nobody'\n"), ("a model without an address", "model = 'x'\n")];
    for (what, text) in broken.chain(more) {
        let person = Person::cloned(text);
        let refused = person.run(&["trust", "--yes"]);
        assert_eq!(refused.code, 1, "{what}: {refused:?}");
        assert_eq!(person.run(&["trust", "--list"]).out, "no project is trusted\n", "{what}");
    }
}

#[test]
fn what_is_no_small_file_of_text_is_passed_over() {
    let nested = format!("title = 'deep'\nagents = {}1{}\n", "[".repeat(30_000), "]".repeat(30_000));
    let tables = format!("title = 'deep'\n[{}x]\n", "a.".repeat(30_000));
    let large = format!("title = 'large'\n#{}", "x".repeat(10 * 1024 * 1024));
    for (what, text) in
        [("nested", nested.as_bytes()), ("tables", tables.as_bytes()), ("large", large.as_bytes()), ("bytes", b"title = '\xff'")]
    {
        let person = Person::cloned(text);
        let shown = person.run(&["config"]);
        assert!(shown.code == 0 && shown.err.contains("is ignored"), "{what}: {} {}", shown.code, shown.err);
        assert!(person.setting("title").starts_with("- default"), "{what}");
    }
}

#[test]
fn nothing_is_read_through_a_link() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("voxpilot.toml");
    std::fs::write(&target, "title = 'elsewhere'").unwrap();
    for to in ["/dev/zero", "/dev/stdin", target.to_str().unwrap()] {
        let person = Person::new();
        symlink(to, person.file()).unwrap();
        let shown = person.run(&["config"]);
        assert!(shown.code == 0 && shown.err.contains("it is a link"), "{to}: {shown:?}");
        assert!(!shown.out.contains("elsewhere"), "{to}: {shown:?}");
    }
}

#[test]
fn a_pipe_or_a_directory_holds_nothing_up() {
    let pipe = Person::new();
    assert!(Command::new("mkfifo").arg(pipe.file()).status().unwrap().success());
    let directory = Person::new();
    std::fs::create_dir(directory.file()).unwrap();
    for person in [pipe, directory] {
        let shown = person.run(&["config"]);
        assert!(shown.code == 0 && shown.err.contains("it is not a file"), "{shown:?}");
    }
}

#[tokio::test]
async fn the_server_starts_beside_any_of_them_and_stays_small() {
    let rig = Rig::default().demo_agent();
    let file = rig.work_dir().join("voxpilot.toml");
    symlink("/dev/zero", &file).unwrap();
    let mut server = rig.start().await;
    let ten_megabytes = "x".repeat(10 * 1024 * 1024);
    for text in MALFORMED.iter().map(|(_, text)| *text).chain([ten_megabytes.as_str()]) {
        server.terminate().await;
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, text).unwrap();
        server.restart().await;
        let (status, told) = server.call("GET", "/api/trust", None).await;
        assert_eq!(status, 200, "{told}");
        let most = processes::peak_kib(server.pid()).unwrap();
        assert!(most < 60 * 1024, "the server took {most} KiB");
    }
    server.end().await;
}

#[test]
fn hidden_characters_are_seen_by_whoever_is_asked() {
    let person = Person::cloned("bind = '127.0.0.1:1' # \u{202e}gnihton\u{200b}\n\"mo\u{202e}del\" = 'x\u{2066}'\n");
    for shown in [person.run(&["trust"]), person.run(&["config"])] {
        let text = format!("{}{}", shown.out, shown.err);
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{2066}']), "{text:?}");
        assert!(text.to_lowercase().contains("202e"), "{text:?}");
    }
    let injected = Person::cloned("[agents.\"\\u001B[2J\\n\\u202E\"]\ncommand = 'x'\n");
    for shown in [injected.run(&["trust", "--yes"]), injected.run(&["config"])] {
        let text = format!("{}{}", shown.out, shown.err);
        assert!(!text.contains(['\u{202e}', '\u{1b}']) && text.contains("⟨U+001B⟩[2J⟨U+000A⟩⟨U+202E⟩"), "{text:?}");
    }
    let harmless = Person::cloned("title = \"nice \\u202E\\u001B[2J\"\nsuggestions = [\"a\\u200Bb\"]\n");
    let shown = harmless.run(&["config"]).out;
    assert!(shown.contains("nice") && !shown.contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{shown:?}");
}
