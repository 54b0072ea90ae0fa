//! The project's own file as the page sees it. What is in the file and what consent leads to is known to whoever starts the server.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

type Answer<T> = Result<T, TrustRefusal>;
type Consent = dyn Fn(&str) -> Answer<()> + Send + Sync;

/// What can be done about the file. Each call may block.
#[derive(Clone)]
pub struct Trust {
    /// Reads it anew.
    pub look: Arc<dyn Fn() -> Answer<ProjectFile> + Send + Sync>,
    /// To the content with this hash. The server takes itself up anew afterwards.
    pub consent: Arc<Consent>,
    /// Likewise.
    pub revoke: Arc<dyn Fn() -> Answer<()> + Send + Sync>,
}

impl fmt::Debug for Trust {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Trust")
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProjectFile {
    /// As people know it.
    pub path: String,
    pub state: TrustState,
    /// Of its content and of the scripts it runs: this is what consent is given to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The very lines that need consent.
    pub lines: Vec<TrustLine>,
    /// The files below the project that those lines run. Consent covers their content.
    pub scripts: Vec<TrustScript>,
    /// The running server was started with just this content and this state.
    pub applied: bool,
    /// Why it cannot be consented to as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    /// There is no file.
    None,
    /// Nothing in it needs consent.
    Harmless,
    /// What needs consent does not count.
    Waiting,
    /// All of it counts.
    Trusted,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TrustLine {
    /// From 1.
    pub line: u64,
    /// Hidden characters made visible.
    pub text: String,
    pub key: String,
    /// What it does.
    pub why: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TrustScript {
    /// Relative to the project.
    pub path: String,
    /// The key that names it.
    pub key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How it begins, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why its content is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug)]
pub enum TrustRefusal {
    /// The file is not what the person saw, or is gone.
    Changed,
    /// The server could not start with it.
    Unusable(String),
    /// The server cannot read or store what it has to.
    Failed(String),
}
