//! The parameters of a write.

use serde_json::Value;

use super::{object, versions::Versions};

/// The parameters of a write.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The field manager.
    pub manager: &'a str,
    /// The version that the request was made in, as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource that is written to.
    pub subresource: Option<&'a str>,
    /// The time, RFC 3339 in UTC with whole seconds.
    pub now: &'a str,
    /// Fields that this endpoint ignores and nobody manages through it in this version, as `status` or
    /// `metadata.labels`.
    pub reset: &'a [&'a str],
    /// What an object of a built-in type has before anything is set: the fields that Go writes
    /// although they are empty. `None` for custom resources.
    pub empty: Option<&'a Value>,
    /// The versions in which the type has other fields; without them it is the same in all.
    pub versions: Option<&'a dyn Versions>,
}

impl Request<'_> {
    /// The object that a write starts from, without its managers.
    pub(super) fn before(&self, live: Option<&Value>, sent: &Value) -> Value {
        let mut before = match (live, self.empty) {
            (Some(live), _) => object::without_managed_fields(live),
            (None, Some(empty)) => empty.clone(),
            (None, None) => object::empty_like(sent),
        };
        before["apiVersion"] = Value::from(self.api_version);
        before
    }
}
