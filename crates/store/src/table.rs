//! The tables: one file each, with its row, its writes and its reads. Writes run in the writer's transaction, reads on one
//! connection, so that several of them can share one snapshot of the database.

pub(crate) mod agent_session;
pub(crate) mod artifact;
pub(crate) mod attachment;
pub(crate) mod audit;
pub(crate) mod column;
pub(crate) mod confirm;
pub(crate) mod credit;
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
mod sizes;
pub(crate) mod tree;
pub(crate) mod turn;

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::row::{Row, ServerRow};
use crate::statement::{self, Read};
use runner::Moved;

type Written = std::result::Result<(), StoreError>;

/// Where and when a row is written.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) session: SessionId,
    /// The same as text.
    pub(crate) text: &'a str,
    /// The number that the first event of the write will have.
    pub(crate) first_seq: u64,
    pub(crate) now: Timestamp,
}

/// Applies one change inside a transaction.
pub(crate) fn apply(conn: &Connection, place: Place<'_>, row: &Row) -> Written {
    let session = place.text;
    match row {
        Row::CreateSession(new) => session::create(conn, session, new),
        Row::UpdateSession(change) => session::update(conn, session, change, place.now),
        Row::MarkSession(marks) => session::mark(conn, session, *marks, place.now),
        Row::Tree(tree) => tree::save(conn, session, tree),
        Row::Window(window) => credit::save_window(conn, session, window),
        Row::RemoveWindows { call } => credit::remove_windows(conn, session, call),
        Row::Credit(row) => credit::save(conn, session, row),
        Row::Changed(counts) => session::count_changes(conn, session, *counts),
        Row::DeleteSession => session::delete(conn, session),
        Row::Message(message) => message::save(conn, session, message),
        Row::Turn(turn) => turn::save(conn, session, turn, place.first_seq),
        Row::TurnEnding { id, ending } => turn::end(conn, session, *id, *ending),
        Row::TurnWaits { id, waited_ms, waiting_since_ms } => turn::wait(conn, session, *id, *waited_ms, *waiting_since_ms),
        Row::Enqueue(queued) => queue::add(conn, session, queued),
        Row::EditQueued { message_id, content } => queue::edit(conn, session, *message_id, content),
        Row::OrderQueue(order) => queue::order(conn, session, order),
        Row::HoldQueue(held) => queue::hold(conn, session, *held),
        Row::Dequeue { message_id } => queue::remove(conn, session, *message_id),
        Row::Attachment(attachment) => attachment::save(conn, session, attachment),
        Row::RemoveAttachments { message_id } => attachment::remove(conn, session, *message_id),
        Row::AgentSession(agent) => agent_session::save(conn, session, agent),
        Row::RemoveAgentSession { name } => agent_session::remove(conn, session, name),
        Row::OpenPermission(permission) => permission::open(conn, session, permission, place.first_seq),
        Row::ResolvePermission { request_id, decision, by } => permission::resolve(conn, session, *request_id, decision, by),
        Row::PermissionDelivered { request_id } => permission::deliver(conn, session, *request_id),
        Row::OpenRequest(request) => request::open(conn, session, request),
        Row::BeginRequest { id } => request::begin(conn, session, *id),
        Row::AnswerRequest { id, answer } => request::answer(conn, session, *id, answer),
        Row::CloseRequest { id } => request::close(conn, session, *id),
        Row::Rule(rule) => rule::save(conn, session, rule),
        Row::RemoveRule { id } => rule::remove(conn, *id),
        Row::Comment { scope, comment } => review::save(conn, session, scope, comment),
        Row::SendComments { ids, at } => review::send(conn, session, ids, *at),
        Row::RemoveComments { ids } => review::remove(conn, session, ids),
        Row::View { scope, path, digest } => review::view(conn, session, scope, path, digest.as_deref()),
        Row::OpenConfirm(call) => confirm::open(conn, session, call, place.first_seq),
        Row::ResolveConfirm { tool_call_id } => confirm::resolve(conn, session, tool_call_id),
        Row::Artifact(artifact) => artifact::save(conn, session, artifact),
        Row::Runner(runner) => runner::save(conn, session, runner),
        Row::RunnerCursor { id, cursor } => runner::move_cursors(conn, &[Moved { session, runner: id, cursor: *cursor }]),
        Row::RunnerCapabilities { id, capabilities } => runner::learn(conn, session, id, capabilities.as_ref()),
        Row::RunnerEnding { id } => runner::end(conn, session, id),
        Row::RemoveRunner { id } => runner::remove(conn, session, id),
        Row::MethodNames { agent, version, names } => method_names::save(conn, agent, version, names),
        Row::Horizon(seq) => event::advance_horizon(conn, place.session, *seq),
    }
}

/// Applies one change of what belongs to no session.
pub(crate) fn apply_server(conn: &Connection, row: &ServerRow) -> Written {
    match row {
        ServerRow::Device(device) => device::add(conn, device),
        ServerRow::RenameDevice { id, name } => device::rename(conn, *id, name),
        ServerRow::DeviceUsed { id, at, address } => device::used(conn, *id, *at, address),
        ServerRow::RemoveDevice(id) => device::remove(conn, *id),
        ServerRow::Link(link) => link::save(conn, link),
        ServerRow::RemoveLink(id) => link::remove(conn, *id),
        ServerRow::Audit(entry) => audit::add(conn, entry),
        ServerRow::Preference { key, value } => preference::save(conn, key, value),
        ServerRow::RemovePreference { key } => preference::remove(conn, key),
        ServerRow::Push(push) => push::save(conn, push),
        ServerRow::RemovePush(device) => push::remove(conn, *device),
        ServerRow::DropEndpoint(endpoint) => push::drop_endpoint(conn, endpoint),
    }
}
