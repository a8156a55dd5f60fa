//! What goes wrong with the answers to requests: planned by a test, by the kind of the request.

use std::{collections::HashMap, time::Duration};

use crate::run::{DryRun, Request};

/// What becomes of one request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// The server refuses it, with a `Retry-After` or without.
    Refused(u16, Option<Duration>),
    /// It is carried out, and the answer never comes.
    Lost,
}

/// Kinds of requests.
pub(super) const KINDS: [&str; 8] =
    ["read", "read-whole", "apply", "try", "patch", "patch-status", "delete", "list"];

/// The faults that are still to come.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// By kind; the number is how many of that kind come before it.
    planned: HashMap<&'static str, Vec<(usize, Fault)>>,
}

pub(super) fn kind(request: &Request) -> &'static str {
    match request {
        Request::Read(_) => "read",
        Request::ReadWhole(_) => "read-whole",
        Request::Apply { dry_run: DryRun::No, .. } => "apply",
        Request::Apply { .. } => "try",
        Request::Patch(..) => "patch",
        Request::PatchStatus(..) => "patch-status",
        Request::Delete { .. } => "delete",
        Request::List { .. } => "list",
    }
}

impl Faults {
    /// From now on the `nth` request of a kind, from 1, goes wrong.
    pub(super) fn plan(&mut self, kind: &str, nth: usize, fault: Fault) {
        let kind = KINDS.into_iter().find(|known| *known == kind).expect("a kind of request");
        self.planned.entry(kind).or_default().push((nth - 1, fault));
    }

    /// Nothing goes wrong any more.
    pub(super) fn clear(&mut self) {
        self.planned.clear();
    }

    /// What becomes of the next request of a kind.
    pub(super) fn next(&mut self, kind: &str) -> Option<Fault> {
        let planned = self.planned.get_mut(kind)?;
        let due = planned.iter().position(|(before, _)| *before == 0);
        let fault = due.map(|at| planned.swap_remove(at).1);
        for (before, _) in planned {
            *before = before.saturating_sub(1);
        }
        fault
    }
}
