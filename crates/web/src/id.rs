//! The ids in a path. A text that is no id names nothing, so it is answered as what is not there.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use domain::ids::{ArtifactId, AttachmentId, CommentId, DeviceId, MessageId, PermissionId, RuleId, SessionId};
use uuid::Uuid;

use crate::error::{ApiError, not_found};

/// A segment of the path, parsed.
pub(crate) struct Id<T>(pub(crate) T);

/// What can stand in a path: the segment's name in the route, and what people call the thing.
pub(crate) trait Segment: FromStr {
    const NAME: &'static str;
    const WHAT: &'static str;
}

macro_rules! segments {
    ($($id:ty = $name:literal, $what:literal;)*) => {
        $(impl Segment for $id {
            const NAME: &'static str = $name;
            const WHAT: &'static str = $what;
        })*
    };
}

segments! {
    SessionId = "id", "session";
    ArtifactId = "id", "artifact";
    MessageId = "message_id", "message";
    AttachmentId = "attachment_id", "attachment";
    PermissionId = "request_id", "permission";
    RuleId = "rule_id", "remembered answer";
    CommentId = "comment_id", "comment";
    DeviceId = "device_id", "device";
    // The two parts of an entry of the trace.
    Uuid = "runner", "entry";
    u64 = "seq", "entry";
}

impl<T: Segment, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id<T>, ApiError> {
        let missing = || not_found(T::WHAT);
        let segments = RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
        let text = segments.iter().find_map(|(name, text)| (name == T::NAME).then_some(text));
        text.and_then(|text| text.parse().ok()).map(Id).ok_or_else(missing)
    }
}
