//! The JSON form of a pause.

use schemars::JsonSchema;
use serde::Serialize;

use super::object::Time;
use crate::operator::Pause;

/// The pause of an operator or a parent by a user.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pause")]
pub(in crate::web) struct PauseView {
    /// The user, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Since when; of an annotation that does not say so, since it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// When it ends by itself; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Time>,
    /// Why, if the user said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<&Pause> for PauseView {
    fn from(pause: &Pause) -> Self {
        Self {
            by: pause.by().map(str::to_owned),
            since: pause.since().map(Time),
            until: pause.until().map(Time),
            reason: pause.reason().map(str::to_owned),
        }
    }
}
