//! The settings as the page sees them. What they are, where they come from and what they must look like is known to whoever starts
//! the server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use engine::Choices;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What was chosen in the page: key and text, as a file would have it.
pub type Here = BTreeMap<String, String>;

type List = dyn Fn(&Here) -> Vec<SettingView> + Send + Sync;
type Change = dyn Fn(&Here, &Map<String, Value>) -> Result<(Here, Choices), SettingRefusal> + Send + Sync;

type ViewMainAi = dyn Fn() -> MainAiState + Send + Sync;
type SetMainAi = dyn Fn(&Here, Option<NewMainAi>) -> Result<(Here, Choices), SettingRefusal> + Send + Sync;

/// What can be done about the settings. Each call may block.
#[derive(Clone)]
pub struct Configuration {
    /// All of them, with what was chosen here.
    pub list: Arc<List>,
    /// What is chosen once the wishes are granted (null: what would hold otherwise), and what the engine goes by from then on.
    pub change: Arc<Change>,
    /// What is known of the main AI that was set up here.
    pub main_ai: Arc<ViewMainAi>,
    /// Likewise as `change`, once it is set up or forgotten.
    pub set_main_ai: Arc<SetMainAi>,
}

/// The main AI that was set up in the page; its key is not in it.
#[derive(Clone, Debug, Default)]
pub struct MainAiState {
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub is_set: bool,
    pub has_key: bool,
    pub added_at: Option<Timestamp>,
    pub added_by: Option<String>,
    /// The variable, flag or file that sets it instead.
    pub locked: Option<String>,
}

/// One to be kept. Not printable: it has the key.
#[derive(Clone)]
pub struct NewMainAi {
    /// None for an OpenAI-compatible endpoint, which has a base URL.
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    pub model: String,
    pub added_at: Timestamp,
    /// The device that it came from.
    pub added_by: String,
}

impl fmt::Debug for Configuration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Configuration")
    }
}

#[derive(Clone, Debug)]
pub enum SettingRefusal {
    /// There is no such setting.
    Unknown(String),
    /// It is set where the page cannot reach, or must not be set here.
    Fixed(String),
    /// The value is not one that the server could start with.
    Bad(String),
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SettingView {
    /// As in `voxpilot.toml`.
    pub key: String,
    pub title: String,
    /// What it means, for people.
    pub about: String,
    /// The part of the settings page that it belongs to.
    pub section: String,
    pub kind: SettingKind,
    /// The values that it can have, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What its number counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<SettingUnit>,
    /// What is set; null where it is not set. A secret is only said to be there.
    pub value: Value,
    /// What would hold if nobody set it; null where nothing would.
    pub default: Value,
    /// What applies: the value, or what the server goes by where nothing is set; null where that is no limit, or nothing.
    pub effective: Value,
    pub origin: SettingOrigin,
    /// The variable that sets it.
    pub variable: String,
    /// Set by the environment or the command line, which go before what is chosen here.
    pub locked: bool,
    /// It can be chosen here.
    pub changeable: bool,
    /// A change takes effect when the server is next started.
    pub restart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingKind {
    Text,
    Number,
    Boolean,
    Choice,
    List,
    Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SettingUnit {
    Seconds,
    Steps,
}

/// Where the value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SettingOrigin {
    pub kind: OriginKind,
    /// The variable, the flag or the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OriginKind {
    Default,
    User,
    Project,
    Environment,
    Flag,
    /// Chosen in the page.
    Here,
}
