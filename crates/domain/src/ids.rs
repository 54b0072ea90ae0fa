//! Newtypes for the ids of the system. Ids are made at the edge, or derived here from one that was.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = String, format = "uuid")]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id!(
    /// A conversation.
    SessionId
);
uuid_id!(
    /// One message of a conversation, of whatever role.
    MessageId
);
uuid_id!(
    /// One turn: from a user's message to its final state.
    TurnId
);
uuid_id!(
    /// A review artifact: a diff that was shown.
    ArtifactId
);
uuid_id!(
    /// A permission that an agent asked for.
    PermissionId
);
uuid_id!(
    /// Something that was sent along with a message.
    AttachmentId
);
uuid_id!(
    /// An answer to permissions that was remembered.
    RuleId
);
uuid_id!(
    /// A comment on a change.
    CommentId
);
uuid_id!(
    /// A browser or program that is let in.
    DeviceId
);
uuid_id!(
    /// A runner, and so the one agent process that it owns.
    RunnerId
);

impl PermissionId {
    /// The id by which the reply to a demand is written to the agent: the same however often, and by whichever server, it is given.
    pub fn reply_write(self) -> Uuid {
        Uuid::new_v5(&self.0, b"reply")
    }
}

impl SessionId {
    /// The id by which an agent is told to stop a call: it is told once, by whichever server.
    pub fn cancel_write(self, call: &str) -> Uuid {
        Uuid::new_v5(&self.0, format!("cancel/{call}").as_bytes())
    }
}

impl TurnId {
    /// The id of the `step`th assistant message of this turn: derived, so that a repeated step names the same message.
    pub fn assistant_message(self, step: u32, attempt: u32) -> MessageId {
        MessageId(Uuid::new_v5(&self.0, format!("assistant/{step}/{attempt}").as_bytes()))
    }

    /// The id of the message that holds the result of a tool call.
    pub fn tool_message(self, call: &str) -> MessageId {
        MessageId(Uuid::new_v5(&self.0, format!("tool/{call}").as_bytes()))
    }

    /// The id by which a prompt of a tool call is written to an agent: the same however often it is sent. `round` counts what the
    /// call's agent was told afterwards.
    pub fn prompt_write(self, call: &str, round: u32) -> Uuid {
        let name = if round == 0 { format!("prompt/{call}") } else { format!("follow-up/{round}/{call}") };
        Uuid::new_v5(&self.0, name.as_bytes())
    }

    /// By what the agent's answer to a prompt is known.
    pub fn prompt_key(self, call: &str, round: u32) -> String {
        if round == 0 { call.to_owned() } else { self.prompt_write(call, round).to_string() }
    }
}
