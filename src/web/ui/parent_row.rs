//! A parent in a table of parents.

use std::time::SystemTime;

use super::{
    glance::{Glance, LastReconcile},
    links,
    parts::{Mark, Prose},
    time::{Moment, took},
};
use crate::object::ObjectKey;

pub(super) struct ParentRow {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) href: String,
    pub(super) mark: Mark,
    pub(super) since: Option<Moment>,
    pub(super) why: Prose,
    pub(super) last: Option<(Mark, Moment, String)>,
    pub(super) next: Option<Moment>,
}

impl ParentRow {
    pub(super) fn new(operator: &str, key: &ObjectKey, glance: Glance, now: SystemTime) -> Self {
        let Glance { phase, since, message, last, next } = glance;
        let last = last.map(|LastReconcile { outcome, started, duration }| {
            (Mark::of_outcome(&outcome), Moment::past(started, now), took(duration))
        });
        Self {
            key: key.to_string(),
            name: key.name.to_string(),
            namespace: key.namespace.as_deref().map(ToOwned::to_owned),
            href: links::parent(operator, key),
            mark: phase.into(),
            since: since.map(|at| Moment::past(at, now)),
            why: message.unwrap_or_default().into(),
            last,
            next: next.map(|at| Moment::ahead(at, now)),
        }
    }
}
