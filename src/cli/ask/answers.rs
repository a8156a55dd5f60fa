//! The answers of the HTTP API, as far as tables show them. A field that another version lacks is empty.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
}

/// An operator.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Operator {
    pub(super) name: String,
    pub(super) state: String,
    pub(super) reasons: Vec<String>,
    pub(super) unreachable_since: Option<String>,
    pub(super) pause: Option<Pause>,
    pub(super) leadership: Option<Leadership>,
    pub(super) migration: Option<Migration>,
    pub(super) parent: Type,
    pub(super) parents: BTreeMap<String, usize>,
    pub(super) queue: Option<Queue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pause {
    pub(super) by: Option<String>,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Leadership {
    pub(super) leads: bool,
    pub(super) holder: Option<String>,
    pub(super) share: Option<String>,
}

/// That of the parents from old versions of their type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Migration {
    pub(super) state: String,
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Type {
    pub(super) kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Queue {
    pub(super) running: usize,
    pub(super) limit: usize,
    pub(super) waiting: BTreeMap<String, usize>,
}

/// A parent; the details are empty in a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Parent {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) phase: String,
    pub(super) message: Option<String>,
    pub(super) pause: Option<Pause>,
    pub(super) failures: u32,
    pub(super) next_wake: Option<NextWake>,
    pub(super) reconciles: u64,
    pub(super) last_reconcile: Option<Reconcile>,
    pub(super) why: Problem,
    pub(super) other_problems: Vec<Problem>,
    /// Written by handlers and others.
    pub(super) conditions: Vec<Value>,
    pub(super) children: Vec<Child>,
    pub(super) children_omitted: usize,
    pub(super) related: Vec<Related>,
    pub(super) preview_error: Option<String>,
    pub(super) events: Option<Events>,
    pub(super) history: Vec<Reconcile>,
}

/// What is wrong, why, and what cures it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) what: String,
    pub(super) because: Vec<String>,
    pub(super) actions: Vec<Action>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Action {
    pub(super) text: String,
    pub(super) command: Option<String>,
    pub(super) in_code: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NextWake {
    pub(super) at: String,
    pub(super) why: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Reconcile {
    pub(super) number: u64,
    pub(super) started: String,
    pub(super) duration_milliseconds: f64,
    pub(super) causes: Vec<Cause>,
    pub(super) outcome: Outcome,
    pub(super) decisions: Vec<Decision>,
    pub(super) omitted: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cause {
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    pub(super) result: String,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decision {
    pub(super) child: String,
    #[serde(rename = "decision")]
    pub(super) what: String,
    pub(super) why: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Child {
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) readiness: Readiness,
    pub(super) decision: Option<Decision>,
    pub(super) preview: Option<Preview>,
    pub(super) children: Vec<Child>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Readiness {
    pub(super) state: String,
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preview {
    pub(super) action: String,
    pub(super) why: Option<String>,
    pub(super) differences: Vec<Difference>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) desired: Option<Value>,
    pub(super) live: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Related {
    pub(super) kind: String,
    pub(super) which: String,
    pub(super) found: Option<usize>,
    pub(super) problem: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Events {
    pub(super) items: Vec<Event>,
    pub(super) errors: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event {
    pub(super) last_seen: String,
    pub(super) r#type: String,
    pub(super) reason: String,
    pub(super) object: Child,
    pub(super) message: String,
    pub(super) count: u64,
}
