//! Conditions, for handlers that set some of their own. Their times and generations are set when a
//! status is written.

use std::fmt;

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{self as meta, Time},
    jiff::Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::object::Object;

/// The type of the condition that everything desired is written.
pub(crate) const SYNCED: &str = "Synced";
/// The type of the condition that the parent can be used, which a handler may return.
pub(crate) const READY: &str = "Ready";

/// The condition types of the framework. Conditions of these types in a handler's response are not
/// sent, except `Ready`, and except into a shared status (`OperatorConfig::sharing_status`), where
/// the framework sets none.
pub(crate) const FRAMEWORK_CONDITIONS: [&str; 4] = [SYNCED, READY, "Reconciling", "Stalled"];

/// Types that the framework sets at times; a handler may set them too.
pub(super) const OCCASIONAL: [&str; 6] =
    ["Paused", "DeletionsHeld", "Flapping", "JobsFinished", "Progressing", "Updated"];

/// A condition, after the conventions of the Kubernetes API.
///
/// The framework sets the time and the generation when it writes the status, so that they change
/// only when they should. Here they are the values that were read. Those of a handler are not sent,
/// except for the generation into a shared status (`OperatorConfig::sharing_status`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its type, for example `Ready`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, as one `CamelCase` word.
    #[serde(default)]
    pub reason: String,
    /// Why, for users.
    #[serde(default)]
    pub message: String,
    /// When its status changed last (RFC 3339), if it was read.
    #[serde(default, rename = "lastTransitionTime", skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
    /// The generation that it describes, if it was read.
    #[serde(default, rename = "observedGeneration", skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It does.
    True,
    /// It does not.
    False,
    /// It is not known.
    Unknown,
}

/// Conditions, at most one of a type; in JSON a list.
///
/// ```
/// use operetta::operator::{Condition, ConditionStatus, Conditions, SyncResponse};
/// use serde_json::json;
///
/// let mut conditions = Conditions::new();
/// conditions.set(Condition::new("Backed", false, "NoBackup", "no backup yet"));
/// conditions.set(Condition::new("Backed", true, "Done", "a backup of today"));
/// conditions.set(Condition::new("Fast", ConditionStatus::Unknown, "NotMeasured", ""));
/// assert!(conditions.is_true("Backed") && !conditions.is_true("Fast"));
///
/// let response = SyncResponse::status(json!({"conditions": conditions}));
/// assert_eq!(response.status.unwrap()["conditions"][0]["reason"], "Done");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(Vec<Condition>);

impl Condition {
    /// A condition; `true` and `false` are statuses.
    pub fn new(
        ty: impl Into<String>,
        status: impl Into<ConditionStatus>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (ty, status) = (ty.into(), status.into());
        let (reason, message) = (reason.into(), message.into());
        let (last_transition_time, observed_generation) = (None, None);
        Self { ty, status, reason, message, last_transition_time, observed_generation }
    }

    /// Whether it holds.
    pub fn is_true(&self) -> bool {
        self.status == ConditionStatus::True
    }
}

impl ConditionStatus {
    /// The value that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl Conditions {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Those in the status of an object, without the framework's own of any operator, and without times and
    /// generations: to change some of them and return the result. Anything but a condition is
    /// ignored.
    pub fn of(object: &Object) -> Self {
        let status = object.field("status").unwrap_or_default();
        let mut conditions = Self::from_json(&status["conditions"]);
        let is_ours = |ty: &str| {
            let plain = ty.split_once('/').map_or(ty, |(_, plain)| plain);
            FRAMEWORK_CONDITIONS.contains(&plain) || OCCASIONAL.contains(&plain)
        };
        conditions.0.retain(|condition| !is_ours(&condition.ty));
        for condition in &mut conditions.0 {
            (condition.last_transition_time, condition.observed_generation) = (None, None);
        }
        conditions
    }

    /// Those in a JSON list; anything but a condition is ignored.
    pub fn from_json(list: &Value) -> Self {
        list.as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| Condition::deserialize(it).ok())
            .collect()
    }

    /// Sets a condition, replacing the one of its type.
    pub fn set(&mut self, condition: Condition) {
        match self.0.iter_mut().find(|other| other.ty == condition.ty) {
            Some(other) => *other = condition,
            None => self.0.push(condition),
        }
    }

    /// The condition of a type.
    pub fn get(&self, ty: &str) -> Option<&Condition> {
        self.0.iter().find(|condition| condition.ty == ty)
    }

    /// Whether the condition of a type exists and holds.
    pub fn is_true(&self, ty: &str) -> bool {
        self.get(ty).is_some_and(Condition::is_true)
    }

    /// All of them, in the order in which their types were set first.
    pub fn iter(&self) -> std::slice::Iter<'_, Condition> {
        self.0.iter()
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromIterator<Condition> for Conditions {
    fn from_iter<I: IntoIterator<Item = Condition>>(conditions: I) -> Self {
        let mut all = Self::new();
        conditions.into_iter().for_each(|condition| all.set(condition));
        all
    }
}

impl<'a> IntoIterator for &'a Conditions {
    type Item = &'a Condition;
    type IntoIter = std::slice::Iter<'a, Condition>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A status that Kubernetes does not know is `Unknown`.
impl From<meta::Condition> for Condition {
    fn from(condition: meta::Condition) -> Self {
        let status = match condition.status.as_str() {
            "True" => ConditionStatus::True,
            "False" => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        };
        let time = Some(condition.last_transition_time.0).filter(|it| *it != Timestamp::UNIX_EPOCH);
        Self {
            last_transition_time: time.map(|time| time.to_string()),
            observed_generation: condition.observed_generation,
            ..Self::new(condition.type_, status, condition.reason, condition.message)
        }
    }
}

/// A missing time becomes the epoch: the actual one is set when the status is written.
impl From<Condition> for meta::Condition {
    fn from(condition: Condition) -> Self {
        let time = condition.last_transition_time.and_then(|time| time.parse().ok());
        Self {
            type_: condition.ty,
            status: condition.status.as_str().to_owned(),
            reason: condition.reason,
            message: condition.message,
            last_transition_time: Time(time.unwrap_or(Timestamp::UNIX_EPOCH)),
            observed_generation: condition.observed_generation,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn conditions_of_an_object_are_those_that_a_handler_may_return() {
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let of = |ty: &str| json!({"type": ty, "status": "True", "lastTransitionTime": "x"});
        let value = json!({
            "metadata": {"name": "a", "uid": "u", "resourceVersion": "1"},
            "status": {"conditions": [
                of("Synced"), of("Ready"), of("Mine"), of("Reconciling"), of("Stalled"),
                of("Paused"), of("DeletionsHeld"), of("Flapping"), 7,
                {"type": "Odd", "status": "Perhaps"},
            ]},
        });
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        let conditions = Conditions::of(&object);
        assert_eq!(conditions.iter().map(|it| it.ty.as_str()).collect::<Vec<_>>(), ["Mine"]);
        let mine = json!([{"type": "Mine", "status": "True", "reason": "", "message": ""}]);
        assert_eq!(json!(conditions), mine);
    }

    #[test]
    fn conditions_of_kubernetes_convert_both_ways() {
        let condition = Condition::new("Mine", ConditionStatus::Unknown, "Why", "because");
        assert_eq!(Condition::from(meta::Condition::from(condition.clone())), condition);
        let time = Some("2026-01-01T00:00:00Z".to_owned());
        let read =
            Condition { last_transition_time: time, observed_generation: Some(3), ..condition };
        assert_eq!(Condition::from(meta::Condition::from(read.clone())), read);
    }

    /// Otherwise a status that is read and written back would lack required fields.
    #[test]
    fn a_condition_keeps_all_fields_when_it_is_read_and_written() {
        let read = json!([{
            "type": "Mine", "status": "True", "reason": "Why", "message": "because",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 3,
        }]);
        let conditions: Conditions = serde_json::from_value(read.clone()).unwrap();
        assert_eq!(json!(conditions), read);
    }
}
