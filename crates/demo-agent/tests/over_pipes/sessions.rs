use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;

use demo_agent::{CwdPolicy, Pace};
use serde_json::{Value, json};

use crate::client::{Client, Home};

fn load(client: &mut Client, home: &Home, session: &str) -> crate::client::Outcome {
    client.call("session/load", json!({ "sessionId": session, "cwd": home.work, "mcpServers": [] }))
}

#[test]
fn a_new_process_replays_the_whole_session_before_it_answers() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let first = client.prompt(&session, "create a.txt with x").text();
    client.call("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let second = client.prompt(&session, "count to 3").text();
    client.hang_up();

    let mut client = home.agent();
    let loaded = load(&mut client, &home, &session);
    assert_eq!(loaded.texts("user_message_chunk"), ["create a.txt with x", "count to 3"]);
    assert_eq!(loaded.texts("agent_message_chunk"), [first, second]);
    assert_eq!(loaded.statuses(), ["pending", "completed"]);
    assert_eq!(loaded.answer["result"]["modes"]["currentModeId"], "plan");
    client.call("session/set_mode", json!({ "sessionId": session, "modeId": "agent" }));
    let recalled = client.prompt(&session, "what was my first message?");
    assert!(recalled.text().contains("create a.txt with x"));
    assert!(recalled.updates("session_info_update").is_empty(), "it has its title already");
}

#[test]
fn resume_restores_without_replay() {
    let home = Home::new();
    let (mut client, session) = home.session();
    client.prompt(&session, "say pineapple");
    client.hang_up();
    let mut client = home.agent();
    let resumed = client.call("session/resume", json!({ "sessionId": session, "cwd": home.work, "mcpServers": [] }));
    assert_eq!(resumed.answer["result"]["modes"]["currentModeId"], "agent");
    assert!(resumed.updates("user_message_chunk").is_empty() && resumed.updates("agent_message_chunk").is_empty());
    assert!(client.prompt(&session, "what did I ask before?").text().contains("say pineapple"));
}

#[test]
fn a_torn_file_loads_and_goes_on() {
    let home = Home::new();
    let (mut client, session) = home.session();
    client.prompt(&session, "count to 3");
    client.hang_up();
    let path = home.state.join("sessions").join(format!("{session}.ndjson"));
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"prompt\",\"text\":\"never fin").unwrap();
    drop(file);

    let mut client = home.agent();
    let loaded = load(&mut client, &home, &session);
    assert_eq!(loaded.texts("user_message_chunk"), ["count to 3"]);
    client.prompt(&session, "count to 4");
    client.hang_up();
    let mut client = home.agent();
    let loaded = load(&mut client, &home, &session);
    assert_eq!(loaded.texts("user_message_chunk"), ["count to 3", "count to 4"]);
    assert_eq!(loaded.texts("agent_message_chunk"), ["1 2 3", "1 2 3 4"]);
}

#[test]
fn two_sessions_work_in_parallel_and_do_not_mix() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Normal, CwdPolicy::AnyDirectory);
    let (one, two) = (client.new_session(&home.work), client.new_session(&home.work));
    let first = client.start_prompt(&one, "count to 60");
    let second = client.start_prompt(&two, "write 60 words");
    let (mut order, mut answers) = (Vec::new(), HashSet::new());
    let (mut text_one, mut text_two) = (String::new(), String::new());
    while answers.len() < 2 {
        let message = client.next();
        if let Some(id) = message["id"].as_u64() {
            answers.insert(id);
        }
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            let is_one = message["params"]["sessionId"] == json!(one);
            let text = update["content"]["text"].as_str().unwrap();
            if is_one {
                text_one.push_str(text)
            } else {
                text_two.push_str(text)
            }
            order.push(is_one);
        }
    }
    assert_eq!(answers, HashSet::from([first, second]));
    let expect = |prefix: &str| (1..=60).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!((text_one, text_two), (expect(""), expect("word")));
    assert!(order.windows(2).filter(|pair| pair[0] != pair[1]).count() > 10, "they were interleaved");
}

#[test]
fn the_list_comes_in_pages_and_can_be_filtered() {
    let home = Home::new();
    let mut client = home.agent();
    let elsewhere = home.work.join("sub");
    fs::create_dir(&elsewhere).unwrap();
    let made: HashSet<String> = (0..45).map(|_| client.new_session(&home.work)).collect();
    let other = client.new_session(&elsewhere);
    client.prompt(&other, "say hello");

    let mut seen: Vec<Value> = Vec::new();
    let (mut cursor, mut pages) = (Value::Null, 0);
    loop {
        let answer = client.call("session/list", json!({ "cursor": cursor })).answer;
        seen.extend(answer["result"]["sessions"].as_array().unwrap().iter().cloned());
        pages += 1;
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        // A session made while the list is read shifts nothing.
        client.new_session(&home.work);
    }
    assert_eq!(pages, 3);
    let ids: HashSet<String> = seen.iter().map(|entry| entry["sessionId"].as_str().unwrap().to_owned()).collect();
    assert_eq!((ids.len(), seen.len()), (46, 46));
    assert!(ids.is_superset(&made));
    assert_eq!(seen[0]["sessionId"], json!(other), "newest first");
    assert_eq!(seen[0]["title"], "say hello");
    assert!(seen[0]["updatedAt"].as_str().unwrap().ends_with('Z'));

    let filtered = client.call("session/list", json!({ "cwd": elsewhere })).answer;
    assert_eq!(filtered["result"]["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(filtered["result"]["sessions"][0]["cwd"], json!(elsewhere));
}

#[test]
fn a_deleted_session_is_gone() {
    let home = Home::new();
    let (mut client, session) = home.session();
    client.prompt(&session, "count to 2");
    assert!(client.call("session/delete", json!({ "sessionId": session })).answer["result"].is_object());
    assert_eq!(client.prompt(&session, "count to 2").error_code(), -32002);
    assert_eq!(load(&mut client, &home, &session).error_code(), -32002);
    let listed = client.call("session/list", json!({})).answer;
    assert_eq!(listed["result"]["sessions"], json!([]));
}

#[test]
fn a_closed_session_can_be_loaded_again() {
    let home = Home::new();
    let (mut client, session) = home.session();
    client.prompt(&session, "count to 2");
    client.call("session/close", json!({ "sessionId": session }));
    assert_eq!(client.prompt(&session, "count to 2").error_code(), -32002);
    assert_eq!(load(&mut client, &home, &session).texts("agent_message_chunk"), ["1 2"]);
}
