//! The conditions of an object as they are, whoever wrote them.

use serde_json::Value;

/// A condition of a status.
pub(super) struct Condition<'a> {
    ty: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    message: &'a str,
    /// The generation that it is about, if it says so.
    pub(super) generation: Option<i64>,
}

impl<'a> Condition<'a> {
    pub(super) fn of(status: &'a Value, ty: &'a str) -> Option<Self> {
        let mut conditions = status["conditions"].as_array()?.iter();
        let found = conditions.find(|condition| condition["type"] == ty)?;
        let text = |name: &str| found[name].as_str().unwrap_or_default();
        let (status, reason, message) = (text("status"), text("reason"), text("message"));
        let generation = found["observedGeneration"].as_i64();
        Some(Self { ty, status, reason, message, generation })
    }

    /// A condition whose status is `True`.
    pub(super) fn holding(status: &'a Value, ty: &'a str) -> Option<Self> {
        Self::of(status, ty).filter(|condition| condition.status == "True")
    }

    pub(super) fn text(&self) -> String {
        let otherwise = format!("{} is {}", self.ty, self.status);
        joined(self.reason, self.message, &otherwise)
    }
}

/// A reason and a message as one text.
pub(super) fn joined(reason: &str, message: &str, otherwise: &str) -> String {
    match (reason, message) {
        ("", "") => otherwise.to_owned(),
        (one, "") | ("", one) => one.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}
