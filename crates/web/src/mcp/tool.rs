//! The tools as clients see them: names, descriptions, and the forms of what goes in and comes out.

use std::sync::Arc;

use domain::agent::OptionKind;
use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

pub(super) const DELEGATE: &str = "delegate";
pub(super) const JOB: &str = "job";
pub(super) const LIST_SESSIONS: &str = "list_sessions";
pub(super) const READ_SESSION: &str = "read_session";
pub(super) const WAITING: &str = "waiting";
pub(super) const ANSWER: &str = "answer";
pub(super) const STOP: &str = "stop";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Delegate {
    /// What the agent is to do. It knows nothing of your conversation: say everything that it needs.
    pub prompt: String,
    /// An existing session (id or exact title) to go on in; a title that is not there yet makes a new one. Left out: a new session.
    pub session: Option<String>,
    /// Which agent works in a new session; the server's default where nothing is said.
    pub agent: Option<String>,
    /// The agent's conversation within the session, by a name of letters, digits, `.`, `_` and `-`: the same name again goes on where it
    /// was, another one starts afresh. `main` where nothing is said.
    pub name: Option<String>,
    /// Where a new session works: a directory below the server's own work directory.
    pub work_dir: Option<String>,
    /// Wait so long for the result (at most 600). 0, the default, answers at once; the work goes on in any case.
    pub wait_seconds: Option<u32>,
    /// Any text that is new for every task. The same call with the same one again, for want of an answer, gives the same job instead of a second one.
    pub client_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub job_id: String,
    /// Wait so long for its end, or for something new that needs a person (at most 600; 0 where nothing is said).
    pub wait_seconds: Option<u32>,
    /// Where in a long result to read on, in characters: the `next_offset` of the last answer.
    pub offset: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSessions {
    /// How many, at most 50; 20 where nothing is said.
    pub limit: Option<u32>,
    /// The `next` of the last answer: goes on behind it.
    pub before: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadSession {
    pub session_id: String,
    /// How many messages, at most 50; 10 where nothing is said.
    pub limit: Option<u32>,
    /// The id of the oldest message that you have: gives those before it.
    pub before: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Waiting {
    /// Only of this session.
    pub session_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// From `waiting`.
    pub request_id: String,
    /// One of the options that are offered.
    pub option_id: Option<String>,
    /// Instead of an option: allow it once (true), or reject it (false).
    pub approved: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// The job to stop; one that has not begun yet is withdrawn.
    pub job_id: Option<String>,
    /// Instead of a job: whatever runs in this session.
    pub session_id: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Other work of its session comes first.
    Queued,
    Running,
    /// It runs, and a person has to answer before it goes on.
    Waiting,
    Completed,
    Failed,
    Cancelled,
    /// The agent was gone, or broke off by itself.
    Interrupted,
    /// Nothing can tell whether it was done.
    Unknown,
}

impl State {
    pub(super) fn is_over(self) -> bool {
        !matches!(self, State::Queued | State::Running | State::Waiting)
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct JobView {
    /// Keep it: it is all that is needed to come back, also from another process.
    pub job_id: String,
    pub session_id: String,
    pub session_title: String,
    pub state: State,
    /// Why it did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the agent wrote, once it is over; of a long text a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How many characters the whole result has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_length: Option<usize>,
    /// There is more: call `job` with it as `offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What needs a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<RequestView>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct RequestView {
    pub request_id: String,
    pub session_id: String,
    /// permission, confirmation (of a tool of the main AI) or form.
    pub kind: &'static str,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The words of the command, where it runs without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
    /// Where the command would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files that would be changed and whose content runs later, each with how.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    pub options: Vec<OptionView>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct OptionView {
    pub option_id: String,
    /// In our words, by what it means.
    pub name: String,
    /// allow_once, allow_always, reject_once or reject_always; of a form also cancel.
    #[schemars(with = "String")]
    pub kind: OptionKind,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RequestList {
    pub waiting: Vec<RequestView>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answered {
    pub request_id: String,
    pub session_id: String,
    pub answer: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    pub sessions: Vec<SessionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionView {
    pub session_id: String,
    pub title: String,
    pub agent: String,
    pub model: String,
    pub updated_at: String,
    pub running: bool,
    /// How much waits behind what runs.
    pub queued: u32,
    /// How much waits for a person.
    pub waiting: u32,
    /// The job that began last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MessageList {
    pub session_id: String,
    /// Oldest first.
    pub messages: Vec<MessageView>,
    /// There are older ones: give the id of the oldest as `before`.
    pub more: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MessageView {
    pub id: String,
    /// user, assistant or tool.
    pub role: String,
    pub created_at: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
}

pub(super) fn all() -> Vec<Tool> {
    let reads = || ToolAnnotations::new().read_only(true).open_world(false);
    let acts = |destructive| ToolAnnotations::new().read_only(false).destructive(destructive).open_world(false);
    vec![
        tool::<Delegate, JobView>(
            DELEGATE,
            "Hand a task to a coding agent. It is durable: it goes on, and can be come back for by its job_id, whatever happens to you, to the \
             connection or to the server. With wait_seconds the result comes with the answer if it is ready by then.",
            acts(true),
        ),
        tool::<Job, JobView>(JOB, "How a job stands, and its result once it is over.", reads()),
        tool::<ListSessions, SessionList>(LIST_SESSIONS, "The sessions, newest activity first, each with its latest job.", reads()),
        tool::<ReadSession, MessageList>(
            READ_SESSION,
            "The last messages of a session. Long ones are shortened: `job` reads the whole of a result.",
            reads(),
        ),
        tool::<Waiting, RequestList>(WAITING, "What waits for a person: permissions that agents ask for, tools to be confirmed.", reads()),
        tool::<Answer, Answered>(
            ANSWER,
            "Answer something that waits for a person, in their name: only what they have told you to. It is recorded as answered through MCP. \
             Forms are filled in on the page; here they can be declined.",
            acts(true),
        ),
        tool::<Stop, JobView>(STOP, "Stop a job, or whatever runs in a session.", acts(true)),
    ]
}

fn tool<In: JsonSchema + 'static, Out: JsonSchema + 'static>(
    name: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    let input: Arc<JsonObject> = schema_for_input::<In>().expect("what a tool takes is an object");
    Tool::new(name, description, input).with_raw_output_schema(schema_for_output::<Out>()).with_annotations(annotations)
}
