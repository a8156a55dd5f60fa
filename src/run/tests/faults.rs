//! Planned faults of requests, by kind.

use std::{collections::HashMap, time::Duration};

use crate::run::{DryRun, Request};

/// The fault of one request.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The server refuses it.
    Refused(Refused),
    /// It is carried out, and the answer is lost.
    Lost,
    /// The answer cannot be decoded.
    Undecodable,
    /// The server does not serve the type.
    Unserved,
}

/// The refusal of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Refused {
    pub(super) code: u16,
    /// The `Retry-After` of the answer.
    pub(super) retry_after: Option<Duration>,
    /// The field of its cause.
    pub(super) field: Option<String>,
    pub(super) message: Option<String>,
    /// Who refuses it: `webhook`, `policy` or `quota`; otherwise the validation, where it has a field.
    pub(super) from: Option<String>,
}

impl Refused {
    pub(super) fn with(code: u16) -> Self {
        Self { code, ..Self::default() }
    }
}

/// Kinds of requests.
pub(super) const KINDS: [&str; 9] = [
    "read",
    "read-whole",
    "apply",
    "apply-status",
    "dry-run",
    "patch",
    "patch-status",
    "delete",
    "list",
];

/// The pending faults.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// By kind; the number counts the requests of that kind before it.
    planned: HashMap<&'static str, Vec<(usize, Fault)>>,
}

pub(super) fn kind(request: &Request) -> &'static str {
    match request {
        Request::Read(_) => "read",
        Request::ReadWhole(_) => "read-whole",
        Request::Apply { dry_run: DryRun::No, .. } => "apply",
        Request::Apply { .. } => "dry-run",
        Request::Patch(..) => "patch",
        Request::ApplyStatus { .. } => "apply-status",
        Request::PatchStatus(..) => "patch-status",
        Request::Scale { .. } => "scale",
        Request::Delete { .. } => "delete",
        Request::List { .. } => "list",
    }
}

impl Faults {
    /// Plans a fault for the `nth` request of a kind, from 1.
    pub(super) fn plan(&mut self, kind: &str, nth: usize, fault: Fault) {
        let kind = KINDS.into_iter().find(|known| *known == kind).expect("a kind of request");
        self.planned.entry(kind).or_default().push((nth - 1, fault));
    }

    /// Removes all faults.
    pub(super) fn clear(&mut self) {
        self.planned.clear();
    }

    /// The fault of the next request of a kind, if any.
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
