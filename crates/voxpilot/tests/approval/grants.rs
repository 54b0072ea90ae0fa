//! What was approved is what happens: the content, the file and the command that were shown, once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::{Talk, permission, plain_options};

fn edit(path: &str, old: Value, new: &str) -> Value {
    let change = json!({ "type": "diff", "path": path, "oldText": old, "newText": new });
    permission(json!({ "title": "Edit", "kind": "edit", "content": [change] }), &plain_options())
}

fn write(path: &str, content: &str) -> Value {
    json!(["fs/write_text_file", { "path": path, "content": content }])
}

fn run(command: &str) -> Value {
    permission(json!({ "title": "Run", "kind": "execute", "rawInput": { "command": command } }), &plain_options())
}

#[tokio::test]
async fn only_the_content_that_was_shown_is_written_unasked() {
    let mut talk = Talk::under("ask").await;
    for (path, place) in [("a.txt", "inside"), (".git/config", "protected")] {
        let file = talk.work().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let start = "one\ntwo\nthree\n";
        for (content, asked) in [
            ("one\nTWO\nthree\n", false),
            ("one\nTWO\nthree\n[alias]\n", true),
            ("evil\n", true),
            ("one\ntwo\nthree\n", true),
            ("TWO\n", true),
        ] {
            fs::write(&file, start).unwrap();
            talk.calls(json!([edit(path, json!("two\n"), "TWO\n"), write(path, content)])).await;
            let question = talk.question().await.unwrap();
            assert_eq!(question["files"], json!([{ "path": path, "place": place }]));
            talk.answer(&question, "allow_once").await;
            let more = talk.deny_all().await;
            assert_eq!(!more.is_empty(), asked, "{path} {content:?}: {more:?}");
            let expected = if asked { start } else { content };
            assert_eq!(fs::read_to_string(&file).unwrap(), expected, "{path} {content:?}");
        }
    }
    talk.server.end().await;
}

#[tokio::test]
async fn the_projects_own_shell_does_not_run_for_a_command_that_was_approved() {
    let mut talk = Talk::under("ask").await;
    let shell = talk.work().join("sh");
    fs::write(&shell, "#!/bin/sh\ntouch \"$(dirname \"$0\")/evil\"\n").unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("sh", talk.work().join("bash")).unwrap();
    let wait = json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]);
    for (command, env, asked) in [
        (shell.to_str().unwrap(), json!([]), true),
        ("./sh", json!([]), true),
        (talk.work().join("bash").to_str().unwrap(), json!([]), true),
        ("bash", json!([{ "name": "PATH", "value": talk.work() }]), true),
        ("sh", json!([{ "name": "LD_PRELOAD", "value": "/x.so" }]), true),
        ("/bin/sh", json!([]), false),
        ("sh", json!([]), false),
    ] {
        let start = json!(["terminal/create", { "command": command, "args": ["-c", "ls"], "env": env }]);
        talk.calls(json!([run("ls"), start, wait])).await;
        let question = talk.question().await.unwrap();
        talk.answer(&question, "allow_once").await;
        let more = talk.deny_all().await;
        assert_eq!(!more.is_empty(), asked, "{command} {env}: {more:?}");
        assert!(!talk.work().join("evil").exists(), "{command} {env}");
    }
    talk.server.end().await;
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_by_now_is_not_written() {
    let mut talk = Talk::under("ask").await;
    let work = talk.work();
    fs::create_dir_all(work.join(".git")).unwrap();
    fs::create_dir_all(work.join("src")).unwrap();
    let before = "[core]\n";
    let set_up = || {
        let _ = fs::remove_file(work.join("src"));
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(work.join("src/config"), before).unwrap();
        fs::write(work.join(".git/config"), before).unwrap();
    };
    let swap = || {
        fs::remove_dir_all(work.join("src")).unwrap();
        symlink(".git", work.join("src")).unwrap();
    };
    // The question is about the write itself.
    set_up();
    talk.calls(json!([write("src/config", "[alias]\n")])).await;
    let question = talk.question().await.unwrap();
    assert_eq!(question["files"], json!([{ "path": "src/config", "place": "inside" }]));
    swap();
    talk.answer(&question, "allow_once").await;
    assert_eq!(talk.deny_all().await, Vec::<String>::new());
    assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), before);
    assert!(talk.answers()[0]["code"].is_i64(), "{:?}", talk.answers());

    // The question is the agent's, and the write follows.
    set_up();
    talk.calls(json!([edit("src/config", json!(before), "[alias]\n"), write("src/config", "[alias]\n")])).await;
    let question = talk.question().await.unwrap();
    swap();
    talk.answer(&question, "allow_once").await;
    assert_eq!(talk.deny_all().await.len(), 1, "it is asked about what it is now");
    assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), before);

    // What is there has changed since it was shown.
    set_up();
    talk.calls(json!([write("src/config", "[alias]\n")])).await;
    let question = talk.question().await.unwrap();
    fs::write(work.join("src/config"), "by somebody else\n").unwrap();
    talk.answer(&question, "allow_once").await;
    assert_eq!(talk.deny_all().await, Vec::<String>::new());
    assert_eq!(fs::read_to_string(work.join("src/config")).unwrap(), "by somebody else\n");
    talk.server.end().await;
}

#[tokio::test]
async fn a_command_does_not_run_in_another_directory_than_the_one_that_was_shown() {
    let mut talk = Talk::under("ask").await;
    let work = talk.work();
    for name in ["sub", "other"] {
        fs::create_dir_all(work.join(name)).unwrap();
    }
    let start = json!(["terminal/create", { "command": "touch", "args": ["here"], "cwd": work.join("sub") }]);
    let wait = json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]);
    talk.calls(json!([start, wait])).await;
    let question = talk.question().await.unwrap();
    assert_eq!(question["cwd"], "sub");
    fs::remove_dir(work.join("sub")).unwrap();
    symlink("other", work.join("sub")).unwrap();
    talk.answer(&question, "allow_once").await;
    assert_eq!(talk.deny_all().await, Vec::<String>::new());
    assert!(!work.join("other/here").exists(), "{:?}", talk.answers());
    assert!(talk.answers()[0]["code"].is_i64(), "{:?}", talk.answers());
    talk.server.end().await;
}

#[tokio::test]
async fn a_command_and_its_words_are_three_things() {
    let mut talk = Talk::under("ask").await;
    fs::write(talk.work().join("Makefile"), "test:\n\ttouch made\n").unwrap();
    let wait = json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]);
    let ask =
        |command: Value| permission(json!({ "title": "Run", "kind": "execute", "rawInput": { "command": command } }), &plain_options());
    let forms = [json!("make test"), json!(["make", "test"]), json!(["make test"])];
    let mut shown = Vec::new();
    for (at, asked_for) in forms.iter().enumerate() {
        for (other, start) in [json!({ "command": "make test" }), json!({ "command": "make", "args": ["test"] })].into_iter().enumerate() {
            talk.calls(json!([ask(asked_for.clone()), ["terminal/create", start], wait])).await;
            let question = talk.question().await.unwrap();
            shown.push((question["command"].clone(), question["run"].clone()));
            talk.answer(&question, "allow_once").await;
            let more = talk.deny_all().await;
            assert_eq!(more.is_empty(), at == other, "{asked_for} then {start}: {more:?}");
        }
    }
    shown.dedup();
    assert_eq!(shown.len(), 3, "each is shown as what it is: {shown:?}");
    talk.server.end().await;
}
