//! What can go wrong with a completion, named for what a person or the engine can do about it.
//! A fault never carries a key.

/// Its display is one sentence for a person: which endpoint, what happened, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the model endpoint {host} did not accept the access key (http {status}): check {variables}")]
    Unauthorized {
        host: String,
        status: u16,
        /// The settings that hold the key.
        variables: String,
    },
    #[error("the model endpoint {host} is limiting requests: try again {}", when(.retry_after_s))]
    RateLimited { host: String, retry_after_s: Option<u64> },
    #[error("the model endpoint {host} is failing{}: try again later", because(.status, .detail))]
    Unavailable { host: String, status: Option<u16>, detail: String },
    #[error("the model endpoint {host} has sent nothing for {silent_s} s: try again, or choose another model")]
    Stalled { host: String, silent_s: u64 },
    #[error("the connection to the model endpoint {host} broke before the answer was complete: try again")]
    Cut { host: String },
    #[error("cannot connect to the model endpoint {host} ({reason}): check its address and that it is running")]
    Refused { host: String, reason: String },
    #[error("the model endpoint {host} rejected the request{}: check the model's name and its address", because(.status, .detail))]
    BadRequest { host: String, status: Option<u16>, detail: String },
    #[error("the model endpoint {host} sent something that is not a chat completion ({detail}): check its address")]
    Malformed { host: String, detail: String },
    #[error("the model endpoint {host} {reason}, which was not followed: configure the address that it really has")]
    Redirected {
        host: String,
        /// Host and port that it leads to.
        to: String,
        reason: String,
    },
    #[error("the model at {host} does not come to an end: its answer was broken off after {most_mib} MiB; ask for less at once")]
    TooLong { host: String, most_mib: usize },
    #[error("the model at {host} answered with neither text nor a tool call: try again, or choose another model")]
    Empty { host: String },
}

impl Fault {
    /// Every name that [`Fault::code`] can give.
    pub const CODES: [&str; 11] = [
        "model_unauthorized",
        "model_rate_limited",
        "model_unavailable",
        "model_stalled",
        "model_cut",
        "model_unreachable",
        "model_bad_request",
        "model_malformed",
        "model_redirected",
        "model_too_long",
        "model_empty",
    ];

    /// The stable name of the fault in the `error` event.
    pub fn code(&self) -> &'static str {
        let [unauthorized, rate_limited, unavailable, stalled, cut, unreachable, bad_request, malformed, redirected, too_long, empty] =
            Self::CODES;
        match self {
            Fault::Unauthorized { .. } => unauthorized,
            Fault::RateLimited { .. } => rate_limited,
            Fault::Unavailable { .. } => unavailable,
            Fault::Stalled { .. } => stalled,
            Fault::Cut { .. } => cut,
            Fault::Refused { .. } => unreachable,
            Fault::BadRequest { .. } => bad_request,
            Fault::Malformed { .. } => malformed,
            Fault::Redirected { .. } => redirected,
            Fault::TooLong { .. } => too_long,
            Fault::Empty { .. } => empty,
        }
    }

    /// What the fault is to somebody who has already seen part of the answer: however the transport
    /// failed, that answer was cut, and whoever shows it has to take it back before another try.
    pub(crate) fn after_output(self) -> Fault {
        match self {
            Fault::RateLimited { host, .. } | Fault::Unavailable { host, .. } | Fault::Refused { host, .. } => Fault::Cut { host },
            other => other,
        }
    }
}

fn when(retry_after_s: &Option<u64>) -> String {
    match retry_after_s {
        Some(seconds) => format!("in {seconds} s"),
        None => "in a while".to_owned(),
    }
}

fn because(status: &Option<u16>, detail: &str) -> String {
    match (status, detail) {
        (Some(status), "") => format!(" (http {status})"),
        (Some(status), detail) => format!(" (http {status}, {detail})"),
        (None, "") => String::new(),
        (None, detail) => format!(" ({detail})"),
    }
}
