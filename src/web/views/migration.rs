//! The JSON form of a migration of a type from old versions.

use schemars::JsonSchema;
use serde::Serialize;

use super::object::KeyView;
use crate::board::Migration;

/// How far the parents are that may be stored in an old version of their type.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Migration")]
pub(super) struct MigrationView {
    /// `running`, `waiting` or `complete`.
    state: &'static str,
    /// The same with numbers, or why it waits and what to do.
    message: String,
    /// The old versions; empty while they are not known.
    from: Vec<String>,
    /// The version in which objects are stored now; empty while it is not known.
    to: String,
    /// How many objects need nothing more.
    done: usize,
    /// About how many are left; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<usize>,
    /// How many the API server refused.
    failed: usize,
    /// The first of those.
    failures: Vec<FailureView>,
}

/// An object that cannot be written.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MigrationFailure")]
struct FailureView {
    #[serde(flatten)]
    object: KeyView,
    /// What the API server says.
    message: String,
}

impl From<Migration> for MigrationView {
    fn from(migration: Migration) -> Self {
        let (state, message) = (migration.name(), migration.sentence());
        let Migration { from, to, done, remaining, failed, failures, state: _ } = migration;
        let failures = failures
            .into_iter()
            .map(|(object, message)| FailureView { object: (&object).into(), message });
        Self { state, message, from, to, done, remaining, failed, failures: failures.collect() }
    }
}
