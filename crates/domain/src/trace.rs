//! What a line of raw traffic is, in the words of whoever looks at it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = TraceDirection)]
pub enum Direction {
    ToAgent,
    FromAgent,
    /// Said by the runner that holds the agent's pipes: its end, a line too long to keep, a full disk.
    Remark,
}

/// As far as the envelope of a line tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = TraceKind)]
pub enum Kind {
    Request,
    Notification,
    Response,
    Error,
    Batch,
    /// Not JSON, or no message.
    Text,
    Exit,
    Notice,
}
