//! The versions of a custom type as forms that objects are stored in.
//!
//! ```text
//!  request ─ prune, default (its version) ─ convert ─ prune (storage version) ─> stored
//!  stored ─ prune, default (the version in it) ─ convert ─ prune (version of the request) ─> answer
//! ```
//!
//! A version that is not served may still be stored.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::schema::{self, LazySchema};

/// The versions of one type, by their `apiVersion`.
#[derive(Debug, Default)]
pub(crate) struct Forms(BTreeMap<String, Form>);

/// What objects of one version look like.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// Declares fields and defaults.
    pub schema: Arc<LazySchema>,
    /// See [`Resource::epoch`](super::Resource::epoch).
    pub epoch: u64,
}

impl Forms {
    /// A version, if the type has it.
    pub(crate) fn get(&self, api_version: &str) -> Option<&Form> {
        self.0.get(api_version)
    }

    /// Drops what the version that is about to be stored does not declare.
    pub(crate) fn prune(&self, object: &mut Value) {
        if let Some(form) = self.of(object) {
            schema::prune(&form.schema, object);
        }
    }

    /// Completes what was stored under `epoch`, as its own version reads it.
    pub(crate) fn complete(&self, object: &mut Value, epoch: u64) {
        if let Some(form) = self.of(object).filter(|form| form.epoch != epoch) {
            schema::prune(&form.schema, object);
            schema::default(&form.schema, object);
        }
    }

    fn of(&self, object: &Value) -> Option<&Form> {
        self.get(object["apiVersion"].as_str()?)
    }
}

impl FromIterator<(String, Form)> for Forms {
    fn from_iter<I: IntoIterator<Item = (String, Form)>>(forms: I) -> Self {
        Self(forms.into_iter().collect())
    }
}
