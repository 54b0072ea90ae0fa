//! What agents write, in both dialects: lines of a journal, read into signals.
//!
//! An input is a conversation. Its first line names the dialect and the agent (`acp copilot`, `codex`); `> ` begins a line of ours, `< `
//! one of the agent's; any other line is the agent's as it stands.

mod summary;

use std::sync::LazyLock;

use agents::catalogue::{self, Catalogue, Quirks};
use agents::{Signal, acp, codex};

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;
use summary::Summary;

pub(super) const TARGET: Target = Target {
    name: "agent-lines",
    about: "lines of an agent in both dialects, read into signals",
    run,
    generate,
    max_bytes: 16 * 1024,
    // Two readings are held to be compared. An empty list has two bytes, and a value of more than a hundred.
    memory: Memory { per_byte: 256, ..Memory::USUAL },
};

/// A line that is no message in any dialect.
const GARBAGE: &[u8] = br#"{"jsonrpc":"2.0","method":"session/upd"#;

const LANGUAGE: Language = Language {
    words: &[
        "session/update",
        "session/request_permission",
        "session/prompt",
        "sessionId",
        "sessionUpdate",
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "toolCallId",
        "plan",
        "entries",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "rawInput",
        "rawOutput",
        "content",
        "locations",
        "status",
        "completed",
        "in_progress",
        "failed",
        "terminal_output_delta",
        "terminal_output",
        "_meta",
        "stopReason",
        "end_turn",
        "cancelled",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "elicitation/create",
        "$/cancel_request",
        "prompt:c1",
        "prompt:c2",
        "load:main",
        "optionId",
        "allow_once",
        "reject_once",
        "jsonrpc",
        "method",
        "params",
        "result",
        "error",
        "code",
        "message",
        "data",
        "item/started",
        "item/completed",
        "item/updated",
        "item/agentMessage/delta",
        "item/commandExecution/outputDelta",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "thread/started",
        "thread/tokenUsage/updated",
        "turn/started",
        "turn/completed",
        "turn/plan/updated",
        "serverRequest/resolved",
        "threadId",
        "turnId",
        "itemId",
        "commandExecution",
        "agentMessage",
        "Error: ",
        "\n> {\"jsonrpc\":\"2.0\",\"id\":\"prompt:c1\",\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}\n",
        "\n< ",
    ],
    lines: true,
    json: true,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::new(catalogue::Settings {
        copilot_command: "copilot".into(),
        copilot_home: None,
        copilot_token_file: None,
        own_exe: "voxpilot".into(),
        configured: Vec::new(),
    })
});

enum Decoder {
    Acp(Box<acp::decoder::Decoder>),
    Codex(Box<codex::decoder::Decoder>),
}

struct Line<'a> {
    /// Its number in the journal.
    seq: u64,
    ours: bool,
    bytes: &'a [u8],
}

struct Conversation<'a> {
    codex: bool,
    quirks: Quirks,
    lines: Vec<Line<'a>>,
}

impl<'a> Conversation<'a> {
    fn parse(input: &'a [u8]) -> Conversation<'a> {
        let mut lines = input.split(|byte| *byte == b'\n');
        let head = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
        let (dialect, agent) = head.split_once(' ').unwrap_or((&head, ""));
        let line = |(index, line): (usize, &'a [u8])| {
            let (ours, bytes) = match (line.strip_prefix(b"> "), line.strip_prefix(b"< ")) {
                (Some(ours), _) => (true, ours),
                (None, Some(theirs)) => (false, theirs),
                (None, None) => (false, line),
            };
            Line { seq: index as u64 + 1, ours, bytes }
        };
        let quirks = CATALOGUE.get(agent).map(|agent| agent.quirks).unwrap_or_default();
        Conversation { codex: dialect == "codex", quirks, lines: lines.enumerate().map(line).collect() }
    }

    fn decoder(&self) -> Decoder {
        match self.codex {
            true => Decoder::Codex(Box::default()),
            false => Decoder::Acp(Box::new(acp::decoder::Decoder::default().with_quirks(self.quirks))),
        }
    }

    /// Everything in one batch, with `garbage` in front of that line.
    fn signals(&self, garbage: Option<usize>) -> Vec<Signal> {
        let mut decoder = self.decoder();
        let mut decoded = acp::decoder::Decoded::default();
        for (index, line) in self.lines.iter().enumerate() {
            if garbage == Some(index) {
                decoder.read(&Line { seq: line.seq, ours: false, bytes: GARBAGE }, &mut decoded);
            }
            decoder.read(line, &mut decoded);
        }
        decoded.take_signals()
    }

    /// A batch for each line.
    fn signals_by_line(&self) -> Vec<Signal> {
        let mut decoder = self.decoder();
        let mut signals = Vec::new();
        for line in &self.lines {
            let mut decoded = acp::decoder::Decoded::default();
            decoder.read(line, &mut decoded);
            signals.extend(decoded.take_signals());
        }
        signals
    }
}

impl Decoder {
    fn read(&mut self, line: &Line<'_>, decoded: &mut acp::decoder::Decoded) {
        match (self, line.ours) {
            (Decoder::Acp(decoder), true) => decoder.to_agent(line.bytes),
            (Decoder::Acp(decoder), false) => decoder.from_agent(line.seq, line.bytes, decoded),
            (Decoder::Codex(decoder), true) => decoder.to_agent(line.bytes),
            (Decoder::Codex(decoder), false) => decoder.from_agent(line.seq, line.bytes, decoded),
        }
    }
}

fn run(input: &[u8], features: &mut Features) {
    let conversation = Conversation::parse(input);
    let signals = conversation.signals(None);
    assert!(signals == conversation.signals(None), "reading the same lines again gives other signals");

    let whole = Summary::of(&signals);
    whole.note(features);
    whole.hold(input);
    let by_line = Summary::of(&conversation.signals_by_line());
    by_line.hold(input);
    whole.same_as(&by_line, "lines read one at a time mean something else than in one batch");

    if let Some(last) = conversation.lines.len().checked_sub(1) {
        for garbage in [0, last / 2, last] {
            let mut disturbed = Summary::of(&conversation.signals(Some(garbage)));
            assert!(disturbed.bad_lines > whole.bad_lines, "a malformed line is not reported");
            disturbed.bad_lines = whole.bad_lines;
            whole.same_as(&disturbed, "a malformed line changes the meaning of others");
        }
    }
}
