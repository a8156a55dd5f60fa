//! Facts for a list of names with values, and the little that is said of types and caches.

use std::{fmt, time::SystemTime};

use super::{
    links,
    parts::{Mark, count, size},
    time::Moment,
};
use crate::{board::TypeSnapshot, object::K8sType};

/// A value with its name.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// Whether it is what machines read: names, versions.
    pub(super) is_code: bool,
}

/// A cache in one row.
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
    /// What is wrong, in sentences.
    pub(super) troubles: Vec<String>,
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
        let troubles = troubles(cache);
        Self {
            name: store.ty().resource_name(),
            kind: store.ty().kind().to_owned(),
            href: links::cache(store.ty()),
            mark: mark(cache, !troubles.is_empty()),
            objects: count(store.len()),
            size: size(store.bytes()),
            last_event: state.last_event.map(|at| Moment::past(at, now)),
            restarts: state.restarts,
            troubles,
        }
    }
}

fn mark(cache: &TypeSnapshot, is_troubled: bool) -> Mark {
    if cache.state.error.is_some() {
        Mark::bad("failing")
    } else if is_troubled {
        Mark::warn("troubled")
    } else if cache.store.is_synced() {
        Mark::good("in sync")
    } else {
        Mark::busy("listing")
    }
}

/// What is wrong with a cache, in sentences.
pub(super) fn troubles(TypeSnapshot { store, state }: &TypeSnapshot) -> Vec<String> {
    let mut troubles = Vec::new();
    if let Some(error) = &state.error {
        let permission =
            error.permission.as_ref().map(|it| format!(" The permission to {it} is missing."));
        troubles.push(format!("{}.{}", error.message, permission.unwrap_or_default()));
    }
    for namespace in &state.namespaces {
        if let (Some(namespace), Some(error)) = (&namespace.namespace, &namespace.error) {
            troubles.push(format!("In {namespace}: {}.", error.message));
        }
    }
    if state.deletions_held {
        troubles.push(
            "The server went back to an earlier version: nothing of this type is deleted for now."
                .to_owned(),
        );
    }
    for object in store.first_undecodable() {
        let name = object.key().map_or_else(|| "An object".to_owned(), ToString::to_string);
        troubles.push(format!("{name} cannot be read: {}", object.why()));
    }
    troubles
}

/// A type as people call it, and where it is from.
pub(super) fn type_words(ty: &K8sType) -> String {
    format!("{} ({})", ty.kind(), ty.api_version())
}
