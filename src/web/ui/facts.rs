//! Lists of names with values, and the rows of caches.

use std::{fmt, time::SystemTime};

use super::{
    links,
    parts::{Mark, count, size},
    time::Moment,
};
use crate::{board::TypeSnapshot, object::K8sType, web::attention::problems};

#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// Whether it is shown as code, such as names and versions.
    pub(super) is_code: bool,
}

#[derive(Debug)]
pub(super) struct CacheRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) href: String,
    pub(super) mark: Mark,
    pub(super) objects: String,
    pub(super) size: String,
    pub(super) last_event: Option<Moment>,
    pub(super) restarts: u64,
    pub(super) problems: Vec<String>,
}

impl Fact {
    pub(super) fn text(name: &'static str, value: impl fmt::Display) -> Self {
        Self { name, value: value.to_string(), is_code: false }
    }

    pub(super) fn code(name: &'static str, value: impl fmt::Display) -> Self {
        Self { name, value: value.to_string(), is_code: true }
    }
}

impl CacheRow {
    pub(super) fn new(cache: &TypeSnapshot, now: SystemTime) -> Self {
        let TypeSnapshot { store, state } = cache;
        let problems = problems(cache);
        Self {
            name: store.ty().resource_name(),
            kind: store.ty().kind().to_owned(),
            href: links::cache(store.ty()),
            mark: mark(cache, !problems.is_empty()),
            objects: count(store.len()),
            size: size(store.bytes()),
            last_event: state.last_event.map(|at| Moment::past(at, now)),
            restarts: state.restarts,
            problems,
        }
    }
}

fn mark(cache: &TypeSnapshot, has_problems: bool) -> Mark {
    if cache.state.error.is_some() {
        Mark::bad("failing")
    } else if has_problems {
        Mark::warn("degraded")
    } else if cache.store.is_synced() {
        Mark::good("synced")
    } else {
        Mark::busy("listing")
    }
}

pub(super) fn type_words(ty: &K8sType) -> String {
    format!("{} ({})", ty.kind(), ty.api_version())
}
