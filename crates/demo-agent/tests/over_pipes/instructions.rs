use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::client::Home;

#[test]
fn a_file_is_created_with_plan_permission_and_diff() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "create a file notes/hello.txt with \"hello world\"");
    let path = home.work.join("notes/hello.txt");
    assert_eq!(outcome.stop_reason(), "end_turn");
    assert_eq!(fs::read_to_string(&path).unwrap(), "hello world");
    assert_eq!(outcome.statuses(), ["pending", "in_progress", "completed"]);
    assert!(outcome.text().contains("I created `notes/hello.txt`"));

    let call = outcome.updates("tool_call")[0];
    let diff = json!({ "type": "diff", "path": path, "oldText": null, "newText": "hello world" });
    assert_eq!(call["kind"], "edit");
    assert_eq!(call["content"][0], diff);
    assert_eq!(call["locations"][0]["path"], json!(path));
    let asked = &outcome.permissions()[0]["params"]["toolCall"];
    assert_eq!(asked["toolCallId"], call["toolCallId"]);
    assert_eq!(asked["content"][0], diff);
    assert!(asked["rawInput"]["diff"].as_str().unwrap().contains("+hello world"));

    let plans = outcome.updates("plan");
    let statuses: Vec<&Value> = plans.iter().map(|plan| &plan["entries"][0]["status"]).collect();
    assert_eq!(statuses, ["pending", "in_progress", "completed"]);
    assert_eq!(outcome.updates("session_info_update").len(), 1);
    assert!(!outcome.updates("agent_thought_chunk").is_empty());
    let usages = outcome.updates("usage_update");
    assert!(!usages.is_empty() && usages.iter().all(|usage| usage["size"] == 128_000), "{usages:?}");
    assert!(client.prompt(&session, "count to 2").updates("session_info_update").is_empty());
}

#[test]
fn files_are_appended_to_changed_read_and_deleted() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let path = home.work.join("a.txt");
    fs::write(&path, "one\n").unwrap();
    client.prompt(&session, "append two to a.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    client.prompt(&session, "replace \"two\" with \"three\" in a.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n");
    let read = client.prompt(&session, "show me a.txt");
    assert!(read.text().contains("one\nthree"));
    assert!(read.permissions().is_empty());
    assert_eq!(read.updates("tool_call")[0]["kind"], "read");
    let deleted = client.prompt(&session, "delete a.txt");
    assert!(!path.exists());
    assert_eq!(deleted.updates("tool_call")[0]["kind"], "delete");
    assert_eq!(deleted.permissions().len(), 1);
}

#[test]
fn what_cannot_be_done_fails_and_says_why() {
    let home = Home::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s3cret").unwrap();
    symlink(outside.path(), home.work.join("link")).unwrap();
    fs::write(home.work.join("b.txt"), "text").unwrap();
    fs::create_dir(home.work.join("sub")).unwrap();
    let (mut client, session) = home.session();
    for (prompt, why) in [
        ("create ../x.txt with y", "outside"),
        ("create a file /etc/x.conf with y", "outside"),
        ("create link/x.txt with y", "outside"),
        ("delete link/secret", "outside"),
        ("read link/secret", "outside"),
        ("list link", "outside"),
        ("read nothing.txt", "nothing.txt"),
        ("delete nothing.txt", "does not exist"),
        ("replace x with y in nothing.txt", "does not exist"),
        ("replace absent with y in b.txt", "does not contain"),
        ("create a file \"sub\" with y", "directory"),
    ] {
        let outcome = client.prompt(&session, prompt);
        assert_eq!(outcome.stop_reason(), "end_turn", "{prompt}");
        assert_eq!(outcome.statuses().last(), Some(&"failed"), "{prompt}");
        assert!(outcome.text().contains(why), "{prompt}: {}", outcome.text());
        assert!(outcome.permissions().is_empty(), "{prompt}");
        assert!(!outcome.text().contains("s3cret"));
    }
}

#[test]
fn a_command_runs_in_the_work_directory_and_its_output_comes_cumulatively() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "run `pwd; echo oops >&2; sleep 0.3; echo more; exit 3`");
    let last = *outcome.updates("tool_call_update").last().unwrap();
    let shown = last["content"][0]["content"]["text"].as_str().unwrap();
    assert!(shown.starts_with(&format!("{}\noops\nmore\n", home.work.display())), "{shown}");
    assert_eq!(last["status"], "failed");
    assert_eq!(last["rawOutput"]["exitCode"], 3);
    assert!(outcome.text().contains("exit code 3"));
    let texts: Vec<&str> =
        outcome.updates("tool_call_update").iter().filter_map(|update| update["content"][0]["content"]["text"].as_str()).collect();
    assert!(texts.len() > 1, "output was streamed");
    assert!(texts.windows(2).all(|pair| pair[1].starts_with(pair[0])));
    let asked = &outcome.permissions()[0]["params"]["toolCall"];
    assert!(asked["rawInput"]["command"].as_str().unwrap().starts_with("pwd"));
}

#[test]
fn a_flood_of_output_is_bounded() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "run `seq 1 300000`");
    let last = *outcome.updates("tool_call_update").last().unwrap();
    assert_eq!(last["status"], "completed");
    assert_eq!(last["rawOutput"]["truncated"], true);
    let output = last["rawOutput"]["output"].as_str().unwrap();
    assert!(output.len() < 70_000 && output.starts_with("1\n2\n") && output.ends_with("\n300000\n"));
}

#[test]
fn nothing_that_a_command_started_in_its_group_is_left_behind() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "run `sleep 1000 & echo pid $!`");
    assert_eq!(outcome.stop_reason(), "end_turn");
    let text = outcome.text();
    let pid: String = text.split("pid ").last().unwrap().chars().take_while(char::is_ascii_digit).collect();
    assert!(crate::cancelling::is_gone(&pid));
}

#[test]
fn words_are_counted_and_written() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let counted = client.prompt(&session, "count to 5");
    assert_eq!(counted.texts("agent_message_chunk"), ["1 ", "2 ", "3 ", "4 ", "5"]);
    let written = client.prompt(&session, "write 3000 words");
    assert_eq!(written.text().split(' ').count(), 3000);
    assert!(written.text().ends_with(" word3000"));
}

#[test]
fn several_instructions_are_done_in_order_and_lists_show_them() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "create b.txt with x then create c.txt with y; list files");
    assert_eq!(outcome.updates("tool_call").len(), 3);
    assert!(outcome.text().ends_with("- `b.txt`\n- `c.txt`"), "{}", outcome.text());
}

#[test]
fn earlier_prompts_are_remembered() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let first = client.prompt(&session, "what was my first message?");
    assert!(first.text().contains("have not asked"));
    client.prompt(&session, "say pineapple");
    let all = client.prompt(&session, "what did I ask you before?").text();
    assert!(all.contains("1. “what was my first message?”") && all.contains("2. “say pineapple”"));
    assert!(!all.contains("3."));
}

#[test]
fn anything_else_gets_a_friendly_answer() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "please refactor the whole codebase");
    let text = outcome.text();
    for part in ["demo agent", "without a language model", "refactor the whole codebase", "create a file"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(outcome.updates("tool_call").is_empty());
}

#[test]
fn plan_mode_touches_nothing() {
    let home = Home::new();
    let (mut client, session) = home.session();
    client.call("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let outcome = client.prompt(&session, "create a.txt with x then run `touch b.txt`");
    assert!(outcome.text().contains("Write a.txt") && outcome.text().contains("touch b.txt"));
    assert!(outcome.updates("tool_call").is_empty() && outcome.permissions().is_empty());
    assert_eq!(fs::read_dir(&home.work).unwrap().count(), 0);
}

#[test]
fn attachments_are_named_and_read() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let prompt = json!([
        { "type": "text", "text": "read the attached file" },
        { "type": "resource", "resource": { "uri": "file:///x/plan.md", "text": "the secret plan" } },
        { "type": "resource_link", "uri": "file:///x/other.md", "name": "other.md" },
    ]);
    let outcome = client.call("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    let text = outcome.text();
    assert!(text.contains("`plan.md`, `other.md`") && text.contains("the secret plan"), "{text}");
}
