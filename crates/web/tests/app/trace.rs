//! `GET /api/sessions/{id}/trace` and below

use serde_json::{Value, json};

use crate::rig::{Options, Rig, SOON, TOKEN};

const SECRET: &str = "the-agents-own-secret";
const GITHUB: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

async fn rig() -> Rig {
    Rig::start(Options { agent_env: vec![("FAULTY_API_TOKEN", SECRET)], ..Options::default() }).await
}

async fn page(rig: &Rig, session: &str, query: &str) -> Value {
    let answer = rig.get(&format!("/api/sessions/{session}/trace?{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// All pages of `limit` entries, one after the other.
async fn pages(rig: &Rig, session: &str, limit: usize) -> Vec<Value> {
    let (mut entries, mut before) = (Vec::new(), String::new());
    loop {
        let page = page(rig, session, &format!("limit={limit}{before}")).await;
        entries.extend(page["entries"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return entries,
        }
    }
}

fn places(entries: &[Value]) -> Vec<(String, u64)> {
    entries.iter().map(|entry| (entry["runner"].as_str().unwrap().to_owned(), entry["seq"].as_u64().unwrap())).collect()
}

/// Ends the running agent and waits until nothing of it is left.
async fn end_agent(rig: &Rig, session: &str) {
    let (state, _) = rig.turn(session, "exit_zero").await;
    assert_ne!(state, "completed");
    let runners = rig.dir.path().join("data/runners");
    let cleared = async {
        while runners.read_dir().unwrap().next().is_some() || page(rig, session, "limit=1").await["runners"][0]["running"] == true {}
    };
    tokio::time::timeout(SOON, cleared).await.expect("the agent is cleared away");
}

/// Holds S4-30, S4-38.
#[tokio::test(flavor = "multi_thread")]
async fn all_traffic_is_there_newest_first_whatever_the_size_of_the_page() {
    let rig = rig().await;
    let session = rig.relay().await;
    assert_eq!(page(&rig, &session, "").await, json!({ "entries": [], "runners": [] }));
    rig.turn(&session, "say one two three").await;
    let whole = page(&rig, &session, "").await;
    let entries = whole["entries"].as_array().unwrap();
    assert_eq!(places(&pages(&rig, &session, 1).await), places(entries));
    assert_eq!(places(&pages(&rig, &session, 3).await), places(entries));
    let seqs: Vec<u64> = entries.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=entries.len() as u64).rev().collect::<Vec<_>>());
    assert_eq!(whole["runners"], json!([{ "runner": entries[0]["runner"], "running": true, "first_seq": 1 }]));

    let first = entries.last().unwrap();
    assert_eq!((&first["direction"], &first["kind"], &first["method"]), (&json!("to-agent"), &json!("request"), &json!("initialize")));
    assert_eq!((&first["id"], &first["payload"]["params"]["protocolVersion"]), (&json!("initialize"), &json!(1)));
    assert!(first["at"].as_str().unwrap().ends_with('Z') && first["size"].as_u64().unwrap() > 50, "{first}");
    let update = entries.iter().find(|entry| entry["payload"]["params"]["update"]["content"]["text"] == "two ").unwrap();
    assert_eq!(
        (&update["direction"], &update["kind"], &update["method"]),
        (&json!("from-agent"), &json!("notification"), &json!("session/update"))
    );
    let answer = &entries[0];
    assert_eq!((&answer["kind"], answer["id"].as_str().unwrap().starts_with("prompt:")), (&json!("response"), true), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_they_filter_for() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, "say one TWO three").await;
    let found = async |query: &str| page(&rig, &session, query).await["entries"].as_array().unwrap().clone();
    assert!(found("direction=to-agent").await.iter().all(|entry| entry["direction"] == "to-agent"));
    let methods: Vec<_> =
        found("direction=to-agent").await.iter().filter_map(|entry| entry["method"].as_str().map(str::to_owned)).collect();
    assert_eq!(methods, ["session/prompt", "session/new", "initialize"]);
    assert_eq!(found("method=SESSION/new").await.len(), 1);
    assert_eq!(found("method=new:").await.len(), 2, "the request and its answer bear one id");
    assert_eq!(found("text=two%20&direction=from-agent").await.len(), 1);
    assert!(found("text=nowhere").await.is_empty());
    let all = found("").await;
    let at = |entry: &Value| entry["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let newest = at(&all[0]);
    let oldest = at(all.last().unwrap());
    assert_eq!(found(&format!("from_ms={oldest}&until_ms={newest}")).await.len(), all.len());
    let latest = all.iter().filter(|entry| at(entry) == newest).count();
    assert_eq!(found(&format!("from_ms={newest}")).await.len(), latest);
    assert_eq!(found(&format!("until_ms={}", newest - 1)).await.len(), all.len() - latest);
    assert!(found(&format!("until_ms={}", oldest - 1)).await.is_empty());
    assert_eq!(rig.get(&format!("/api/sessions/{session}/trace?direction=sideways")).await.status, 400);
    rig.get(&format!("/api/sessions/{session}/trace?before=yesterday")).await.refuses(400, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_everywhere() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, &format!("say {SECRET} {GITHUB} {TOKEN}")).await;
    let (state, _) = rig.turn(&session, "echo_env FAULTY_API_TOKEN").await;
    assert_eq!(state, "completed");
    let list = page(&rig, &session, "").await;
    let prompt = list["entries"].as_array().unwrap().iter().rfind(|entry| entry["method"] == "session/prompt").unwrap();
    assert_eq!(prompt["payload"]["params"]["prompt"][0]["text"], "say [masked] [masked] [masked]");
    let one = rig.get(&format!("/api/sessions/{session}/trace/{}/{}", prompt["runner"].as_str().unwrap(), prompt["seq"])).await;
    let capture = rig.get(&format!("/api/sessions/{session}/trace/capture")).await;
    for text in [list.to_string(), one.text, capture.text] {
        assert!(text.contains("[masked]"));
        for secret in [SECRET, GITHUB, TOKEN] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    assert!(page(&rig, &session, &format!("text={SECRET}")).await["entries"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_payload_is_cut_in_the_page_and_whole_on_its_own() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, "big_line 1").await;
    let list = page(&rig, &session, "").await;
    let big = list["entries"].as_array().unwrap().iter().find(|entry| entry["cut"] == true).unwrap();
    assert!(big["size"].as_u64().unwrap() > 1_000_000);
    assert_eq!(big["payload"].as_str().unwrap().len(), 2048);
    let path = format!("/api/sessions/{session}/trace/{}", big["runner"].as_str().unwrap());
    let whole = rig.get(&format!("{path}/{}", big["seq"])).await.json();
    assert_eq!(
        (whole["payload"]["params"]["update"]["content"]["text"].as_str().unwrap().len(), &whole["cut"]),
        (1_000_000, &json!(false))
    );
    rig.get(&format!("{path}/999999")).await.refuses(404, "not_found");
    rig.get(&format!("{path}/first")).await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_no_messages_are_shown_as_they_came() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, "garbage").await;
    let list = page(&rig, &session, "direction=from-agent").await;
    let texts: Vec<&Value> =
        list["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "text").map(|entry| &entry["payload"]).collect();
    for expected in [json!("npm WARN deprecated something"), json!("{\"jsonrpc\":\"2.0\","), json!(null), json!(42)] {
        assert!(texts.contains(&&expected), "{expected} in {texts:?}");
    }
    let capture = rig.get(&format!("/api/sessions/{session}/trace/capture")).await.text;
    assert!(capture.contains(r#""msg":"npm WARN deprecated something","raw":true}"#), "{capture}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_traffic_of_an_agent_that_has_ended_is_kept_until_its_session_is_deleted() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, "say before").await;
    end_agent(&rig, &session).await;
    rig.turn(&session, "say after").await;
    let list = page(&rig, &session, "limit=500").await;
    let runners = list["runners"].as_array().unwrap();
    assert_eq!(runners.iter().map(|runner| &runner["running"]).collect::<Vec<_>>(), [&json!(true), &json!(false)]);
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(places(&pages(&rig, &session, 2).await), places(entries));
    let exit = entries.iter().find(|entry| entry["kind"] == "exit").unwrap();
    assert_eq!((&exit["direction"], &exit["payload"]["exit"]["code"]), (&json!("remark"), &json!(0)));
    assert_eq!(exit["runner"], runners[1]["runner"]);

    let capture = rig.get(&format!("/api/sessions/{session}/trace/capture")).await;
    assert_eq!(capture.headers["content-type"], "application/x-ndjson");
    let lines: Vec<Value> = capture.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), entries.len() + 2, "every entry, and a remark for each process");
    assert_eq!(lines[0]["msg"], json!({ "runner": runners[1]["runner"], "running": false, "first_seq": 1 }));
    assert_eq!((&lines[1]["dir"], &lines[1]["msg"]["method"], &lines[1]["t"]), (&json!(">"), &json!("initialize"), &json!(0.0)));
    assert!(lines.windows(2).all(|pair| pair[0]["t"].as_f64() <= pair[1]["t"].as_f64()));

    let traces = rig.dir.path().join("data/traces").join(&session);
    assert!(traces.is_dir());
    rig.delete(&format!("/api/sessions/{session}")).await;
    assert!(!traces.exists());
    rig.get(&format!("/api/sessions/{session}/trace")).await.refuses(404, "not_found");
    rig.get(&format!("/api/sessions/{session}/trace/capture")).await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_kept_is_said() {
    let rig = rig().await;
    let session = rig.relay().await;
    rig.turn(&session, "say before").await;
    end_agent(&rig, &session).await;
    rig.engine.drop_old_traces(std::time::Duration::ZERO).await;
    let list = page(&rig, &session, "").await;
    assert_eq!((list["entries"].as_array().unwrap().len(), list["runners"].as_array().unwrap().len()), (0, 1));
    assert_eq!((&list["runners"][0]["running"], list["runners"][0].get("first_seq")), (&json!(false), None));
    let capture = rig.get(&format!("/api/sessions/{session}/trace/capture")).await.text;
    assert_eq!(capture.lines().count(), 1, "{capture}");
}
