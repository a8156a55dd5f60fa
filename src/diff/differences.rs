//! Where a live child is not what an apply should have left: values that differ, and values that we
//! do not own. Decides nothing.

use std::{borrow::Cow, collections::HashSet};

use serde_json::{Value, json};

use super::{
    contained,
    owned::{self, Ownership},
    path::MAX_PATHS,
};
use crate::{object::Object, operator::OperatorName, reply::Defaults};

/// Where a live object is not what an apply of a body should have left.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Paths where the object differs, or has a field that is no longer desired.
    pub(crate) changed: Vec<String>,
    /// The values are up to date, but we do not own them.
    pub(crate) lost: Vec<String>,
}

impl Differences {
    pub(crate) fn between(
        body: &Value,
        live: &Object,
        operator: &OperatorName,
        defaults: &Defaults,
    ) -> Self {
        let desired = without_precondition(body);
        let fields = live.applied_fields(operator.as_str());
        let mut changed = contained::differences_from(live, &desired, fields.as_ref(), defaults);
        let Some(fields) = fields else {
            return Self { changed, lost: vec![".metadata.managedFields".to_owned()] };
        };
        let Ownership { beyond, lost } = owned::ownership(&fields, &desired);
        changed.extend(beyond);
        Self { changed, lost }
    }

    /// The same for what was applied to the status.
    pub(crate) fn in_status(body: &Value, live: &Object, operator: &OperatorName) -> Self {
        let desired = json!({"status": body.get("status").cloned().unwrap_or_else(|| json!({}))});
        let fields = live.applied_status(operator.as_str());
        let mut changed =
            contained::differences_from(live, &desired, fields.as_ref(), &Defaults::default());
        let Some(fields) = fields else {
            return Self { changed, lost: vec![".status".to_owned()] };
        };
        let Ownership { beyond, lost } = owned::ownership(&fields, &desired);
        changed.extend(beyond);
        Self { changed, lost }
    }

    /// Whether everything that differs here also differs there.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let there: HashSet<&String> = other.changed.iter().collect();
        self.changed.iter().all(|path| there.contains(path))
    }

    /// Where the object differs, at most [`MAX_PATHS`].
    pub(crate) fn changed_paths(mut self) -> Vec<String> {
        self.changed.truncate(MAX_PATHS);
        self.changed
    }

    /// The paths to report.
    pub(crate) fn paths(self) -> Vec<String> {
        let mut paths = if self.changed.is_empty() { self.lost } else { self.changed };
        paths.truncate(MAX_PATHS);
        paths
    }
}

fn without_precondition(body: &Value) -> Cow<'_, Value> {
    const FIELDS: [&str; 2] = ["uid", "resourceVersion"];
    if FIELDS.iter().all(|field| body["metadata"].get(field).is_none()) {
        return Cow::Borrowed(body);
    }
    let mut desired = body.clone();
    if let Some(metadata) = desired["metadata"].as_object_mut() {
        metadata.retain(|name, _| !FIELDS.contains(&name.as_str()));
    }
    Cow::Owned(desired)
}
