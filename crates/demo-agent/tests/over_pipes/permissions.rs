use std::fs;

use serde_json::{Value, json};

use crate::client::Home;

#[test]
fn request_ids_start_at_zero_and_all_options_are_offered() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let outcome = client.prompt(&session, "create a.txt with x; delete a.txt");
    let asked = outcome.permissions();
    assert_eq!((&asked[0]["id"], &asked[1]["id"]), (&json!(0), &json!(1)));
    let kinds: Vec<&Value> = asked[0]["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    assert_eq!(asked[0]["params"]["toolCall"]["status"], "pending");
}

#[test]
fn a_rejection_ends_the_turn_and_changes_nothing() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let id = client.start_prompt(&session, "create a.txt with x then create b.txt with y");
    let outcome = client.finish(id, "reject_once");
    assert_eq!(outcome.stop_reason(), "end_turn");
    assert_eq!(outcome.statuses(), ["pending", "failed"]);
    assert!(outcome.text().contains("declined"));
    assert_eq!(outcome.permissions().len(), 1);
    assert_eq!(fs::read_dir(&home.work).unwrap().count(), 0);
    let last = *outcome.updates("tool_call_update").last().unwrap();
    assert_eq!(last["rawOutput"]["code"], "rejected");
}

#[test]
fn every_other_form_of_answer_is_a_denial() {
    let home = Home::new();
    let (mut client, session) = home.session();
    for form in [
        json!({ "outcome": { "outcome": "allowed" } }),
        json!({ "selected": { "optionId": "allow_once" } }),
        json!({ "outcome": { "outcome": "selected", "optionId": "nonsense" } }),
    ] {
        let id = client.start_prompt(&session, "create a.txt with x");
        let request = client.until(|message| message["method"] == "session/request_permission");
        client.answer(&request, &form);
        let outcome = client.finish(id, "unused");
        assert_eq!(outcome.stop_reason(), "end_turn", "{form}");
        assert_eq!(outcome.statuses(), ["failed"], "{form}");
        assert!(!home.work.join("a.txt").exists());
    }
    let id = client.start_prompt(&session, "create a.txt with x");
    let request = client.until(|message| message["method"] == "session/request_permission");
    client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": -32603, "message": "no" } }));
    assert_eq!(client.finish(id, "unused").statuses(), ["failed"]);
    assert!(!home.work.join("a.txt").exists());
}

#[test]
fn always_holds_for_its_kind_in_its_session_until_it_is_loaded_again() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let id = client.start_prompt(&session, "create a.txt with x; create b.txt with y; run `true`");
    let outcome = client.finish(id, "allow_always");
    assert_eq!(outcome.permissions().len(), 2, "one for edits, one for commands");
    assert!(client.prompt(&session, "create c.txt with z; run `ls`").permissions().is_empty());
    let other = client.new_session(&home.work);
    assert_eq!(client.prompt(&other, "create d.txt with z").permissions().len(), 1);
    client.call("session/close", json!({ "sessionId": session }));
    client.call("session/resume", json!({ "sessionId": session, "cwd": home.work, "mcpServers": [] }));
    assert_eq!(client.prompt(&session, "create e.txt with z").permissions().len(), 1);
}

#[test]
fn what_was_shown_is_what_is_done() {
    let home = Home::new();
    let (mut client, session) = home.session();
    fs::write(home.work.join("a.txt"), "old").unwrap();
    let id = client.start_prompt(&session, "replace old with new in a.txt");
    let request = client.until(|message| message["method"] == "session/request_permission");
    fs::write(home.work.join("a.txt"), "old, and changed since").unwrap();
    client.answer(&request, &json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } }));
    let outcome = client.finish(id, "unused");
    assert!(outcome.text().contains("changed while I waited"));
    assert_eq!(fs::read_to_string(home.work.join("a.txt")).unwrap(), "old, and changed since");
}
