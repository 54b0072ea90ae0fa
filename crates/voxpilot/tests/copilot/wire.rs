//! What goes over the wire to the real Copilot CLI and back, held against the numbered requirements of the integration document (S2).
//! The traffic is the one that the inspector shows.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::replies::{bash, create};
use crate::setup::{SOON, Setup, kill_idle_agent, start_with};

/// The captured lines of a session, oldest first.
pub(crate) struct Wire {
    lines: Vec<(String, Value)>,
}

impl Wire {
    pub(crate) async fn of(setup: &Setup) -> Wire {
        let capture = setup.server.text("GET", &format!("/api/sessions/{}/trace/capture", setup.session)).await;
        let line = |line: &str| {
            let mut entry: Value = serde_json::from_str(line).unwrap();
            (entry["dir"].as_str().unwrap().to_owned(), entry["msg"].take())
        };
        Wire { lines: capture.lines().map(line).collect() }
    }

    /// Once every question has our answer: a stopped prompt is over without one, so that the answer may come after the turn's end.
    async fn answered(setup: &Setup) -> Wire {
        let deadline = Instant::now() + SOON;
        loop {
            let wire = Wire::of(setup).await;
            if wire.received("session/request_permission").iter().all(|question| wire.find_our_answer(question).is_some()) {
                return wire;
            }
            assert!(Instant::now() < deadline, "a question has no answer");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn messages(&self, dir: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |(by, _)| by == dir).map(|(_, message)| message)
    }

    /// What we sent with this method, in order.
    pub(crate) fn sent(&self, method: &str) -> Vec<&Value> {
        self.messages(">").filter(|message| message["method"] == method).collect()
    }

    fn received(&self, method: &str) -> Vec<&Value> {
        self.messages("<").filter(|message| message["method"] == method).collect()
    }

    fn updates(&self, kind: &str) -> Vec<&Value> {
        let updates = self.received("session/update").into_iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// The agent's answer to a request of ours.
    pub(crate) fn answer(&self, request: &Value) -> &Value {
        self.messages("<").find(|message| message.get("method").is_none() && message["id"] == request["id"]).unwrap()
    }

    /// Our answer to a request of the agent's.
    fn our_answer(&self, request: &Value) -> &Value {
        self.find_our_answer(request).unwrap()
    }

    fn find_our_answer(&self, request: &Value) -> Option<&Value> {
        self.messages(">").find(|message| message.get("method").is_none() && message["id"] == request["id"])
    }

    fn place(&self, wanted: &Value) -> usize {
        self.lines.iter().position(|(_, message)| std::ptr::eq(message, wanted)).unwrap()
    }
}

async fn straight(policy: &str) -> Setup {
    start_with(Script::new(), json!({ "model": "relay", "permission_policy": policy }), |rig| rig).await
}

async fn answer(setup: &mut Setup, option: &str) -> Value {
    let request = setup.until_kind("permission-request").await.data;
    let path = format!("permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(setup.post(&path, json!({ "option_id": option })).await, 202);
    request
}

/// One turn in which Copilot asks for a command, is allowed to run it, and answers.
async fn allowed_turn() -> (Setup, Wire) {
    let mut setup = straight("ask").await;
    setup.coder([Reply::chunks(["I run ", "it 🙂. "]).and_call(bash("echo made > made.txt; cat made.txt")), Reply::text("Done.")]);
    setup.send("make it").await;
    answer(&mut setup, "allow_once").await;
    assert_eq!(setup.turn_end().await, "completed");
    let wire = Wire::of(&setup).await;
    (setup, wire)
}

/// S2-1, S2-3, S2-5, S2-6, S2-7, S2-8: Copilot is driven as `copilot --acp --stdio`, in JSON-RPC 2.0, one message a line, in UTF-8; what
/// has an id is answered under it, and what has none is not.
/// S2-11, S2-44, S2-45, S2-46, S2-52: `initialize` alone opens the connection, then `session/new`, `session/prompt`, updates, a question
/// and its answer, more updates, and the prompt's own answer ends the turn.
/// Holds S0-1, S0-8, S0-11, S0-15, S0-51.
#[tokio::test]
async fn a_turn_is_the_documented_exchange_of_messages() {
    let (setup, wire) = allowed_turn().await;
    let command = &setup.processes().natives[0].command;
    assert!(command.contains("--acp") && command.contains("--stdio"), "{command}");
    for message in wire.messages(">").chain(wire.messages("<")) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
    }
    assert!(wire.updates("agent_message_chunk").iter().any(|update| update["content"]["text"].as_str().unwrap().contains('🙂')));
    let requests: Vec<&Value> = wire.messages(">").filter(|message| message["method"].is_string() && message.get("id").is_some()).collect();
    assert_eq!(
        requests.iter().take(2).map(|request| request["method"].as_str().unwrap()).collect::<Vec<_>>(),
        ["initialize", "session/new"]
    );
    for request in requests {
        let answers = wire.messages("<").filter(|message| message.get("method").is_none() && message["id"] == request["id"]).count();
        assert_eq!(answers, 1, "{request}");
    }
    let updates = wire.received("session/update");
    assert!(!updates.is_empty() && updates.iter().all(|update| update.get("id").is_none()));
    assert!(wire.sent("initialized").is_empty() && wire.sent("authenticate").is_empty());

    let prompt = wire.sent("session/prompt")[0];
    let question = wire.received("session/request_permission")[0];
    let steps = [
        wire.sent("initialize")[0],
        wire.answer(wire.sent("initialize")[0]),
        wire.sent("session/new")[0],
        wire.answer(wire.sent("session/new")[0]),
        prompt,
        question,
        wire.our_answer(question),
        wire.answer(prompt),
    ];
    let places: Vec<usize> = steps.iter().map(|step| wire.place(step)).collect();
    assert!(places.is_sorted(), "{places:?}");
    setup.end().await;
}

/// S2-12: we say version 1, who we are, and the abilities that we have.
/// S2-13, S2-14, S2-15, S2-62: Copilot answers with version 1, who it is, that it can load sessions, and which contents it takes.
/// Holds S1-19, C3, C6.
#[tokio::test]
async fn both_sides_say_what_they_can() {
    let (setup, wire) = allowed_turn().await;
    let asked = wire.sent("initialize")[0];
    let ours = &asked["params"];
    assert_eq!(ours["protocolVersion"], 1);
    assert!(ours["clientInfo"]["name"].is_string() && ours["clientInfo"]["version"].is_string(), "{ours}");
    assert!(ours["clientCapabilities"].is_object() && ours.get("capabilities").is_none(), "{ours}");
    let theirs = &wire.answer(asked)["result"];
    assert_eq!(theirs["protocolVersion"], 1);
    assert!(theirs["agentInfo"]["name"].as_str().unwrap().eq_ignore_ascii_case("copilot"), "{theirs}");
    let can = &theirs["agentCapabilities"];
    assert_eq!(can["loadSession"], true);
    assert_eq!(can["promptCapabilities"], json!({ "image": true, "audio": false, "embeddedContext": true }));
    assert!(can["sessionCapabilities"]["list"].is_object() && theirs["authMethods"].is_array(), "{theirs}");
    setup.end().await;
}

/// S2-9, S2-16, S2-45: a session is made for an absolute work directory and gets an id.
/// S2-19, S2-20, S2-46, S2-52: a prompt is a list of content blocks for that id, and is answered with `end_turn` when the turn is over.
/// S2-25, S2-26, S2-47: what Copilot says comes as updates under `params.update`, told apart by `sessionUpdate`.
/// S2-27, S2-29, S2-30, S2-48, S2-49: a tool call is announced with its kind and input, and updated by its id up to its result.
/// Holds S0-54, S0-56, S1-22.
#[tokio::test]
async fn a_session_a_prompt_and_its_updates_have_the_documented_shapes() {
    let (setup, wire) = allowed_turn().await;
    let opened = wire.sent("session/new")[0];
    assert_eq!(opened["params"]["cwd"], setup.server.rig().work_dir().to_str().unwrap());
    assert!(opened["params"]["cwd"].as_str().unwrap().starts_with('/') && opened["params"]["mcpServers"].is_array(), "{opened}");
    let session = &wire.answer(opened)["result"]["sessionId"];
    assert!(session.as_str().is_some_and(|id| !id.is_empty()));

    let prompt = wire.sent("session/prompt")[0];
    assert_eq!(prompt["params"], json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "make it" }] }));
    assert_eq!(wire.answer(prompt)["result"]["stopReason"], "end_turn");
    for update in wire.received("session/update") {
        assert_eq!(update["params"]["sessionId"], *session);
        assert!(update["params"]["update"]["sessionUpdate"].is_string(), "{update}");
    }
    let chunks = wire.updates("agent_message_chunk");
    let said: String = chunks.iter().map(|chunk| chunk["content"]["text"].as_str().unwrap()).collect();
    assert_eq!((said.as_str(), &chunks[0]["content"]["type"]), ("I run it 🙂. Done.", &json!("text")));
    assert_eq!(setup.client.seen.agent_text("main"), said);

    let call = wire.updates("tool_call")[0];
    assert_eq!((&call["kind"], &call["status"]), (&json!("execute"), &json!("pending")));
    assert_eq!(call["rawInput"]["command"], "echo made > made.txt; cat made.txt");
    let reports: Vec<&Value> =
        wire.updates("tool_call_update").into_iter().filter(|update| update["toolCallId"] == call["toolCallId"]).collect();
    let last = reports.last().unwrap();
    assert_eq!(last["status"], "completed");
    assert!(last["rawOutput"]["content"].as_str().unwrap().contains("made"), "{last}");
    let shown: Vec<&Value> = setup
        .client
        .seen
        .of_kind("agent-update")
        .map(|event| &event.data["update"])
        .filter(|update| update["type"] == "tool_call")
        .collect();
    assert_eq!(shown.last().unwrap()["status"], "completed");
    assert_eq!(shown.last().unwrap()["id"], call["toolCallId"]);
    setup.end().await;
}

/// S2-32, S2-33, S2-50: Copilot asks with a request of its own, which names the call and the options.
/// S2-34, S2-36, S2-38: we answer with the option that was chosen, in the protocol's form; allowed once it runs, rejected it does not.
/// Holds C23.
#[tokio::test]
async fn a_question_is_answered_with_the_option_that_was_chosen() {
    let (mut setup, wire) = allowed_turn().await;
    let question = wire.received("session/request_permission")[0];
    assert!(question.get("id").is_some(), "{question}");
    let options = question["params"]["options"].as_array().unwrap();
    let kinds: Vec<_> = options.iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    assert_eq!(question["params"]["toolCall"]["rawInput"]["command"], "echo made > made.txt; cat made.txt");
    assert_eq!(wire.our_answer(question)["result"], json!({ "outcome": { "outcome": "selected", "optionId": options[0]["optionId"] } }));
    assert_eq!(setup.read("made.txt"), "made\n");

    setup.coder([Reply::new().and_call(bash("touch rejected.txt")), Reply::text("Never said.")]);
    setup.send("and again").await;
    answer(&mut setup, "reject_once").await;
    setup.turn_end().await;
    let wire = Wire::of(&setup).await;
    let question = wire.received("session/request_permission")[1];
    assert_eq!(wire.our_answer(question)["result"]["outcome"], json!({ "outcome": "selected", "optionId": "reject_once" }));
    assert!(!setup.server.rig().work_dir().join("rejected.txt").exists());
    setup.end().await;
}

/// S2-24, S2-40, S2-41, S2-51: a stop is the notification `session/cancel`, and Copilot then answers the prompt with `cancelled`.
/// S2-39: the question that was open is answered as cancelled.
/// Holds C27.
#[tokio::test]
async fn a_stop_is_a_notification_and_the_prompt_is_answered_as_cancelled() {
    let mut setup = straight("ask").await;
    setup.coder([Reply::new().and_call(bash("touch asked.txt"))]);
    setup.send("ask me").await;
    setup.until_kind("permission-request").await;
    assert_eq!(setup.post("cancel", json!({})).await, 202);
    assert_eq!(setup.turn_end().await, "cancelled");
    let wire = Wire::answered(&setup).await;
    let (cancel, prompt) = (wire.sent("session/cancel")[0], wire.sent("session/prompt")[0]);
    assert!(cancel.get("id").is_none());
    assert_eq!(cancel["params"], json!({ "sessionId": prompt["params"]["sessionId"] }));
    assert_eq!(wire.answer(prompt)["result"]["stopReason"], "cancelled");
    let question = wire.received("session/request_permission")[0];
    assert_eq!(wire.our_answer(question)["result"], json!({ "outcome": { "outcome": "cancelled" } }));
    // Answered before the stop, it would take the question for rejected and end the turn by itself.
    assert!(wire.place(cancel) < wire.place(wire.our_answer(question)));
    setup.end().await;
}

/// S2-14, S2-17, S2-18: a session of a process that is gone is loaded by its id; Copilot first repeats it in updates, then answers, and
/// nothing of the repetition is shown as new.
/// Holds S0-13, S0-35, S0-36, S0-55, C15, C16.
#[tokio::test]
async fn a_session_is_loaded_and_repeated_before_it_goes_on() {
    let mut setup = straight("auto").await;
    setup.coder([Reply::text("The first answer."), Reply::text("The second answer.")]);
    assert_eq!(setup.turn("first").await, "completed");
    kill_idle_agent(&setup).await;
    assert_eq!(setup.turn("second").await, "completed");
    let wire = Wire::of(&setup).await;
    let (opened, load) = (wire.sent("session/new")[0], wire.sent("session/load")[0]);
    let session = &wire.answer(opened)["result"]["sessionId"];
    let work_dir = setup.server.rig().work_dir();
    assert_eq!(load["params"], json!({ "sessionId": session, "cwd": work_dir, "mcpServers": opened["params"]["mcpServers"] }));
    let (from, to) = (wire.place(load), wire.place(wire.answer(load)));
    let repeated: Vec<&Value> = wire.lines[from..to].iter().map(|(_, message)| &message["params"]["update"]).collect();
    assert!(
        repeated.iter().any(|update| update["sessionUpdate"] == "agent_message_chunk" && update["content"]["text"] == "The first answer.")
    );
    assert_eq!(setup.client.seen.agent_text("main"), "The first answer.The second answer.");
    setup.end().await;
}

/// S2-28, S2-30: the kinds that Copilot gives its tools are kept, and what a change did is told as a diff.
/// Holds C30.
#[tokio::test]
async fn a_change_has_its_kind_and_its_diff() {
    let mut setup = straight("auto").await;
    let note = setup.server.rig().work_dir().join("note.md");
    setup.coder([Reply::new().and_call(create(&note, "noted\n")), Reply::text("Noted.")]);
    assert_eq!(setup.turn("note it").await, "completed");
    let wire = Wire::of(&setup).await;
    assert_eq!(wire.updates("tool_call")[0]["kind"], "edit");
    let calls: Vec<&Value> = setup
        .client
        .seen
        .of_kind("agent-update")
        .map(|event| &event.data["update"])
        .filter(|update| update["type"] == "tool_call")
        .collect();
    let last = calls.last().unwrap();
    assert_eq!((&last["kind"], &last["status"]), (&json!("edit"), &json!("completed")));
    assert!(
        last["content"]
            .as_array()
            .unwrap()
            .iter()
            .any(|part| part["type"] == "diff" && part["new_text"].as_str().unwrap().contains("noted")),
        "{last}"
    );
    setup.end().await;
}

/// A plan comes as the whole list of its entries. This CLI was never seen to fill it; plans with entries are in the captures of other agents.
/// Holds C29.
#[tokio::test]
async fn a_plan_comes_whole() {
    let mut setup = straight("auto").await;
    let todo = json!({ "description": "Plan", "query": "INSERT INTO todos (id,title,status) VALUES ('t1','First thing','in_progress')" });
    setup.coder([Reply::tool_call("sql", todo), Reply::text("Planned.")]);
    assert_eq!(setup.turn("plan it").await, "completed");
    let wire = Wire::of(&setup).await;
    let plans = wire.updates("plan");
    assert!(!plans.is_empty() && plans.iter().all(|plan| plan["entries"].is_array() && plan.get("steps").is_none()), "{plans:?}");
    let shown: Vec<&Value> =
        setup.client.seen.of_kind("agent-update").map(|event| &event.data["update"]).filter(|update| update["type"] == "plan").collect();
    let entries = |plan: &Value| {
        let part = |entry: &Value| ["content", "priority", "status"].map(|field| entry[field].as_str().unwrap().to_owned());
        plan["entries"].as_array().unwrap().iter().map(part).collect::<Vec<_>>()
    };
    let all = |plans: &[&Value]| plans.iter().map(|plan| entries(plan)).collect::<Vec<_>>();
    assert_eq!(all(&shown), all(&plans));
    setup.end().await;
}

/// S2-35: what was always allowed runs again without a question.
#[tokio::test]
async fn what_is_always_allowed_is_not_asked_again() {
    let mut setup = straight("ask").await;
    setup.coder([Reply::new().and_call(bash("echo run >> runs.txt")), Reply::text("Once.")]);
    setup.send("run it").await;
    answer(&mut setup, "allow_always").await;
    assert_eq!(setup.turn_end().await, "completed");
    setup.coder([Reply::new().and_call(bash("echo run >> runs.txt")), Reply::text("Twice.")]);
    assert_eq!(setup.turn("and again").await, "completed");
    assert_eq!(setup.read("runs.txt"), "run\nrun\n");
    assert_eq!(setup.client.seen.of_kind("permission-request").count(), 1);
    setup.end().await;
}
