//! Devices: the browsers and programs that are let in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a device may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// Whatever its owner may.
    #[default]
    Full,
    /// See, but neither prompt nor approve nor change anything.
    ReadOnly,
}
