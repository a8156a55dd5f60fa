//! The sets of a Deployment, and which of them has its template.

use serde_json::Value;

use crate::simulation::{
    object::{age, annotation},
    template,
};

/// The annotation with the revision of a set, and of a Deployment.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The label by which sets of one Deployment differ.
pub(super) const HASH: &str = "pod-template-hash";

/// The sets of a Deployment.
#[derive(Debug)]
pub(super) struct Sets<'a> {
    /// The one with the template of the Deployment.
    pub new: Option<&'a Value>,
    /// The others, the oldest first.
    pub old: Vec<&'a Value>,
}

impl<'a> Sets<'a> {
    /// Finds the set with the template of the Deployment among its sets; the others are old.
    pub(super) fn of(deployment: &Value, sets: &[&'a Value]) -> Self {
        let mut sets = sets.to_vec();
        sets.sort_by_key(|set| age(set));
        let plain = |object: &Value| template::without_label(&object["spec"]["template"], HASH);
        let wanted = plain(deployment);
        let new = sets.iter().copied().find(|set| plain(set) == wanted);
        let is_old = |set: &&Value| new.is_none_or(|new| !std::ptr::eq(new, *set));
        Self { new, old: sets.into_iter().filter(is_old).collect() }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Value> {
        self.old.iter().copied().chain(self.new)
    }

    /// The revision of the new set: one more than that of the others.
    pub(super) fn next_revision(&self) -> i64 {
        self.old.iter().map(|set| revision(set)).max().unwrap_or_default() + 1
    }
}

/// The revision of a set, or 0.
pub(super) fn revision(set: &Value) -> i64 {
    annotation(set, REVISION).and_then(|revision| revision.parse().ok()).unwrap_or_default()
}
