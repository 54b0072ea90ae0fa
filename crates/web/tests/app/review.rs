//! `/api/sessions/{id}/review` and what is below it, and the same of an artifact; hunks of what is shown.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::model_server::Reply;

use crate::rig::{Rig, SOON, delegate, of_kind, only};

fn comment(path: &str, line: u32, text: &str) -> Value {
    json!({ "path": path, "side": "new", "from_line": line, "quote": "let a = 1;", "text": text })
}

async fn comments(rig: &Rig, path: &str) -> Vec<Value> {
    rig.get(path).await.json()["comments"].as_array().unwrap().clone()
}

/// The person's messages of the session.
async fn said(rig: &Rig, session: &str) -> Vec<String> {
    let messages = rig.get(&format!("/api/sessions/{session}/messages")).await.json()["messages"].as_array().unwrap().clone();
    let by_person = messages.iter().filter(|message| message["role"] == "user");
    by_person.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_are_kept_changed_removed_and_sent_once_to_the_main_ai() {
    let rig = Rig::replies([Reply::text("I will.")]).await;
    let session = rig.session().await;
    let review = format!("/api/sessions/{session}/review");
    let at = format!("{review}/comments");
    let first = rig.post(&at, comment("src/a.rs", 3, "one line will do")).await;
    assert_eq!(first.status, 201, "{}", first.text);
    let second = rig.post(&at, json!({ "path": "b.md", "side": "file", "text": "needed?" })).await.json();
    let third = rig.post(&at, comment("src/a.rs", 9, "gone soon")).await.json();
    let id = |comment: &Value| comment["id"].as_str().unwrap().to_owned();
    assert_eq!(rig.patch(&format!("{at}/{}", id(&second)), json!({ "text": "is this needed?" })).await.json()["text"], "is this needed?");
    assert_eq!(rig.delete(&format!("{at}/{}", id(&third))).await.status, 204);
    rig.delete(&format!("{at}/{}", id(&third))).await.refuses(404, "not_found");
    assert_eq!(comments(&rig, &review).await.len(), 2);

    let mut client = rig.watch(&session).await;
    let submit = json!({ "verdict": "changes", "summary": "Nearly.", "client_id": "r1" });
    let sent = rig.post(&format!("{review}/submit"), submit.clone()).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let again = rig.post(&format!("{review}/submit"), submit).await;
    assert_eq!((again.status, again.json()), (202, sent.json()), "sent once");
    let kept = rig.get(&review).await.json();
    assert_eq!(kept["comments"], json!([]), "they went with it");
    let texts: Vec<_> = kept["sent"].as_array().unwrap().iter().map(|comment| comment["text"].clone()).collect();
    assert_eq!(json!(texts), json!(["one line will do", "is this needed?"]), "and stay until they are resolved");
    assert!(kept["sent"][0]["sent_at"].is_string(), "{kept}");
    rig.patch(&format!("{at}/{}", id(&second)), json!({ "text": "too late" })).await.refuses(409, "conflict");
    assert_eq!(rig.delete(&format!("{at}/{}", id(&second))).await.status, 204);
    assert_eq!(rig.get(&review).await.json()["sent"].as_array().unwrap().len(), 1, "the other one is resolved");
    let more = rig.post(&format!("{review}/submit"), json!({ "verdict": "comment", "client_id": "r2" })).await;
    more.refuses(422, "invalid");
    let said = said(&rig, &session).await;
    assert_eq!(
        said,
        ["Review: I ask for changes.\n\nNearly.\n\n## src/a.rs\n\nsrc/a.rs:3\n\n> let a = 1;\n\none line will do\n\n\
          ## b.md\n\nb.md (the whole file)\n\nis this needed?"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_goes_to_the_agent_that_was_chosen() {
    let rig = Rig::replies([delegate(&[("work", "say hi")]), Reply::text("Done."), Reply::text("Passed on.")]).await;
    let session = rig.session().await;
    rig.turn(&session, "go").await;
    let submit = format!("/api/sessions/{session}/review/submit");
    rig.post(&submit, json!({ "verdict": "approve", "to": "nobody", "client_id": "a" })).await.refuses(422, "invalid");
    let mut client = rig.watch(&session).await;
    assert_eq!(rig.post(&submit, json!({ "verdict": "approve", "to": "work", "client_id": "b" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(said(&rig, &session).await[1].contains("`work`"));

    let straight = rig.relay().await;
    rig.turn(&straight, "@work say hi").await;
    let mut client = rig.watch(&straight).await;
    let submit = format!("/api/sessions/{straight}/review/submit");
    assert_eq!(rig.post(&submit, json!({ "verdict": "comment", "summary": "Fine.", "to": "work", "client_id": "c" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(only(&client, "copilot-done")["session_name"], "work");
    assert!(client.seen.agent_text("work").contains("Fine."), "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn viewed_marks_are_kept_with_the_state_that_was_seen() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let review = format!("/api/sessions/{session}/review");
    let at = format!("{review}/viewed");
    let put = |body: Value| rig.send(reqwest::Method::PUT, &at, Some(body));
    for (digest, viewed, kept) in [("one", true, json!(["one"])), ("two", true, json!(["two"])), ("two", false, json!([]))] {
        assert_eq!(put(json!({ "path": "a", "digest": digest, "viewed": viewed })).await.status, 204);
        let marks = rig.get(&review).await.json()["viewed"].as_array().unwrap().clone();
        assert_eq!(json!(marks.iter().map(|mark| mark["digest"].clone()).collect::<Vec<_>>()), kept);
    }
    put(json!({ "path": "", "digest": "x", "viewed": true })).await.refuses(422, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_or_is_too_much_is_refused() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let review = format!("/api/sessions/{session}/review");
    for wrong in [
        json!({ "path": "a", "side": "new", "text": "no line" }),
        json!({ "path": "a", "side": "new", "from_line": 0, "text": "no such line" }),
        json!({ "path": "a", "side": "new", "from_line": 3, "to_line": 2, "text": "backwards" }),
        json!({ "path": "a", "side": "new", "from_line": 1, "text": "  " }),
        json!({ "path": "a", "side": "new", "from_line": 1, "text": "x".repeat(10_001) }),
        json!({ "path": "", "side": "file", "text": "where?" }),
    ] {
        rig.post(&format!("{review}/comments"), wrong).await.refuses(422, "invalid");
    }
    rig.post(&format!("{review}/submit"), json!({ "verdict": "changes", "client_id": "x" })).await.refuses(422, "invalid");
    rig.get("/api/sessions/00000000-0000-0000-0000-000000000000/review").await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_comments_that_wait_have_a_bound() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let new = || engine::NewComment {
        path: "a".to_owned(),
        side: domain::review::Side::New,
        from_line: Some(1),
        to_line: None,
        quote: String::new(),
        text: "x".to_owned(),
        since: None,
    };
    for _ in 0..500 {
        rig.engine.add_comment(session.parse().unwrap(), engine::CHANGES, new()).await.unwrap();
    }
    rig.post(&format!("/api/sessions/{session}/review/comments"), comment("a", 1, "one more")).await.refuses(409, "conflict");
}

fn git(dir: &Path, args: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(settings).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "git {args:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_has_hunks_marks_and_comments_of_its_own() {
    let rig = Rig::replies([Reply::tool_call("git_diff", json!({})), Reply::text("see"), Reply::text("thanks")]).await;
    let work = rig.dir.path().join("work");
    git(&work, &["init", "-q"]);
    std::fs::write(work.join("a.rs"), "fn one() {}\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "first"]);
    std::fs::write(work.join("a.rs"), "fn two() {}\n").unwrap();
    let session = rig.session().await;
    let (_, client) = rig.turn(&session, "show").await;
    let path = format!("/api/artifacts/{}", only(&client, "review-artifact")["artifact_id"].as_str().unwrap());
    let artifact = rig.get(&path).await.json();
    assert_eq!(artifact["session_id"], json!(session));
    let file = &artifact["files"][0];
    assert_eq!(file["hunks"][0]["lines"][1]["text"], "fn two() {}", "{file}");
    let mark = json!({ "path": "a.rs", "digest": file["digest"], "viewed": true });
    assert_eq!(rig.send(reqwest::Method::PUT, &format!("{path}/viewed"), Some(mark)).await.status, 204);
    assert_eq!(rig.post(&format!("{path}/comments"), comment("a.rs", 1, "why two?")).await.status, 201);
    let artifact = rig.get(&path).await.json();
    assert_eq!((artifact["viewed"][0]["path"].clone(), artifact["comments"][0]["text"].clone()), (json!("a.rs"), json!("why two?")));
    assert!(comments(&rig, &format!("/api/sessions/{session}/review")).await.is_empty(), "the session's own are others");
    let mut client = rig.watch(&session).await;
    assert_eq!(rig.post(&format!("{path}/submit"), json!({ "verdict": "comment", "client_id": "z" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(comments(&rig, &path).await.is_empty());
    assert!(said(&rig, &session).await[1].contains("why two?"));
}

/// Live, after a reload, and in what is stored.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_agents_come_with_their_hunks() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    std::fs::write(rig.dir.path().join("work/a"), "one\ntwo\n").unwrap();
    let mut client = rig.watch(&session).await;
    rig.say(&session, &format!("calls {}", json!([["fs/write_text_file", { "path": "a", "content": "one\n2\n" }]]))).await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    assert_eq!(request["hunks"][0]["path"], "a", "{request}");
    assert_eq!(request["hunks"][0]["hunks"][0]["lines"][1]["text"], "two", "{request}");
    assert_eq!(of_kind(&rig.watch(&session).await, "permission-request")[0].data, request);
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": "allow_once" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let change = |updates: Vec<Value>| {
        let found = updates.iter().find_map(|update| Some(update["content"].as_array()?.first()?["hunks"].clone()));
        found.filter(|hunks| hunks.is_array())
    };
    let live = change(of_kind(&client, "agent-update").iter().map(|event| event.data["update"].clone()).collect());
    assert_eq!(live.as_ref().unwrap()[0]["lines"][2]["text"], "2", "{live:?}");
    let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
    let tool = stored["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap().clone();
    let placed = tool["delegation"]["updates"].as_array().unwrap();
    assert_eq!(change(placed.iter().map(|placed| placed["update"].clone()).collect()), live);
}
