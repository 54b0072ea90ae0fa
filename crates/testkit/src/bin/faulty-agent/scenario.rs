//! The faults, one for each first word of a prompt; a hyphen is as good as an underscore.
//!
//! | prompt | what happens |
//! |---|---|
//! | `say X` | X is streamed word by word, `end_turn`; anything unknown is streamed back the same way |
//! | `half_line [MS]` | half a line, a pause (300 ms), the other half |
//! | `garbage` | lines that are no JSON, or no message, between two chunks |
//! | `invalid_utf8` | a chunk with invalid bytes between two good ones |
//! | `big_line [MB]` | one chunk of 100 MB of text |
//! | `unknown_kinds` | updates, contents, tool kinds, a notification and a request that no schema knows |
//! | `late_answer` | the answer, then three more chunks |
//! | `duplicate_answer` | the answer twice |
//! | `no_answer` | silence until cancelled |
//! | `ignores_cancel [N]` | a tick every 20 ms, for ever or N times, whatever the client says |
//! | `crash_mid_line` | a chunk, half a line, exit code 3 |
//! | `exit_zero` | exit code 0, unanswered |
//! | `stderr_flood [MB]` | 10 MB to stderr, then an answer |
//! | `ignore_sigterm` | stays after the end of stdin; for SIGTERM see `testkit::faulty_agent::deaf` |
//! | `grandchild` | leaves a process in a session of its own behind and says its pid |
//! | `grandchild_pipe` | the same, and that process holds our stdout and stderr open |
//! | `slow N` · `flood N` | N chunks, 20 ms apart · as fast as can be |
//! | `ask` · `ask3` | one permission request · three at once; the answers are streamed as JSON |
//! | `reuse_id` | asks twice, one after the other and always under the same JSON-RPC id, for a command that it runs only if allowed; says which answers it got |
//! | `cancelled_unasked` | answers `cancelled` by itself |
//! | `cancelled_after_rejection` · `rejected_then_done` | asks, and after a rejection answers `cancelled` · says a sentence and ends |
//! | `calls JSON` | requests to its client, see `calls`; the answers are streamed as JSON |
//! | `race JSON` | the same in rounds, while it exchanges names in its work directory, see `race` |
//! | `unasked [KIND]` | a tool call of that kind (execute) that runs without asking, reported as completed twice |
//! | `login_at_prompt FILE` | a login is needed (-32000) unless the file was there when the process started |
//! | `many_requests [FILE]` | 5,000 reads of a file without waiting for an answer; says how many were answered, and how |
//! | `big_reads FILE MARKER` | 60 reads of a large file; no answer (beyond the first) is read before the marker exists |
//! | `deep_json` | two tool calls whose input is nested 124 and 5,000 levels deep |
//! | `unknown_sessions` | updates for 10,000 sessions that nobody knows |
//! | `bad_lines [N] words` | 1,000 lines of 3 KB that are no messages and hold the words, with a chunk after each |
//! | `last_words words` | the words to stderr, exit code 4 |
//! | `oversize PLACE SHAPE BYTES` | one line with that much of a shape at a place of the protocol, see `oversize` |
//! | `output_deltas [MB]` | a tool call's output of 2 MB in `_meta.terminal_output_delta`, 1,000 bytes at a time |
//! | `error_text` · `error_text pieces` | an answer of the model that begins with `Error: `, whole · in pieces |
//! | `usage_in_result` | an answer whose result holds `usage` |
//! | `error_code C words` | the prompt is answered with that JSON-RPC error |
//! | `stop_reason R` | the prompt is answered with that stop reason |
//! | `unknown_stop` · `null_result` | a stop reason nobody knows · a result that is null |
//! | `echo_env NAME` · `pid` · `sessions` · `prompts` | streams that, the last two as JSON lists |

mod calls;
mod excess;
mod oversize;
mod permission;
mod race;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wire::{chunk_line, write};
use crate::{Agent, setting};

const TICK: Duration = Duration::from_millis(20);

/// One prompt being worked on.
pub(crate) struct Turn {
    pub agent: Arc<Agent>,
    pub session: String,
    pub request: Value,
    pub cancelled: Receiver<()>,
}

/// What keeps a turn from its usual end.
enum Stop {
    Cancelled,
    /// The scenario has given an answer of its own.
    Answered,
}

type Flow = Result<(), Stop>;

pub(crate) fn run(turn: &Turn, prompt: &str) {
    // A client may put a recap in front of a prompt: then the last line tells.
    let last = prompt.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let outcome = turn.try_run(prompt).or_else(|| turn.try_run(last)).unwrap_or_else(|| turn.say(prompt));
    match outcome {
        Ok(()) => turn.end("end_turn"),
        Err(Stop::Cancelled) => turn.end("cancelled"),
        Err(Stop::Answered) => {}
    }
}

impl Turn {
    /// Runs the scenario that the text names; `None` if it names none.
    fn try_run(&self, text: &str) -> Option<Flow> {
        let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let (name, rest) = (name.replace('-', "_"), rest.trim());
        let number = |default: u64| rest.parse().unwrap_or(default);
        Some(match name.as_str() {
            "say" => self.say(rest),
            "half_line" => self.half_line(Duration::from_millis(number(300))),
            "garbage" => self.garbage(),
            "invalid_utf8" => self.invalid_utf8(),
            "big_line" => self.say_at_once(&"x".repeat(megabytes(number(100)))),
            "unknown_kinds" => self.unknown_kinds(),
            "late_answer" => self.late_answer(),
            "duplicate_answer" => self.respond_then_end(&json!({ "stopReason": "end_turn" })),
            "no_answer" => self.cancelled.recv().map_or(Ok(()), |()| Err(Stop::Cancelled)),
            "ignores_cancel" => self.tick_on(number(u64::MAX)),
            "crash_mid_line" => self.crash_mid_line(),
            "exit_zero" => exit(0),
            "stderr_flood" => self.stderr_flood(megabytes(number(10))),
            "ignore_sigterm" => {
                self.agent.stays_after_eof.store(true, Ordering::Release);
                self.say_at_once(&format!("pid {}", std::process::id()))
            }
            "grandchild" => self.grandchild(false),
            "grandchild_pipe" => self.grandchild(true),
            "slow" => self.slow(number(10)),
            "flood" => self.flood(number(1000)),
            "cancelled_unasked" => self.only_respond(&json!({ "stopReason": "cancelled" })),
            "login_at_prompt" => self.login_at_prompt(rest),
            "error_text" => self.error_text(rest == "pieces"),
            "usage_in_result" => self.only_respond(&json!({ "stopReason": "end_turn", "usage": usage() })),
            "calls" => calls::run(self, rest),
            "race" => race::run(self, rest),
            "oversize" => oversize::run(self, rest),
            "unasked" => self.unasked(if rest.is_empty() { "execute" } else { rest }),
            "error_code" => self.error_code(rest),
            "stop_reason" => self.only_respond(&json!({ "stopReason": rest })),
            "unknown_stop" => self.only_respond(&json!({ "stopReason": "banana" })),
            "null_result" => self.only_respond(&Value::Null),
            "echo_env" => self.say_at_once(&setting(rest).unwrap_or_else(|| "unset".to_owned())),
            "pid" => self.say_at_once(&std::process::id().to_string()),
            "sessions" => {
                let ids: Vec<String> = self.agent.sessions().iter().map(|(id, _)| id.clone()).collect();
                self.say_at_once(&json!(ids).to_string())
            }
            "prompts" => {
                let prompts = self.agent.prompts.lock().expect("nobody panics with the prompts").clone();
                self.say_at_once(&json!(prompts).to_string())
            }
            other => return permission::by_name(self, other).or_else(|| excess::by_name(self, other, rest)),
        })
    }

    fn end(&self, stop_reason: &str) {
        self.respond(&json!({ "stopReason": stop_reason }));
    }

    fn respond(&self, result: &Value) {
        self.agent.wire.respond(&self.request, result);
    }

    fn chunk(&self, text: &str) {
        self.agent.wire.text(&self.session, "agent_message_chunk", text);
    }

    fn update(&self, update: &Value) {
        self.agent.wire.update(&self.session, update);
    }

    /// Lets time pass, or ends early when the turn is cancelled.
    fn pause(&self, pause: Duration) -> Flow {
        match self.cancelled.recv_timeout(pause) {
            Ok(()) => Err(Stop::Cancelled),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            // Another prompt has taken the session over.
            Err(RecvTimeoutError::Disconnected) => Err(Stop::Cancelled),
        }
    }

    fn say(&self, text: &str) -> Flow {
        text.split_inclusive(char::is_whitespace).for_each(|word| self.chunk(word));
        Ok(())
    }

    fn say_at_once(&self, text: &str) -> Flow {
        self.chunk(text);
        Ok(())
    }

    fn half_line(&self, pause: Duration) -> Flow {
        let line = chunk_line(&self.session, "a whole sentence");
        let (start, rest) = line.split_at(line.len() / 2);
        let mut out = self.agent.wire.lock();
        write(&mut out, start);
        let paused = self.pause(pause);
        write(&mut out, rest);
        paused
    }

    fn garbage(&self) -> Flow {
        self.chunk("before ");
        for line in [
            "npm WARN deprecated something",
            "",
            "{\"jsonrpc\":\"2.0\",",
            "\u{1b}[31mred\u{1b}[0m",
            "null",
            "42",
            "[]",
            "{}",
            "\"text\"",
            "\0\0",
        ] {
            self.agent.wire.raw(format!("{line}\n").as_bytes());
        }
        self.say_at_once("after")
    }

    fn invalid_utf8(&self) -> Flow {
        self.chunk("before ");
        let mut line = chunk_line(&self.session, "bad[@@]bad ");
        for byte in line.iter_mut().filter(|byte| **byte == b'@') {
            *byte = 0xff;
        }
        self.agent.wire.raw(&line);
        self.say_at_once("after")
    }

    fn unknown_kinds(&self) -> Flow {
        self.chunk("before ");
        let text = |text: &str| json!({ "type": "content", "content": { "type": "text", "text": text } });
        for update in [
            json!({ "sessionUpdate": "telepathy_update", "thought": "hm", "level": 3 }),
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "hologram", "data": "…" } }),
            json!({ "sessionUpdate": "agent_message_chunk", "content": "not an object" }),
            json!({ "sessionUpdate": "tool_call", "toolCallId": "odd", "title": "Odd", "kind": "teleport", "status": "dreaming" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "odd", "content": [{ "type": "smell" }, text("plain")] }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "never announced", "status": "completed" }),
            json!({ "sessionUpdate": "plan", "entries": [{ "content": "x", "priority": "cosmic", "status": "maybe" }] }),
            json!({ "noKindAtAll": true }),
        ] {
            self.update(&update);
        }
        self.agent.wire.notify("_vendor/unheard_of", &json!({ "sessionId": self.session }));
        let answer = self.agent.wire.request("_vendor/do_something", &json!({ "sessionId": self.session }));
        let code = answer.recv().map(|answer| answer["error"]["code"].clone()).unwrap_or_default();
        self.say_at_once(&format!("after {code}"))
    }

    fn late_answer(&self) -> Flow {
        self.end("end_turn");
        (1..=3).for_each(|number| self.chunk(&format!("late {number} ")));
        Err(Stop::Answered)
    }

    fn respond_then_end(&self, result: &Value) -> Flow {
        self.chunk("once");
        self.respond(result);
        Ok(())
    }

    fn only_respond(&self, result: &Value) -> Flow {
        self.chunk("almost normal");
        self.respond(result);
        Err(Stop::Answered)
    }

    fn login_at_prompt(&self, file: &str) -> Flow {
        if self.agent.login.was_there(file.as_ref()) {
            return self.say_at_once("logged in");
        }
        self.agent.wire.fail(&self.request, -32000, "Authentication required");
        Err(Stop::Answered)
    }

    fn error_text(&self, in_pieces: bool) -> Flow {
        let text = "Error: that is what the test says in line 3. The fix is to close the file first.";
        match in_pieces {
            true => ["Err", "or: ", &text[7..20], &text[20..]].into_iter().for_each(|piece| self.chunk(piece)),
            false => self.chunk(text),
        }
        Ok(())
    }

    fn error_code(&self, rest: &str) -> Flow {
        let (code, words) = rest.split_once(' ').unwrap_or((rest, "an error was asked for"));
        self.agent.wire.fail(&self.request, code.parse().unwrap_or(-32603), words);
        Err(Stop::Answered)
    }

    fn tick_on(&self, times: u64) -> Flow {
        for number in 1..=times {
            // Whatever the channel says, the full time passes.
            let until = Instant::now() + TICK;
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                std::thread::park_timeout(left);
            }
            self.chunk(&format!("tick {number} "));
        }
        Ok(())
    }

    fn crash_mid_line(&self) -> ! {
        self.chunk("before ");
        let line = chunk_line(&self.session, "never finished");
        self.agent.wire.raw(&line[..line.len() / 2]);
        exit(3)
    }

    fn stderr_flood(&self, bytes: usize) -> Flow {
        let line = "the same complaint over and over again, and nobody ever reads it, does one";
        for _ in 0..bytes / (line.len() + 1) {
            eprintln!("{line}");
        }
        self.say_at_once("said")
    }

    #[allow(clippy::zombie_processes, reason = "a process that nobody waits for is what was asked for")]
    fn grandchild(&self, holds_pipes: bool) -> Flow {
        let stdio = || if holds_pipes { Stdio::inherit() } else { Stdio::null() };
        // setsid becomes the sleep itself, so the pid stays the same.
        let child = Command::new("setsid").args(["sleep", "1000"]).stdin(Stdio::null()).stdout(stdio()).stderr(stdio()).spawn();
        let child = child.expect("setsid is installed");
        self.say_at_once(&format!("grandchild {}", child.id()))
    }

    fn slow(&self, count: u64) -> Flow {
        for number in 1..=count {
            self.pause(TICK)?;
            self.chunk(&format!("{number} "));
        }
        Ok(())
    }

    fn flood(&self, count: u64) -> Flow {
        (1..=count).for_each(|number| self.chunk(&format!("{number} ")));
        Ok(())
    }

    fn unasked(&self, kind: &str) -> Flow {
        let call =
            json!({ "toolCallId": format!("unasked {kind}"), "title": "Do it", "kind": kind, "rawInput": { "command": "echo unasked" } });
        for (update, status) in [("tool_call", "pending"), ("tool_call_update", "completed"), ("tool_call_update", "completed")] {
            let mut report = call.clone();
            report["sessionUpdate"] = json!(update);
            report["status"] = json!(status);
            self.update(&report);
        }
        self.say_at_once("done")
    }
}

/// As Copilot counts it.
fn usage() -> Value {
    json!({ "inputTokens": 300, "outputTokens": 60, "totalTokens": 360, "cachedReadTokens": 20, "cachedWriteTokens": 0 })
}

fn megabytes(count: u64) -> usize {
    usize::try_from(count * 1_000_000).expect("a size that fits into memory")
}

#[allow(clippy::disallowed_methods, reason = "a crash is what was asked for")]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}
