//! Jobs that have finished and that their TTL removes.

use super::{K8sType, Object};

impl K8sType {
    pub(crate) fn is_job(&self) -> bool {
        (self.group(), self.kind()) == ("batch", "Job")
    }
}

impl Object {
    /// Whether a Job with a TTL has succeeded, also while it is being deleted; `None` unless it has finished, and for
    /// other objects.
    pub(crate) fn has_succeeded_with_ttl(&self) -> Option<bool> {
        if !self.ty().is_job() {
            return None;
        }
        let status = self.part_of("status", &["conditions"]);
        let is_true = |ty: &str| {
            let conditions = status["conditions"].as_array();
            let is_it = |it: &serde_json::Value| it["type"] == ty && it["status"] == "True";
            conditions.is_some_and(|all| all.iter().any(is_it))
        };
        let has_succeeded = is_true("Complete");
        let spec = || self.part_of("spec", &["ttlSecondsAfterFinished"]);
        let is_removed =
            (has_succeeded || is_true("Failed")) && !spec()["ttlSecondsAfterFinished"].is_null();
        is_removed.then_some(has_succeeded)
    }
}
