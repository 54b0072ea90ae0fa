//! Attachments of messages: how they come in, where they go, and how they are shown again.

use serde_json::{Value, json};
use testkit::model_server::{Gate, Reply};

use crate::rig::{Rig, SOON, delegate, of_kind};

/// The smallest picture there is.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn image(name: &str) -> Value {
    json!({ "kind": "image", "name": name, "mime_type": "image/png", "data": PNG })
}

fn note(name: &str, text: &str) -> Value {
    json!({ "kind": "file", "name": name, "text": text })
}

fn messages(session: &str) -> String {
    format!("/api/sessions/{session}/messages")
}

/// What the agent was prompted with, block by block.
fn prompts(rig: &Rig) -> Vec<Value> {
    let log = std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap_or_default();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["method"] == "session/prompt").map(|line| line["params"]["prompt"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_along_is_shown_again_safely_and_goes_with_its_session() {
    let rig = Rig::replies([Reply::text("a dot")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let page = note("page <1>.html", "<script>alert(1)</script>");
    let sent = rig.post(&messages(&session), json!({ "content": "what is this?", "attachments": [image("dot.png"), page] })).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let live = of_kind(&client, "message")[0].data["attachments"].clone();
    assert_eq!((&live[0]["kind"], &live[0]["name"], &live[0]["mime_type"]), (&json!("image"), &json!("dot.png"), &json!("image/png")));
    assert_eq!((&live[1]["kind"], &live[1]["size"]), (&json!("file"), &json!(25)));
    assert_eq!(rig.get(&messages(&session)).await.json()["messages"][0]["attachments"], live);
    assert_eq!(of_kind(&rig.watch(&session).await, "message")[0].data["attachments"], live, "after a reload too");

    let path = |index: usize| format!("/api/sessions/{session}/attachments/{}", live[index]["id"].as_str().unwrap());
    let shown = rig.get(&path(0)).await;
    assert_eq!(shown.status, 200);
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
        ("content-disposition", "inline"),
    ] {
        assert_eq!(shown.headers[name], value);
    }
    let saved = rig.get(&path(1)).await;
    assert_eq!(saved.text, "<script>alert(1)</script>");
    assert_eq!(saved.headers["content-type"], "application/octet-stream");
    assert_eq!(saved.headers["content-disposition"], "attachment; filename*=UTF-8''page%20%3C1%3E.html");
    let nobody = rig.http.get(format!("{}{}", rig.base, path(0))).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    let other = rig.session().await;
    rig.get(&path(0).replace(&session, &other)).await.refuses(404, "not_found");
    rig.delete(&format!("/api/sessions/{session}")).await;
    rig.get(&path(0)).await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_or_is_too_much_is_refused_by_name_and_nothing_is_sent() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    std::fs::write(rig.dir.path().join("secret"), "x").unwrap();
    let big = "x".repeat(8 * 1024 * 1024 + 1);
    let table = [
        (json!([note("big.txt", &big)]), 413, "too_large", "`big.txt` is too large"),
        (
            json!([note("a", &big[..6 << 20]), note("b", &big[..6 << 20]), note("c", &big[..6 << 20])]),
            413,
            "too_large",
            "`c` is one too many",
        ),
        (json!(vec![note("a", ""); 21]), 422, "invalid", "takes 20"),
        (json!([{ "kind": "image", "name": "x.png", "mime_type": "image/png", "data": "PHN2Zz4=" }]), 422, "invalid", "`x.png` is no PNG"),
        (json!([{ "kind": "image", "name": "x.png", "mime_type": "image/png", "data": "%%%" }]), 422, "invalid", "`x.png` is not base64"),
        (json!([{ "kind": "file", "name": "x" }]), 422, "invalid", "`x` needs either"),
        (json!([{ "kind": "path", "path": "nope.rs" }]), 422, "invalid", "nope.rs"),
        (json!([{ "kind": "path", "path": "../secret" }]), 422, "invalid", "outside the work directory"),
        (json!([{ "kind": "film", "name": "x" }]), 422, "invalid", "film"),
    ];
    for (attachments, status, code, words) in table {
        let answer = rig.post(&messages(&session), json!({ "content": "x", "attachments": attachments })).await;
        answer.refuses(status, code);
        assert!(answer.text.contains(words), "{}", answer.text);
    }
    rig.post(&messages(&session), json!({ "content": "x", "attachments": [note("a", &"x".repeat(26 << 20))] }))
        .await
        .refuses(413, "too_large");
    assert_eq!(rig.get(&messages(&session)).await.json()["messages"], json!([]));
    assert_eq!(rig.model.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_ai_sees_images_reads_files_and_is_told_of_paths() {
    let rig = Rig::replies([delegate(&[("main", "say done")]), Reply::text("ok"), Reply::text("again")]).await;
    let session = rig.session().await;
    std::fs::write(rig.dir.path().join("work/sub/lib.rs"), "fn main() {}").unwrap();
    let mut client = rig.watch(&session).await;
    let path = json!({ "kind": "path", "path": "./sub/lib.rs" });
    let body = json!({ "content": "look", "attachments": [image("dot.png"), note("note.txt", "remember"), path] });
    assert_eq!(rig.post(&messages(&session), body).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    rig.say(&session, "and now?").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    for request in rig.model.requests() {
        let said = request.messages().iter().find(|message| message["role"] == "user").unwrap();
        let (text, picture) = (said["content"][0]["text"].as_str().unwrap(), &said["content"][1]["image_url"]["url"]);
        assert_eq!(*picture, format!("data:image/png;base64,{PNG}"));
        for words in ["look\n\n", "the image `dot.png`", "the file `note.txt`", "remember", "`sub/lib.rs` in the work directory"] {
            assert!(text.contains(words), "no {words:?} in {text:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_agent_session_gets_the_attachments_once_in_a_turn_and_both_sides_hear_what_it_does_not_take() {
    let calls = [("main", "say one"), ("docs", "say two"), ("main", "say three")];
    let again = [delegate(&[("docs", "say four")]), Reply::text("ok"), delegate(&[("main", "say five")]), Reply::text("ok")];
    let rig = Rig::replies([delegate(&calls)].into_iter().chain(again)).await;
    let session = rig.session().await;
    let work = rig.dir.path().join("work").canonicalize().unwrap();
    std::fs::write(work.join("sub/lib.rs"), "fn main() {}").unwrap();
    let mut client = rig.watch(&session).await;
    let path = json!({ "kind": "path", "path": "sub/lib.rs" });
    let body = json!({ "content": "look", "attachments": [image("dot.png"), note("note.txt", "remember"), path] });
    assert_eq!(rig.post(&messages(&session), body).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    rig.say(&session, "and now?").await;
    assert_eq!(client.turn_end(SOON).await, "completed");

    let carries = |prompt: &Value| prompt.as_array().unwrap().len() > 1;
    let said = |prompt: &Value| prompt[0]["text"].as_str().unwrap().to_owned();
    let sent = prompts(&rig);
    let mut carrying: Vec<_> = sent.iter().filter(|prompt| carries(prompt)).map(said).collect();
    carrying.sort_unstable();
    assert_eq!((sent.len(), carrying), (5, vec!["say one".to_owned(), "say two".to_owned()]));
    let along = sent.iter().find(|prompt| carries(prompt)).unwrap();
    assert_eq!(along[1], json!({ "type": "text", "text": "Attached file `note.txt`:\n\nremember" }));
    assert_eq!((&along[2]["type"], &along[2]["name"], &along[3]), (&json!("resource_link"), &json!("sub/lib.rs"), &Value::Null));

    let words = "it takes no images, so `dot.png` was not sent";
    let told = of_kind(&client, "agent-update").into_iter().filter(|event| event.data["update"]["text"] == words).count();
    assert_eq!(told, 2, "a person hears it of each session");
    let results: Vec<_> = rig.model.requests()[1].messages().iter().filter(|message| message["role"] == "tool").cloned().collect();
    let heard: Vec<_> = results.iter().map(|result| result["content"].as_str().unwrap().contains(words)).collect();
    assert_eq!(heard, [true, true, false], "and the main AI too: {results:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_the_agent_refused_has_brought_nothing_along() {
    let rig = Rig::replies([delegate(&[("main", "error_code -32603")]), delegate(&[("main", "say two")]), Reply::text("ok")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let body = json!({ "content": "look", "attachments": [note("a.txt", "a"), image("1.png"), image("2.png")] });
    assert_eq!(rig.post(&messages(&session), body).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let along: Vec<_> = prompts(&rig).iter().map(|prompt| prompt[1]["text"].clone()).collect();
    assert_eq!(along, ["Attached file `a.txt`:\n\na", "Attached file `a.txt`:\n\na"], "{:?}", prompts(&rig));
    let words = "it takes no images, so `1.png`, `2.png` were not sent";
    let told = of_kind(&client, "agent-update").into_iter().filter(|event| event.data["update"]["text"] == words).count();
    assert_eq!(told, 2, "one sentence for each prompt");
}

/// Holds S4-33.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_gets_links_to_paths_and_the_text_of_files_once_however_often_they_are_sent() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let work = rig.dir.path().join("work").canonicalize().unwrap();
    std::fs::write(work.join("sub/a b.rs"), "12345").unwrap();
    std::fs::write(work.join("README.md"), "1").unwrap();
    let mut client = rig.watch(&session).await;
    let attachments = json!([{ "kind": "path", "path": "sub/a b.rs" }, note("note.txt", "remember")]);
    let body = json!({ "content": "@README.md say it, @nobody", "client_id": "once", "attachments": attachments });
    let path = messages(&session);
    let answers = futures::future::join_all((0..4).map(|_| rig.post(&path, body.clone()))).await;
    assert!(answers.iter().all(|answer| answer.status == 202 && answer.text == answers[0].text), "{}", answers[0].text);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let link = |name: &str, uri: &str, size: u64| json!({ "type": "resource_link", "name": name, "uri": format!("file://{}/{uri}", work.display()), "size": size });
    let expected = json!([
        { "type": "text", "text": " @README.md say it, @nobody" },
        { "type": "text", "text": "Attached file `note.txt`:\n\nremember" },
        link("sub/a b.rs", "sub/a%20b.rs", 5),
        link("README.md", "README.md", 1),
    ]);
    assert_eq!(prompts(&rig), [expected], "and it went to the session `main`, not to one called `README.md`");
    assert_eq!(rig.get(&format!("/api/sessions/{session}/agents")).await.json()["agents"][0]["name"], "main");
}

/// Holds C6.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_takes_no_images_is_never_prompted_with_one() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    let body = json!({ "content": "what is this?", "attachments": [image("dot.png")] });
    assert_eq!(rig.post(&messages(&session), body.clone()).await.status, 202, "nobody knows yet what it takes");
    assert_eq!(client.turn_end(SOON).await, "failed");
    let error = of_kind(&client, "error")[0].data.clone();
    assert!(error["message"].as_str().unwrap().contains("takes no images, so `dot.png` was not sent"), "{error}");
    let answer = rig.post(&messages(&session), body).await;
    answer.refuses(422, "invalid");
    assert!(answer.text.contains("Faulty agent takes no images"), "{}", answer.text);
    assert!(prompts(&rig).is_empty());
    rig.say(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_keeps_its_attachments_through_an_edit_and_loses_them_with_a_withdrawal() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::text("1").gate(&gate), Reply::text("2")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "first").await;
    rig.model.wait_for_requests(1).await;
    for name in ["kept.png", "gone.png"] {
        rig.post(&messages(&session), json!({ "content": name, "attachments": [image(name)] })).await;
    }
    let queue = format!("/api/sessions/{session}/queue");
    let items = rig.get(&queue).await.json()["items"].clone();
    let attachment =
        |index: usize| format!("/api/sessions/{session}/attachments/{}", items[index]["attachments"][0]["id"].as_str().unwrap());
    assert_eq!(items[0]["attachments"][0]["name"], "kept.png");
    rig.patch(&format!("{queue}/{}", items[0]["message_id"].as_str().unwrap()), json!({ "content": "edited" })).await;
    rig.delete(&format!("{queue}/{}", items[1]["message_id"].as_str().unwrap())).await;
    rig.get(&attachment(1)).await.refuses(404, "not_found");
    gate.open();
    for _ in 0..2 {
        assert_eq!(client.turn_end(SOON).await, "completed");
    }
    let last = rig.model.requests().pop().unwrap();
    assert!(last.last_user().starts_with("edited\n\n[Attached: the image `kept.png`"), "{}", last.last_user());
    assert_eq!(rig.get(&attachment(0)).await.status, 200);
}
