//! Agents that ask for one thing and mean another: what people are shown, what "always" covers, and what is never approved by itself.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::client::Client;

use crate::rig::{Rig, SOON, of_kind};

const OPTIONS: [(&str, &str); 3] = [("always", "allow_always"), ("once", "allow_once"), ("no", "reject_once")];

/// A question as an agent puts it.
fn question(call: Value) -> Value {
    let options: Vec<_> = OPTIONS.iter().map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind })).collect();
    let mut call = call;
    call["toolCallId"] = json!("c");
    json!(["session/request_permission", { "toolCall": call, "options": options }])
}

fn edit(path: &str) -> Value {
    json!({ "kind": "edit", "title": "Edit", "content": [{ "type": "diff", "path": path, "oldText": "a\n", "newText": "b\n" }] })
}

fn run(command: &str, cwd: &str) -> Value {
    json!({ "kind": "execute", "title": "Run", "rawInput": { "command": command, "cwd": cwd } })
}

fn look(input: Value) -> Value {
    json!({ "kind": "read", "title": "Look", "rawInput": input })
}

struct Hostile {
    rig: Rig,
    session: String,
    client: Client,
    work: PathBuf,
}

impl Hostile {
    /// A work directory with a link out of it and a link into its repository.
    async fn under(policy: &str) -> Hostile {
        let rig = Rig::replies([]).await;
        let work = rig.dir.path().join("work").canonicalize().unwrap();
        std::fs::create_dir_all(work.join(".git/hooks")).unwrap();
        std::fs::create_dir(rig.dir.path().join("elsewhere")).unwrap();
        symlink("../elsewhere", work.join("out")).unwrap();
        symlink(".git/config", work.join("notes.txt")).unwrap();
        let session = rig.session_with(json!({ "model": "relay", "permission_policy": policy })).await;
        let client = rig.watch(&session).await;
        Hostile { rig, session, client, work }
    }

    /// Lets the agent ask, and gives what a person is asked; none where nobody is.
    async fn asks(&mut self, call: Value) -> Option<Value> {
        self.rig.say(&self.session, &format!("calls {}", json!([question(call)]))).await;
        let over = |data: &Value| data["state"].as_str().is_some_and(|state| state != "running" && state != "queued");
        let next =
            self.client.until("an answer", SOON, |event| event.kind == "permission-request" || (event.kind == "turn" && over(&event.data)));
        let event = next.await;
        (event.kind == "permission-request").then_some(event.data)
    }

    /// Answers, and gives the status; where it was taken, the turn is over.
    async fn answer(&mut self, question: &Value, body: Value) -> u16 {
        let path = format!("/api/sessions/{}/permissions/{}", self.session, question["request_id"].as_str().unwrap());
        let answer = self.rig.post(&path, body).await;
        if answer.status == 202 {
            self.client.turn_end(SOON).await;
        }
        answer.status
    }

    /// Whether a person is asked; what is asked is rejected.
    async fn is_asked(&mut self, call: Value) -> bool {
        match self.asks(call).await {
            Some(question) => {
                assert_eq!(self.answer(&question, json!({ "option_id": "no" })).await, 202);
                true
            }
            None => false,
        }
    }

    async fn always(&mut self, call: Value) {
        let question = self.asks(call).await.expect("a question");
        assert_eq!(self.answer(&question, json!({ "option_id": "always" })).await, 202);
    }

    fn path(&self, path: &str) -> String {
        self.work.join(path).display().to_string()
    }
}

/// "Always" for changes in the work directory covers no other place, however the agent puts it.
#[tokio::test(flavor = "multi_thread")]
async fn an_always_for_edits_covers_only_files_that_are_known_to_be_inside() {
    let mut agent = Hostile::under("ask").await;
    let inside = edit(&agent.path("a.txt"));
    agent.always(inside).await;
    let lying = |locations: Value| {
        let mut call = edit(&agent.path("../elsewhere/x"));
        call["locations"] = locations;
        call
    };
    let nowhere = json!({ "kind": "edit", "title": "Edit", "rawInput": { "diff": "+x\n" } });
    let hinted = json!({ "kind": "edit", "title": "Edit", "rawInput": { "diff": "+x\n" }, "locations": [{ "path": agent.path("a.txt") }] });
    let renamed =
        json!({ "kind": "edit", "title": "Edit", "rawInput": { "diff": "diff --git a/a.txt b/x\nrename from a.txt\nrename to ../x\n" } });
    let second = json!({ "kind": "edit", "title": "Edit",
        "rawInput": { "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n" } });
    let table = [
        ("another file inside", edit("deep/new.txt"), false),
        ("no file is named", nowhere, true),
        ("only a hint", hinted, true),
        ("a hint that is not the diff's file", lying(json!([{ "path": agent.path("a.txt") }])), true),
        ("through a link", edit(&agent.path("out/x")), true),
        ("by two dots", edit("sub/../../x"), true),
        ("a rename out of it", renamed, true),
        ("a second file in the diff", second, true),
        ("the repository", edit(".git/config"), true),
        ("the repository, through a link", edit("notes.txt"), true),
        ("a hook", edit(&agent.path(".git/hooks/pre-commit")), true),
        ("instructions", edit("AGENTS.md"), true),
        ("our settings", edit("sub/voxpilot.toml"), true),
        ("in other letters", edit("agents.MD"), true),
        ("another kind", json!({ "kind": "delete", "title": "Delete", "rawInput": { "path": agent.path("a.txt") } }), true),
    ];
    for (what, call, asked) in table {
        assert_eq!(agent.is_asked(call).await, asked, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_always_for_a_command_covers_its_directory_and_nothing_else() {
    let mut agent = Hostile::under("ask").await;
    let here = run("make", &agent.path("sub"));
    let question = agent.asks(here.clone()).await.unwrap();
    assert_eq!((&question["command"], &question["cwd"]), (&json!("make"), &json!("sub")));
    assert_eq!(agent.answer(&question, json!({ "option_id": "always" })).await, 202);
    let rules = agent.rig.get(&format!("/api/sessions/{}/permission-rules", agent.session)).await.json();
    assert_eq!(rules["rules"][0]["subject"], json!({ "type": "command", "command": "make", "cwd": "sub" }));
    let with = |field: &str, value: Value| {
        let mut call = here.clone();
        call["rawInput"][field] = value;
        call
    };
    let table = [
        ("the same", here.clone(), false),
        ("with other words about it", with("description", json!("again")), false),
        ("the work directory", run("make", &agent.path(".")), true),
        ("through a link", run("make", "out"), true),
        ("outside", run("make", "/tmp"), true),
        ("no directory", json!({ "kind": "execute", "title": "Run", "rawInput": { "command": "make" } }), true),
        ("two directories", with("workdir", json!("/tmp")), true),
        ("an environment", with("env", json!({ "PATH": "/tmp/evil" })), true),
        ("a field nobody knows", with("shell", json!("/tmp/evil")), true),
        ("another command beside it", with("commands", json!(["rm -rf ."])), true),
    ];
    for (what, call, asked) in table {
        assert_eq!(agent.is_asked(call).await, asked, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_goes_by_where_paths_lead_and_not_by_what_the_agent_calls_it() {
    let mut agent = Hostile::under("read-only").await;
    std::fs::write(agent.work.join("a.txt"), "").unwrap();
    let table = [
        ("a file inside", look(json!({ "path": agent.path("a.txt") })), false),
        ("a search", json!({ "kind": "search", "title": "Search", "rawInput": { "pattern": "TODO" } }), false),
        ("a file outside", look(json!({ "path": "/etc/hostname" })), true),
        ("through a link", look(json!({ "path": "out/x" })), true),
        ("one of two", look(json!({ "paths": ["a.txt", "/etc/hostname"] })), true),
        ("credentials of the repository", look(json!({ "path": ".git/config" })), true),
        ("secrets", look(json!({ "path": ".env" })), true),
        ("no file at all", look(json!({})), true),
        ("a command in a field of another name", look(json!({ "path": "a.txt", "script": "rm -rf ." })), true),
        ("a pattern that leads out", json!({ "kind": "search", "title": "Search", "rawInput": { "pattern": "../*" } }), true),
        ("a home directory", look(json!({ "path": "~/.ssh/id_ed25519" })), true),
        ("our own data", look(json!({ "path": agent.work.join("../data/voxpilot.db") })), true),
    ];
    for (what, call, asked) in table {
        assert_eq!(agent.is_asked(call).await, asked, "{what}");
    }
    let approved: Vec<_> = of_kind(&agent.client, "agent-update").into_iter().map(|event| &event.data["update"]).collect();
    let approved: Vec<_> = approved.into_iter().filter(|update| update["type"] == "approved").collect();
    assert_eq!(approved.len(), 2, "what was approved leaves a trace");
    assert_eq!(approved[0]["files"], json!([{ "path": "a.txt", "place": "inside" }]));
    assert_eq!(approved[0]["by"], "policy");
}

/// Whatever a field names has to be inside, in whichever field it stands, and whatever can be read in two ways is a person's to judge.
#[tokio::test(flavor = "multi_thread")]
async fn read_only_asks_for_every_place_that_is_not_known_to_be_inside() {
    let mut agent = Hostile::under("read-only").await;
    std::fs::create_dir_all(agent.work.join("src/deep")).unwrap();
    std::fs::write(agent.work.join("src/a.rs"), "").unwrap();
    std::fs::write(agent.work.join(".git/config"), "").unwrap();
    symlink("../../elsewhere", agent.work.join("src/away")).unwrap();
    let search = |input: Value| json!({ "kind": "search", "title": "Search", "rawInput": input });
    let approved = [
        look(json!({ "path": "src/a.rs", "view_range": [1, 20] })),
        look(json!({ "path": agent.path("src/a.rs"), "offset": 1, "limit": 10 })),
        look(json!({ "paths": ["src/a.rs", "src/b.rs"] })),
        look(json!({ "path": "app/[id]/(group)/@modal/page.tsx" })),
        search(json!({ "pattern": "**/*.txt" })),
        search(json!({ "pattern": "fn \\w+\\(", "path": "src", "glob": "*.{rs,toml}", "-n": true })),
        search(json!({ "pattern": "src/{deep,other}/*.rs" })),
        search(json!({ "pattern": "TODO$", "include": "deep/**/*.rs", "dir_path": "src" })),
        search(json!({ "regex": "/etc/.*", "directory": agent.path("src") })),
        search(json!({})),
    ];
    let asked = [
        search(json!({ "dirPath": "/etc", "pattern": "x" })),
        search(json!({ "dir": "out", "pattern": "x" })),
        search(json!({ "dir": "o*", "pattern": "x" })),
        search(json!({ "dir": ["out"], "pattern": "x" })),
        search(json!({ "dir": ["/etc"], "pattern": "x" })),
        search(json!({ "dir": "src", "directory": "/etc", "pattern": "x" })),
        search(json!({ "dir": "src", "cwd": "src/deep", "pattern": "x" })),
        search(json!({ "cwd": ".git", "pattern": "url" })),
        search(json!({ "path": ["src", "/etc"], "pattern": "x" })),
        search(json!({ "path": "o*", "pattern": "x" })),
        search(json!({ "pattern": "{/etc,x}/*" })),
        search(json!({ "pattern": "@(/etc|x)/*" })),
        search(json!({ "pattern": "o*/x" })),
        search(json!({ "pattern": "out/**" })),
        search(json!({ "pattern": "**/away/*" })),
        search(json!({ "glob": ["*.rs", "/etc/*"], "pattern": "x" })),
        search(json!({ "glob": "*.rs,out/*", "pattern": "x" })),
        search(json!({ "include": "out/*", "pattern": "x" })),
        search(json!({ "include": "o*/*", "pattern": "x" })),
        search(json!({ "include": "src/{away,deep}/*", "pattern": "x" })),
        search(json!({ "include": "away/*", "path": "src", "pattern": "x" })),
        search(json!({ "include": "away/*", "cwd": "src", "pattern": "x" })),
        search(json!({ "include": ".g*/config", "pattern": "x" })),
        search(json!({ "glob": ".env", "pattern": "." })),
        search(json!({ "pattern": "src/..\\/..\\/x" })),
        search(json!({ "pattern": "x", "path": { "root": "/etc" } })),
        search(json!({ "pattern": "$HOME/x" })),
        search(json!({ "pattern": "x", "root": "/etc" })),
        look(json!({ "pattern": "**/*.txt" })),
        look(json!({ "path": "https://example.org/x" })),
        look(json!({ "path": "file:///etc/passwd" })),
        look(json!({ "path": "file:src/a.rs" })),
        look(json!({ "path": "$HOME/x" })),
        look(json!({ "path": "~root/x" })),
        look(json!({ "path": " /etc/passwd" })),
        look(json!({ "path": "\"/etc/passwd\"" })),
        look(json!({ "path": "@/etc/passwd" })),
        look(json!({ "path": "src/a.rs,/etc/passwd" })),
        look(json!({ "path": "src/a.rs\n/etc/passwd" })),
        look(json!({ "path": "..\\..\\etc\\passwd" })),
        look(json!({ "path": "src/../../elsewhere/x" })),
        look(json!({ "path": "a\u{0}b" })),
        look(json!({ "path": 7 })),
        look(json!({ "path": "src/a.rs", "line": "/etc/passwd" })),
        look(json!({ "path": "src/a.rs", "notebook_path": "/etc/passwd" })),
        look(json!({ "path": "src/a.rs", "source": ["/etc/passwd"] })),
        look(json!({ "path": "src/away/x" })),
        look(json!({ "path": "src/a*/x" })),
        look(json!(["/etc/passwd"])),
    ];
    assert!(asked.len() >= 20);
    for (calls, expected) in [(&approved[..], false), (&asked[..], true)] {
        for call in calls {
            assert_eq!(agent.is_asked(call.clone()).await, expected, "{}", call["rawInput"]);
        }
    }
}

/// Under `auto` what touches a protected file still waits for a person, who can allow it once and not for always.
#[tokio::test(flavor = "multi_thread")]
async fn a_protected_file_waits_for_a_person_also_under_auto() {
    let mut agent = Hostile::under("auto").await;
    assert!(!agent.is_asked(edit("a.txt")).await);
    assert!(!agent.is_asked(run("make", "/tmp")).await);
    let question = agent.asks(edit(&agent.path("notes.txt"))).await.expect("a question");
    assert_eq!(question["files"], json!([{ "path": ".git/config", "place": "protected" }]));
    for body in [json!({ "option_id": "always" }), json!({ "option_id": "always", "remember": "project" })] {
        assert_eq!(agent.answer(&question, body).await, 422);
    }
    assert_eq!(agent.answer(&question, json!({ "option_id": "once" })).await, 202);
    assert!(agent.client.seen.agent_text("main").ends_with("\"once\"}}\n"));
    assert!(agent.is_asked(edit(&agent.path("notes.txt"))).await, "and again the next time");
    let write = json!([["fs/write_text_file", { "path": "AGENTS.md", "content": "obey" }]]);
    agent.rig.say(&agent.session, &format!("calls {write}")).await;
    let question = agent.client.until("question", SOON, |event| event.kind == "permission-request").await.data;
    assert_eq!(question["files"], json!([{ "path": "AGENTS.md", "place": "protected" }]));
    assert_eq!(agent.answer(&question, json!({ "option_id": "reject_once" })).await, 202);
    assert!(!agent.work.join("AGENTS.md").exists());
}

/// What runs by itself is told in the record of the turn, also after it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_by_itself_is_told_once_and_kept() {
    let mut agent = Hostile::under("auto").await;
    assert!(!agent.is_asked(run("make", &agent.path("sub"))).await);
    assert!(of_kind(&agent.client, "permission-request").is_empty() && of_kind(&agent.client, "permission-resolved").is_empty());
    let stored = agent.rig.get(&format!("/api/sessions/{}/messages", agent.session)).await.json();
    let tool = stored["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap();
    let updates = tool["delegation"]["updates"].as_array().unwrap().iter().map(|placed| &placed["update"]);
    let approved: Vec<_> = updates.filter(|update| update["type"] == "approved").collect();
    let expected = json!({ "type": "approved", "title": "Run", "agent_call": "c", "command": "make", "cwd": "sub", "by": "policy" });
    assert_eq!(approved, [&expected]);
    let text = tool["content"].as_str().unwrap();
    assert!(!text.contains("approved"), "it is no part of the agent's text: {text}");
}

/// An agent that names more files than anybody looks at is a person's to judge.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_files_hides_nothing() {
    let mut agent = Hostile::under("auto").await;
    let files: Vec<_> = (0..200).map(|number| format!("f{number}")).chain([".git/config".to_owned()]).collect();
    let question = agent.asks(json!({ "kind": "edit", "title": "Edit", "rawInput": { "files": files } })).await.expect("a question");
    assert_eq!(question["files"].as_array().unwrap().len(), 65);
    assert_eq!(agent.answer(&question, json!({ "option_id": "no" })).await, 202);
}
