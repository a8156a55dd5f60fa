//! What is found in the schema of one version, and where.

use super::change::{CrdChange, Verdict};

/// A place in objects.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Such as `.spec.ports[*].name`.
    pub(super) path: String,
    /// Whether the parent needs it.
    pub(super) is_required: bool,
    /// Whether the parent needed it, so that each stored one has it.
    pub(super) was_required: bool,
    /// Whether it is in a list without keys, which Kubernetes compares as a whole.
    pub(super) is_in_list: bool,
}

/// A change at a place.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: String,
    pub(super) verdict: Verdict,
    pub(super) change: String,
    pub(super) remedy: String,
    /// Whether the server drops what is stored there.
    pub(super) is_loss: bool,
}

/// All changes of a schema.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) all: Vec<Found>,
    /// How many texts for people differ.
    pub(super) described: usize,
}

impl Place {
    pub(super) fn root() -> Self {
        Self { path: String::new(), is_required: true, was_required: true, is_in_list: false }
    }

    pub(super) fn field(&self, name: &str, is_required: bool) -> Self {
        let path = format!("{}.{name}", self.path);
        Self { path, is_required, was_required: false, is_in_list: self.is_in_list }
    }

    /// An item of a list, or a value of a map.
    pub(super) fn each(&self, is_in_list: bool) -> Self {
        let is_in_list = self.is_in_list || is_in_list;
        let path = format!("{}[*]", self.path);
        Self { path, is_required: false, was_required: false, is_in_list }
    }

    /// The operator writes it again.
    pub(super) fn is_in_status(&self) -> bool {
        self.path.starts_with(".status.")
    }
}

impl Findings {
    pub(super) fn add(
        &mut self,
        place: &Place,
        verdict: Verdict,
        change: impl Into<String>,
        remedy: &str,
    ) {
        let (path, change, remedy) = (place.path.clone(), change.into(), remedy.to_owned());
        self.all.push(Found { path, verdict, change, remedy, is_loss: false });
    }

    /// What is stored there is dropped at the next write. In a status it was only a report.
    pub(super) fn lose(&mut self, place: &Place, change: impl Into<String>, remedy: &str) {
        let verdict = if place.is_in_status() { Verdict::NeedsVersion } else { Verdict::Breaks };
        self.add(place, verdict, change, remedy);
        if let Some(last) = self.all.last_mut() {
            last.is_loss = true;
        }
    }

    /// Fewer values are valid. Kubernetes accepts a stored one until an update changes it.
    pub(super) fn tighten(&mut self, place: &Place, change: impl Into<String>) {
        let remedy = if place.is_in_list {
            "a stored list is accepted until it changes; for others write a new version"
        } else {
            "a stored value is accepted until it changes; for others write a new version"
        };
        self.add(place, Verdict::NeedsVersion, change, remedy);
    }

    /// More values are valid.
    pub(super) fn loosen(&mut self, place: &Place, change: impl Into<String>) {
        self.add(place, Verdict::Safe, change, "older clients may not know such values");
    }
}

impl Found {
    pub(super) fn of(self, crd: &str, version: &str) -> CrdChange {
        let Self { path, verdict, change, remedy, is_loss: _ } = self;
        CrdChange {
            verdict,
            crd: crd.to_owned(),
            version: Some(version.to_owned()),
            path,
            change,
            remedy,
        }
    }
}
