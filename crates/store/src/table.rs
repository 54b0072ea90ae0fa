//! The tables: one file each, with its row, its writes and its reads. Writes run in the writer's transaction, reads on one
//! connection, so that several of them can share one snapshot of the database.

pub(crate) mod agent_session;
pub(crate) mod artifact;
pub(crate) mod attachment;
pub(crate) mod audit;
pub(crate) mod column;
pub(crate) mod confirm;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod like;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod method_names;
pub(crate) mod notice;
pub(crate) mod permission;
pub(crate) mod preference;
pub(crate) mod push;
pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod review;
pub(crate) mod rule;
pub(crate) mod runner;
pub(crate) mod session;
pub(crate) mod tree;
pub(crate) mod turn;

use domain::ids::SessionId;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::row::{Row, ServerRow};

type Read<T> = std::result::Result<T, sqlx::Error>;
type Written = std::result::Result<(), StoreError>;

/// Where and when a row is written.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) session: SessionId,
    /// The number that the first event of the write will have.
    pub(crate) first_seq: u64,
    pub(crate) now: Timestamp,
}

/// Applies one change inside a transaction.
pub(crate) async fn apply(conn: &mut SqliteConnection, place: Place, row: &Row) -> Written {
    let session = place.session.to_string();
    match row {
        Row::CreateSession(new) => session::create(conn, session, new).await,
        Row::UpdateSession(change) => session::update(conn, session, change, place.now).await,
        Row::MarkSession(marks) => session::mark(conn, session, *marks, place.now).await,
        Row::Tree(tree) => tree::save(conn, session, tree).await,
        Row::Changed(counts) => session::count_changes(conn, session, *counts).await,
        Row::DeleteSession => session::delete(conn, session).await,
        Row::Message(message) => message::save(conn, session, message).await,
        Row::Turn(turn) => turn::save(conn, session, turn, place.first_seq).await,
        Row::Enqueue(queued) => queue::add(conn, session, queued).await,
        Row::EditQueued { message_id, content } => queue::edit(conn, session, *message_id, content).await,
        Row::OrderQueue(order) => queue::order(conn, session, order).await,
        Row::Dequeue { message_id } => queue::remove(conn, session, *message_id).await,
        Row::Attachment(attachment) => attachment::save(conn, session, attachment).await,
        Row::RemoveAttachments { message_id } => attachment::remove(conn, session, *message_id).await,
        Row::AgentSession(agent) => agent_session::save(conn, session, agent).await,
        Row::RemoveAgentSession { name } => agent_session::remove(conn, session, name).await,
        Row::OpenPermission(permission) => permission::open(conn, session, permission, place.first_seq).await,
        Row::ResolvePermission { request_id, option_id, by } => {
            permission::resolve(conn, session, *request_id, option_id.as_deref(), by).await
        }
        Row::PermissionDelivered { request_id } => permission::deliver(conn, session, *request_id).await,
        Row::OpenRequest(request) => request::open(conn, session, request).await,
        Row::BeginRequest { id } => request::begin(conn, session, *id).await,
        Row::AnswerRequest { id, answer } => request::answer(conn, session, *id, answer).await,
        Row::CloseRequest { id } => request::close(conn, session, *id).await,
        Row::Rule(rule) => rule::save(conn, session, rule).await,
        Row::RemoveRule { id } => rule::remove(conn, *id).await,
        Row::Comment { scope, comment } => review::save(conn, session, scope, comment).await,
        Row::RemoveComments { ids } => review::remove(conn, session, ids).await,
        Row::View { scope, path, digest } => review::view(conn, session, scope, path, digest.as_deref()).await,
        Row::OpenConfirm(call) => confirm::open(conn, session, call, place.first_seq).await,
        Row::ResolveConfirm { tool_call_id } => confirm::resolve(conn, session, tool_call_id).await,
        Row::Artifact(artifact) => artifact::save(conn, session, artifact).await,
        Row::Runner(runner) => runner::save(conn, session, runner).await,
        Row::RunnerCursor { id, cursor } => runner::move_cursor(conn, session, id, *cursor).await,
        Row::RunnerCapabilities { id, capabilities } => runner::learn(conn, session, id, capabilities.as_ref()).await,
        Row::RunnerEnding { id } => runner::end(conn, session, id).await,
        Row::RemoveRunner { id } => runner::remove(conn, session, id).await,
        Row::MethodNames { agent, version, names } => method_names::save(conn, agent, version, names).await,
        Row::Horizon(seq) => event::advance_horizon(conn, place.session, *seq).await,
    }
}

/// Applies one change of what belongs to no session.
pub(crate) async fn apply_server(conn: &mut SqliteConnection, row: &ServerRow) -> Written {
    match row {
        ServerRow::Device(device) => device::add(conn, device).await,
        ServerRow::RenameDevice { id, name } => device::rename(conn, *id, name).await,
        ServerRow::BindDevice { id, key_hash } => device::bind(conn, *id, key_hash).await,
        ServerRow::DeviceUsed { id, at, address } => device::used(conn, *id, *at, address).await,
        ServerRow::RemoveDevice(id) => device::remove(conn, *id).await,
        ServerRow::Link(link) => link::save(conn, link).await,
        ServerRow::RemoveLink(id) => link::remove(conn, *id).await,
        ServerRow::Audit(entry) => audit::add(conn, entry).await,
        ServerRow::Preference { key, value } => preference::save(conn, key, value).await,
        ServerRow::RemovePreference { key } => preference::remove(conn, key).await,
        ServerRow::Push(push) => push::save(conn, push).await,
        ServerRow::RemovePush(device) => push::remove(conn, *device).await,
        ServerRow::DropEndpoint(endpoint) => push::drop_endpoint(conn, endpoint).await,
    }
}
