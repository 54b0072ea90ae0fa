//! The connection: reads lines, knows the loaded sessions, starts a thread for each prompt, and ends them all.

mod replay;
mod requests;

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::archive::Archive;
use crate::peer::Peer;
use crate::session::{Pace, Session};
use crate::turn::{Prompt, Turn};
use crate::wire::{self, Incoming, RpcError};

/// How long cancelled turns get to answer when the connection ends.
const FAREWELL: Duration = Duration::from_secs(2);
/// Lines read ahead of the one being worked on.
const INBOX: usize = 16;

/// Where a session may have its working directory.
#[derive(Debug, Clone)]
pub enum CwdPolicy {
    /// Any directory that exists.
    AnyDirectory,
    /// This directory and those below it.
    Within(PathBuf),
}

/// What a connection is given.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where sessions are kept.
    pub state_dir: PathBuf,
    pub cwd_policy: CwdPolicy,
    /// The pace of new sessions.
    pub pace: Pace,
}

enum Input {
    Line(Vec<u8>),
    /// Stdin ended or stdout is gone: either way the conversation is over.
    End,
}

/// Speaks ACP until the reader ends or the writer breaks; running turns are cancelled then.
pub fn serve(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static, options: Options) -> io::Result<()> {
    let archive = Archive::open(&options.state_dir)?;
    let (inbox, lines) = sync_channel(INBOX);
    let on_lost = {
        let inbox = inbox.clone();
        // With a full inbox the loop is awake anyway, and looks at the peer after each line.
        move || drop(inbox.try_send(Input::End))
    };
    // Not joined: when the writer breaks first, this thread is still held by a read that only the client can end.
    thread::Builder::new().name("reader".into()).spawn(move || read_lines(reader, &inbox))?;
    let server = Server { peer: Arc::new(Peer::new(writer, on_lost)), archive, options, sessions: Mutex::default(), turns: Arc::default() };
    while let Ok(Input::Line(line)) = lines.recv() {
        server.receive(&line);
        if server.peer.is_lost() {
            break;
        }
    }
    server.finish();
    Ok(())
}

fn read_lines(reader: impl Read, inbox: &SyncSender<Input>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let input = match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Input::End,
            Ok(_) => Input::Line(line),
        };
        let over = matches!(input, Input::End);
        if inbox.send(input).is_err() || over {
            return;
        }
    }
}

struct Server {
    peer: Arc<Peer>,
    archive: Archive,
    options: Options,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    turns: Arc<Turns>,
}

impl Server {
    fn receive(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match wire::read(line) {
            Ok(Incoming::Request { id, method, params }) => self.request(&id, &method, &params),
            Ok(Incoming::Notification { method, params }) => self.notification(&method, &params),
            Ok(Incoming::Response { id, result }) => self.peer.deliver(&id, result),
            Err(bad) => self.peer.respond(&bad.id, Err(bad.error)),
        }
    }

    fn request(&self, id: &Value, method: &str, params: &Value) {
        let outcome = match method {
            "initialize" => Ok(requests::capabilities()),
            "session/new" => return self.new_session(id, params),
            "session/load" => self.load_session(params, true),
            "session/resume" => self.load_session(params, false),
            "session/list" => self.list_sessions(params),
            "session/close" => self.close_session(params),
            "session/delete" => self.delete_session(params),
            "session/set_mode" => self.set_mode(params),
            "session/set_config_option" => self.set_config_option(params),
            "session/prompt" => match self.start_prompt(id, params) {
                // The turn's thread answers.
                Ok(()) => return,
                Err(error) => Err(error),
            },
            other => Err(RpcError::method_not_found(other)),
        };
        self.peer.respond(id, outcome);
    }

    fn notification(&self, method: &str, params: &Value) {
        match method {
            "session/cancel" => {
                if let Some(session) = params["sessionId"].as_str().and_then(|id| self.loaded(id)) {
                    session.cancel();
                }
            }
            "$/cancel_request" => {
                for session in self.sessions().values() {
                    session.cancel_request(&params["requestId"]);
                }
            }
            _ => {}
        }
    }

    fn start_prompt(&self, id: &Value, params: &Value) -> Result<(), RpcError> {
        let session = self.session(params)?;
        let prompt = Prompt::read(&params["prompt"]).map_err(RpcError::invalid_params)?;
        let gate = session
            .begin(id)
            .ok_or_else(|| RpcError::invalid_params(format!("session is busy: {} works on another prompt", session.id)))?;
        let (peer, id, ticket) = (Arc::clone(&self.peer), id.clone(), self.turns.enter());
        let working = Arc::clone(&session);
        let spawned = thread::Builder::new().name("turn".into()).spawn(move || {
            let _ticket = ticket;
            let turn = AssertUnwindSafe(|| Turn::new(&working, &peer, &gate).run(&prompt));
            let outcome = catch_unwind(turn)
                .map(|stop_reason| json!({ "stopReason": stop_reason }))
                .map_err(|_| RpcError::internal("the turn broke off"));
            // Free before answered: the client may send its next prompt as soon as it has read the answer.
            working.end();
            peer.respond(&id, outcome);
        });
        spawned.map(drop).map_err(|error| {
            session.end();
            RpcError::internal(format!("no thread for the turn: {error}"))
        })
    }

    fn session(&self, params: &Value) -> Result<Arc<Session>, RpcError> {
        let id = requests::text(params, "sessionId")?;
        self.loaded(id).ok_or_else(|| RpcError::unknown_session(id))
    }

    fn loaded(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions().get(id).cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().expect("no holder of the table panics")
    }

    fn finish(&self) {
        for session in self.sessions().values() {
            session.cancel();
        }
        self.turns.wait(FAREWELL);
    }
}

/// Counts the running turns, those of closed sessions too, so that the end can wait for all of them.
#[derive(Default)]
struct Turns {
    running: Mutex<usize>,
    changed: Condvar,
}

impl Turns {
    fn enter(self: &Arc<Self>) -> Ticket {
        *self.running.lock().expect("no holder of the count panics") += 1;
        Ticket(Arc::clone(self))
    }

    fn wait(&self, limit: Duration) {
        let running = self.running.lock().expect("no holder of the count panics");
        let waited = self.changed.wait_timeout_while(running, limit, |running| *running > 0);
        drop(waited);
    }
}

struct Ticket(Arc<Turns>);

impl Drop for Ticket {
    fn drop(&mut self) {
        // Also dropped while a panic unwinds, where a second one would abort.
        if let Ok(mut running) = self.0.running.lock() {
            *running -= 1;
        }
        self.0.changed.notify_all();
    }
}
