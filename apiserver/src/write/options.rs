//! The options and the outcome of a write. Values only.

use std::sync::Arc;

use crate::{admission::Admission, log::Object};

/// The treatment of undeclared fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them with a warning.
    #[default]
    Warn,
    /// Refuse the object.
    Strict,
}

/// The options of a write.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteOptions {
    /// The field manager.
    pub manager: String,
    /// Do everything but the write.
    pub dry_run: bool,
    /// Undeclared fields.
    pub validation: FieldValidation,
    /// What may change or refuse the write; nothing does for writes of the server itself.
    pub admission: Option<Arc<Admission>>,
}

impl WriteOptions {
    /// Whether nothing wants to see a write that changes nothing.
    pub(super) fn has_no_admission(&self) -> bool {
        self.admission.as_ref().is_none_or(|admission| admission.is_idle())
    }
}

/// What was wrong with a text that could be read all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaints {
    /// As warnings.
    pub warnings: Vec<String>,
    /// As the parts of a refusal.
    pub refusals: Vec<String>,
}

/// The treatment of dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted before.
    Foreground,
    /// They are orphaned.
    Orphan,
}

/// The options of a delete.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    /// Only if the object has this uid.
    pub uid: Option<String>,
    /// Only if the object has this version.
    pub resource_version: Option<String>,
    /// The treatment of dependents.
    pub propagation: Option<Propagation>,
    /// Whether it was said in the old way that dependents are deleted.
    pub says_dependents_go: bool,
    /// How many seconds a Pod gets to end, if not as many as it asks for.
    pub grace: Option<i64>,
    /// Do everything but the deletion.
    pub dry_run: bool,
    /// Only if the stored object cannot be read.
    pub only_unreadable: bool,
    /// What may refuse the deletion.
    pub admission: Option<Arc<Admission>>,
}

/// The result of a write.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The newest state; for a dry run what it would have been.
    pub object: Arc<Object>,
    /// The warnings.
    pub warnings: Vec<String>,
    /// Whether the object is new.
    pub created: bool,
}

impl Complaints {
    /// Those that are the same as warnings and in a refusal.
    pub(crate) fn of(complaints: Vec<String>) -> Self {
        Self { warnings: complaints.clone(), refusals: complaints }
    }

    /// Leaves out those about the insides of a field.
    pub(crate) fn forget(&mut self, field: &str) {
        let about = format!("duplicate field \"{field}");
        let is_inside = |complaint: &String| {
            let rest = complaint.strip_prefix(&about);
            rest.is_some_and(|rest| rest.starts_with(['"', '.', '[']))
        };
        self.warnings.retain(|complaint| !is_inside(complaint));
        self.refusals.retain(|complaint| !is_inside(complaint));
    }
}
