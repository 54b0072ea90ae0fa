//! An ACP agent that misbehaves on request: the first word of a prompt picks the fault, see `scenario`.
//!
//! Its JSON is written by hand on purpose: it must be able to say what no library would let it say, and it must not
//! share a mistake with the code it tests.
//!
//! Set from outside:
//!
//! | variable | what it does |
//! |---|---|
//! | `FAULTY_PROTOCOL_VERSION=N` | what initialize answers |
//! | `FAULTY_INIT=hang` · `exit` · `exit_once` | initialize is never answered · the process ends at it · the first one in a directory does |
//! | `FAULTY_INIT=chatty` | 100,000 notifications before the answer to initialize |
//! | `FAULTY_LOAD=ok` · `missing` | sessions can be loaded: any id works · none does |
//! | `FAULTY_LIST=<file>` | sessions can be listed: those whose ids are in the file, to which new ones are added |
//! | `FAULTY_DELETE=ok` · `fail` | sessions can be deleted, and are no longer in `FAULTY_LIST` · it says that they can, and refuses |
//! | `FAULTY_RESUME=ok` · `fail` | sessions can be resumed: any id works · none does |
//! | `FAULTY_AUTH=1` | `session/new` needs a login that nobody can make |
//! | `FAULTY_LOGIN_AT=prompt` · `load` | `session/prompt` · `session/load` and `session/new` need a login: the file `FAULTY_LOGIN_MARKER`, looked for when the process starts |
//! | `FAULTY_TERMINAL_AUTH=1` | initialize offers a login in a terminal: this program with `--log-in` and the marker |
//! | `FAULTY_AGENT_AUTH=1` | initialize offers a login that the agent makes itself: `authenticate` writes the marker |
//! | `FAULTY_LOGOUT=1` | `logout` removes the marker |
//! | `FAULTY_MODES=1` | sessions have two modes |
//! | `FAULTY_DIALECT=other` · `nonsense` | it speaks another dialect, see `dialect` · it knows no method at all |
//! | `FAULTY_LOG=<file>` | every line received is appended there |
//!
//! `faulty-agent --log-in <file>` writes that file and says so, as a login does.
//!
//! `faulty-agent --replay <capture>` plays a downloaded capture back instead, see `replay`.

mod dialect;
mod login;
mod replay;
mod scenario;
mod wire;

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use scenario::Turn;
use wire::Wire;

/// What all turns share.
#[derive(Default)]
pub struct Agent {
    wire: Wire,
    /// Session ids in the order they were made, each with the way to cancel its running turn.
    sessions: Mutex<Vec<(String, Option<SyncSender<()>>)>>,
    /// The text of every prompt received, to prove that none came twice.
    prompts: Mutex<Vec<String>>,
    /// From now on the end of stdin is not the end.
    stays_after_eof: AtomicBool,
    /// Nothing more is read before this file exists.
    reads_after: Mutex<Option<PathBuf>>,
    /// How many commands were asked for under an id that was used before.
    reused: AtomicU64,
    login: login::Login,
}

const CHATTER: u64 = 100_000;
const LOOK: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--replay") {
        return replay::run(args.get(at + 1).expect("--replay is followed by a capture").as_ref());
    }
    if let Some(at) = args.iter().position(|arg| arg == "--log-in") {
        return login::run(args.get(at + 1).expect("--log-in is followed by a file").as_ref());
    }
    let agent = Arc::new(Agent::default());
    let mut lines = std::io::stdin().lock();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        append("FAULTY_LOG", &line);
        if let Ok(message) = serde_json::from_slice::<Value>(&line)
            && let Some(code) = agent.receive(&message)
        {
            return code;
        }
        line.clear();
        agent.wait_to_read();
    }
    while agent.stays_after_eof.load(Ordering::Acquire) {
        thread::park();
    }
    ExitCode::SUCCESS
}

#[allow(clippy::disallowed_methods, reason = "a program of its own, with an environment of its own")]
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Adds to the file that a setting names, where it names one.
fn append(name: &str, bytes: &[u8]) {
    let Some(path) = setting(name) else {
        return;
    };
    let written = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| file.write_all(bytes));
    written.expect("the file can be written");
}

fn listed() -> Value {
    let ids = std::fs::read_to_string(setting("FAULTY_LIST").unwrap_or_default()).unwrap_or_default();
    let sessions: Vec<Value> = ids.lines().map(|id| json!({ "sessionId": id, "cwd": "/" })).collect();
    json!({ "sessions": sessions })
}

fn unlist(session: &str) {
    let Some(file) = setting("FAULTY_LIST") else { return };
    let ids = std::fs::read_to_string(&file).unwrap_or_default();
    let left: String = ids.lines().filter(|id| *id != session).map(|id| format!("{id}\n")).collect();
    std::fs::write(file, left).expect("the list can be written");
}

impl Agent {
    /// Handles one message; a code means that the process is to end.
    fn receive(self: &Arc<Self>, message: &Value) -> Option<ExitCode> {
        let (id, params) = (&message["id"], &message["params"]);
        if let Some(spoken) = setting("FAULTY_DIALECT") {
            dialect::receive(&self.wire, &spoken, message);
            return None;
        }
        match (message["method"].as_str(), message.get("id").is_some()) {
            (Some("initialize"), true) => match setting("FAULTY_INIT").as_deref() {
                Some("hang") => {}
                Some("exit_once") if std::fs::File::create_new("was-started").is_ok() => return Some(ExitCode::from(1)),
                Some("exit") => {
                    eprintln!("faulty-agent: not today");
                    return Some(ExitCode::from(1));
                }
                Some("chatty") => {
                    (1..=CHATTER).for_each(|number| self.wire.notify("_faulty/progress", &json!({ "step": number })));
                    self.wire.respond(id, &initialized());
                }
                _ => self.wire.respond(id, &initialized()),
            },
            (Some("authenticate"), true) => match login::authenticate(&params["methodId"]) {
                Ok(result) => self.wire.respond(id, &result),
                Err(message) => self.wire.fail(id, -32602, &message),
            },
            (Some("session/new"), true) => self.new_session(id),
            (Some("session/load"), true) => self.load_session(id, params),
            (Some("session/list"), true) if setting("FAULTY_LIST").is_some() => self.wire.respond(id, &listed()),
            (Some("session/delete"), true) => match setting("FAULTY_DELETE").as_deref() {
                Some("ok") => {
                    unlist(params["sessionId"].as_str().unwrap_or_default());
                    self.wire.respond(id, &json!({}));
                }
                Some(_) => self.wire.fail(id, -32603, "this session cannot be deleted"),
                None => self.wire.fail(id, -32601, "method not found: session/delete"),
            },
            (Some("logout"), true) if setting("FAULTY_LOGOUT").is_some() => {
                login::forget();
                self.wire.respond(id, &json!({}));
            }
            (Some("session/resume"), true) => self.resume_session(id, params),
            (Some("session/prompt"), true) => self.prompt(id, params),
            (Some("session/close" | "session/set_mode"), true) => self.wire.respond(id, &json!({})),
            (Some("session/cancel"), false) => self.cancel(params),
            (Some(method), true) => self.wire.fail(id, -32601, &format!("method not found: {method}")),
            (Some(_), false) => {}
            (None, _) => self.wire.deliver(message),
        }
        None
    }

    fn new_session(&self, id: &Value) {
        if setting("FAULTY_AUTH").is_some() || self.login.is_missing_at("load") {
            return self.wire.fail(id, -32000, "Authentication required");
        }
        let session = Uuid::new_v4().to_string();
        self.sessions().push((session.clone(), None));
        append("FAULTY_LIST", format!("{session}\n").as_bytes());
        // Before the answer that makes the id known, as Copilot does it.
        self.wire.update(&session, &json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }));
        let mut opened = json!({ "sessionId": session });
        if setting("FAULTY_MODES").is_some() {
            let modes = json!([{ "id": "careful", "name": "Careful" }, { "id": "bold", "name": "Bold" }]);
            opened["modes"] = json!({ "currentModeId": "careful", "availableModes": modes });
        }
        self.wire.respond(id, &opened);
    }

    fn load_session(&self, id: &Value, params: &Value) {
        if self.login.is_missing_at("load") {
            return self.wire.fail(id, -32000, "Authentication required");
        }
        let session = params["sessionId"].as_str().unwrap_or_default();
        match setting("FAULTY_LOAD").as_deref() {
            Some("ok") => {
                self.sessions().push((session.to_owned(), None));
                self.wire.text(session, "user_message_chunk", "replayed question");
                self.wire.text(session, "agent_message_chunk", "replayed answer");
                self.wire.respond(id, &Value::Null);
            }
            Some(_) => self.wire.fail(id, -32002, &format!("Resource not found: Session {session} not found")),
            None => self.wire.fail(id, -32601, "method not found: session/load"),
        }
    }

    fn resume_session(&self, id: &Value, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        match setting("FAULTY_RESUME").as_deref() {
            Some("ok") => {
                self.sessions().push((session.to_owned(), None));
                self.wire.respond(id, &json!({}));
            }
            Some(_) => self.wire.fail(id, -32603, "this session cannot be resumed"),
            None => self.wire.fail(id, -32601, "method not found: session/resume"),
        }
    }

    fn prompt(self: &Arc<Self>, id: &Value, params: &Value) {
        if self.login.is_missing_at("prompt") {
            return self.wire.fail(id, -32000, "Authentication required");
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let (cancel, cancelled) = sync_channel(1);
        match self.sessions().iter_mut().find(|(known, _)| *known == session) {
            Some((_, running)) => *running = Some(cancel),
            None => return self.wire.fail(id, -32602, &format!("Session {session} not found")),
        }
        let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        self.prompts.lock().expect("nobody panics with the prompts").push(text.clone());
        let turn = Turn { agent: Arc::clone(self), session, request: id.clone(), cancelled };
        // Not joined: a scenario may never end, and the end of the process ends it.
        thread::spawn(move || scenario::run(&turn, &text));
    }

    fn cancel(&self, params: &Value) {
        let sessions = self.sessions();
        let running = sessions.iter().find(|(id, _)| params["sessionId"] == **id);
        if let Some((_, Some(cancel))) = running {
            // Full means that it has been told already.
            let _ = cancel.try_send(());
        }
    }

    /// Waits as long as a scenario wants nothing to be read.
    fn wait_to_read(&self) {
        let awaited = || self.reads_after.lock().expect("nobody panics with the path").clone();
        while awaited().is_some_and(|path| !path.exists()) {
            thread::park_timeout(LOOK);
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<(String, Option<SyncSender<()>>)>> {
        self.sessions.lock().expect("nobody panics with the sessions")
    }
}

fn initialized() -> Value {
    let version = setting("FAULTY_PROTOCOL_VERSION").and_then(|version| version.parse().ok());
    let mut sessions = json!({ "close": {} });
    for (ability, name) in [("list", "FAULTY_LIST"), ("resume", "FAULTY_RESUME"), ("delete", "FAULTY_DELETE")] {
        if setting(name).is_some() {
            sessions[ability] = json!({});
        }
    }
    let auth = if setting("FAULTY_LOGOUT").is_some() { json!({ "logout": {} }) } else { json!({}) };
    json!({
        "protocolVersion": version.unwrap_or(1),
        "agentCapabilities": { "loadSession": setting("FAULTY_LOAD").is_some(), "sessionCapabilities": sessions, "auth": auth },
        "agentInfo": { "name": "faulty-agent", "title": "Faulty agent", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": login::methods(),
    })
}

/// Answers to requests of ours, by id.
type Waiting = HashMap<u64, SyncSender<Value>>;
