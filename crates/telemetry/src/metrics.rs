//! All numbers of the server, and how they are told.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::histogram::{ANSWERS_S, WRITES_S};
use crate::page::{Kind, Page};
use crate::process::Process;
use crate::{Codes, Counter, Gauge, Histogram, Labelled, Reading, SpanCounts};

/// How a turn can end.
const ENDINGS: [&str; 5] = ["completed", "failed", "cancelled", "interrupted", "unknown"];
/// By the first digit of the status, from 1.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counted where it happens; read when somebody asks.
#[derive(Debug)]
pub struct Metrics {
    version: &'static str,
    begun: SystemTime,
    pub agent_chunks: Counter,
    pub agent_bytes: Counter,
    pub model_chunks: Counter,
    pub model_bytes: Counter,
    /// How long each write of a session was waited for.
    pub write_seconds: Histogram,
    /// Open streams of one session, and of several.
    pub single_streams: Arc<Gauge>,
    pub many_streams: Arc<Gauge>,
    pub stream_bytes: Counter,
    pub stream_pieces: Counter,
    pub stream_events: Counter,
    requests: [Counter; CLASSES.len()],
    pub connections: Arc<Gauge>,
    pub connections_taken: Counter,
    /// By the id of the agent in the catalogue.
    pub agents: Labelled<AgentCounts>,
    pub turns_running: Arc<Gauge>,
    pub turns_ended: Labelled<Counter>,
    /// Questions of agents, and tools of the main AI that a person is to agree to.
    pub permissions_waiting: Arc<Gauge>,
    pub confirmations_waiting: Arc<Gauge>,
    /// By how they ended.
    pub model_calls: Labelled<Counter>,
    pub model_retries: Counter,
    pub input_tokens: Counter,
    pub output_tokens: Counter,
    pub first_token_seconds: Histogram,
    pub model_call_seconds: Histogram,
    pub errors: Codes,
}

/// What one agent's processes came to.
#[derive(Default, Debug)]
pub struct AgentCounts {
    /// Those that this server holds.
    pub processes: Arc<Gauge>,
    pub started: Counter,
    pub not_started: Counter,
    /// They were told to.
    pub ended: Counter,
    /// By themselves.
    pub died: Counter,
}

/// What is looked up when somebody asks.
#[derive(Clone, Default, Debug)]
pub struct Moment {
    /// Sessions with a task of their own.
    pub sessions_in_memory: usize,
    /// Commands that wait for those.
    pub waiting_commands: usize,
    pub store: StoreCounts,
    pub spans: Option<SpanCounts>,
}

/// What a store tells of its commits since it was opened.
#[derive(Clone, Default, Debug)]
pub struct StoreCounts {
    pub commits: u64,
    /// Several share a commit.
    pub writes: u64,
    pub events: u64,
    pub statements: u64,
    pub reads: u64,
    /// How often the log of changes was brought into the database.
    pub checkpoints: u64,
    pub waiting_writes: u64,
    pub commit_seconds: Reading,
}

impl Metrics {
    /// `agents` are the ids of the catalogue, `outcomes` the words for how a call of a model ends: no others become labels.
    pub fn new(version: &'static str, agents: impl IntoIterator<Item = String>, outcomes: &[&'static str]) -> Metrics {
        Metrics {
            version,
            begun: SystemTime::now(),
            agent_chunks: Counter::default(),
            agent_bytes: Counter::default(),
            model_chunks: Counter::default(),
            model_bytes: Counter::default(),
            write_seconds: Histogram::new(WRITES_S),
            single_streams: Arc::default(),
            many_streams: Arc::default(),
            stream_bytes: Counter::default(),
            stream_pieces: Counter::default(),
            stream_events: Counter::default(),
            requests: Default::default(),
            connections: Arc::default(),
            connections_taken: Counter::default(),
            agents: Labelled::new(agents),
            turns_running: Arc::default(),
            turns_ended: Labelled::new(ENDINGS),
            permissions_waiting: Arc::default(),
            confirmations_waiting: Arc::default(),
            model_calls: Labelled::new(outcomes.iter().copied()),
            model_retries: Counter::default(),
            input_tokens: Counter::default(),
            output_tokens: Counter::default(),
            first_token_seconds: Histogram::new(ANSWERS_S),
            model_call_seconds: Histogram::new(ANSWERS_S),
            errors: Codes::default(),
        }
    }

    /// A request was answered with this status.
    pub fn answered(&self, status: u16) {
        let class = usize::from(status / 100).clamp(1, CLASSES.len());
        self.requests[class - 1].increment();
    }

    /// Everything, as Prometheus reads it.
    pub fn page(&self, moment: &Moment) -> String {
        let mut page = Page::default();
        self.flow(&mut page);
        self.commits(&mut page, moment);
        self.people(&mut page, moment);
        self.work(&mut page);
        self.model(&mut page);
        self.machine(&mut page, moment);
        page.text()
    }

    fn flow(&self, page: &mut Page) {
        let sources = [("agent", &self.agent_chunks, &self.agent_bytes), ("model", &self.model_chunks, &self.model_bytes)];
        page.family("voxpilot_text_chunks_total", Kind::Counter, "Pieces of text that came from agents and from the model.");
        sources.iter().for_each(|(source, chunks, _)| page.sample("voxpilot_text_chunks_total", &[("source", source)], chunks.get()));
        page.family("voxpilot_text_bytes_total", Kind::Counter, "Bytes of that text.");
        sources.iter().for_each(|(source, _, bytes)| page.sample("voxpilot_text_bytes_total", &[("source", source)], bytes.get()));
        page.family("voxpilot_streams_open", Kind::Gauge, "Event streams that are open: of a single session, and of many.");
        page.sample("voxpilot_streams_open", &[("kind", "single")], self.single_streams.get());
        page.sample("voxpilot_streams_open", &[("kind", "many")], self.many_streams.get());
        let counters = [
            ("voxpilot_stream_bytes_total", "Bytes handed to event streams.", &self.stream_bytes),
            ("voxpilot_stream_pieces_total", "Pieces in which those bytes went out; each holds one event or more.", &self.stream_pieces),
            ("voxpilot_stream_events_total", "Stored events handed to event streams, once for each stream.", &self.stream_events),
        ];
        counters.iter().for_each(|(name, help, counter)| page.single(name, Kind::Counter, help, counter.get()));
    }

    fn commits(&self, page: &mut Page, moment: &Moment) {
        let store = &moment.store;
        let counters = [
            ("voxpilot_writes_total", "Writes that are durable; several may share a commit.", store.writes),
            ("voxpilot_events_total", "Events that are durable.", store.events),
            ("voxpilot_commits_total", "Transactions that the store has committed.", store.commits),
            ("voxpilot_statements_total", "Statements that the database has run, for writes and for reads.", store.statements),
            ("voxpilot_reads_total", "How often the database was read; what is in memory is not read there.", store.reads),
            ("voxpilot_checkpoints_total", "How often the write-ahead log was brought into the database.", store.checkpoints),
        ];
        counters.iter().for_each(|(name, help, count)| page.single(name, Kind::Counter, help, count));
        page.family("voxpilot_write_seconds", Kind::Histogram, "How long a session waited until its write was durable.");
        page.histogram("voxpilot_write_seconds", &self.write_seconds.read());
        page.family("voxpilot_commit_seconds", Kind::Histogram, "How long a transaction took, from its begin to its commit.");
        page.histogram("voxpilot_commit_seconds", &store.commit_seconds);
        page.single("voxpilot_waiting_writes", Kind::Gauge, "Writes that wait for the next commit.", store.waiting_writes);
    }

    fn people(&self, page: &mut Page, moment: &Moment) {
        page.family("voxpilot_http_requests_total", Kind::Counter, "Answered requests by the class of their status.");
        for (class, counter) in CLASSES.iter().zip(&self.requests) {
            page.sample("voxpilot_http_requests_total", &[("status", class)], counter.get());
        }
        page.single("voxpilot_connections_open", Kind::Gauge, "Connections that are open.", self.connections.get());
        page.single("voxpilot_connections_total", Kind::Counter, "Connections that were taken.", self.connections_taken.get());
        let help = "Sessions that have a task in memory.";
        page.single("voxpilot_sessions_in_memory", Kind::Gauge, help, moment.sessions_in_memory);
        page.single("voxpilot_inbox_commands", Kind::Gauge, "Commands that wait for the tasks of sessions.", moment.waiting_commands);
        page.family("voxpilot_permissions_waiting", Kind::Gauge, "What waits for a person: questions of agents, and tools of the main AI.");
        page.sample("voxpilot_permissions_waiting", &[("of", "agent")], self.permissions_waiting.get());
        page.sample("voxpilot_permissions_waiting", &[("of", "main_ai")], self.confirmations_waiting.get());
        page.family("voxpilot_errors_total", Kind::Counter, "What went wrong, by its code: in turns, and in requests answered with 5xx.");
        self.errors.read().iter().for_each(|(code, count)| page.sample("voxpilot_errors_total", &[("code", code)], count));
    }

    fn work(&self, page: &mut Page) {
        page.family("voxpilot_agent_processes", Kind::Gauge, "Processes of agents that this server holds, starting ones included.");
        for (agent, counts) in self.agents.iter() {
            page.sample("voxpilot_agent_processes", &[("agent", agent)], counts.processes.get());
        }
        page.family("voxpilot_agent_starts_total", Kind::Counter, "Starts of agents, by whether they worked.");
        for (agent, counts) in self.agents.iter() {
            page.sample("voxpilot_agent_starts_total", &[("agent", agent), ("outcome", "started")], counts.started.get());
            page.sample("voxpilot_agent_starts_total", &[("agent", agent), ("outcome", "failed")], counts.not_started.get());
        }
        page.family("voxpilot_agent_ends_total", Kind::Counter, "Ends of agents: told to end, or died by themselves.");
        for (agent, counts) in self.agents.iter() {
            page.sample("voxpilot_agent_ends_total", &[("agent", agent), ("how", "ended")], counts.ended.get());
            page.sample("voxpilot_agent_ends_total", &[("agent", agent), ("how", "died")], counts.died.get());
        }
        page.single("voxpilot_turns_running", Kind::Gauge, "Turns that run.", self.turns_running.get());
        page.family("voxpilot_turns_ended_total", Kind::Counter, "Turns that are over, by how they ended.");
        self.turns_ended.iter().for_each(|(how, count)| page.sample("voxpilot_turns_ended_total", &[("ending", how)], count.get()));
    }

    fn model(&self, page: &mut Page) {
        page.family("voxpilot_model_calls_total", Kind::Counter, "Calls of the model by how they ended; the relay is none.");
        self.model_calls.iter().for_each(|(how, count)| page.sample("voxpilot_model_calls_total", &[("outcome", how)], count.get()));
        let help = "Requests to the model that were tried again.";
        page.single("voxpilot_model_retries_total", Kind::Counter, help, self.model_retries.get());
        page.family("voxpilot_model_tokens_total", Kind::Counter, "Tokens that the model says it read (in) and wrote (out).");
        page.sample("voxpilot_model_tokens_total", &[("direction", "in")], self.input_tokens.get());
        page.sample("voxpilot_model_tokens_total", &[("direction", "out")], self.output_tokens.get());
        page.family("voxpilot_model_first_token_seconds", Kind::Histogram, "From the request to the first word or thought of the model.");
        page.histogram("voxpilot_model_first_token_seconds", &self.first_token_seconds.read());
        page.family("voxpilot_model_call_seconds", Kind::Histogram, "How long a call of the model took, retries included.");
        page.histogram("voxpilot_model_call_seconds", &self.model_call_seconds.read());
    }

    fn machine(&self, page: &mut Page, moment: &Moment) {
        let process = Process::now();
        page.family("voxpilot_process_resident_memory_bytes", Kind::Gauge, "Memory of the server that is in RAM; agents have their own.");
        process.resident_bytes.into_iter().for_each(|bytes| page.sample("voxpilot_process_resident_memory_bytes", &[], bytes));
        page.family("voxpilot_process_cpu_seconds_total", Kind::Counter, "Time that the server has computed.");
        process.cpu_s.into_iter().for_each(|seconds| page.sample("voxpilot_process_cpu_seconds_total", &[], seconds));
        page.family("voxpilot_process_open_fds", Kind::Gauge, "File descriptors that are open.");
        process.open_files.into_iter().for_each(|files| page.sample("voxpilot_process_open_fds", &[], files));
        page.family("voxpilot_process_threads", Kind::Gauge, "Threads of the server.");
        process.threads.into_iter().for_each(|threads| page.sample("voxpilot_process_threads", &[], threads));
        let begun_s = self.begun.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        page.single("voxpilot_process_start_time_seconds", Kind::Gauge, "When the server began, in seconds since 1970.", begun_s);
        page.family("voxpilot_spans_total", Kind::Counter, "Spans for the trace collector: sent, or dropped since it did not keep up.");
        if let Some(spans) = &moment.spans {
            page.sample("voxpilot_spans_total", &[("outcome", "sent")], spans.sent.get());
            page.sample("voxpilot_spans_total", &[("outcome", "dropped")], spans.dropped.get());
        }
        page.family("voxpilot_build_info", Kind::Gauge, "Always 1; its label is the version.");
        page.sample("voxpilot_build_info", &[("version", self.version)], 1);
    }
}
