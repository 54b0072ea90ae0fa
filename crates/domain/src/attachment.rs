//! What a person sends along with a message, as the conversation shows it. The bytes are kept beside the log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::AttachmentId;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Attachment {
    pub id: AttachmentId,
    pub kind: AttachmentKind,
    /// The file's name; of a path in the work directory, that path.
    pub name: String,
    pub mime_type: String,
    /// In bytes; of a path, when the message was sent.
    pub size: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    Image,
    /// A file that came with the message.
    File,
    /// A file or directory of the work directory, by its path.
    Path,
}
