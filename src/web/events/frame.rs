//! A notice as a server-sent event: a kind, a number and one line of JSON.

use actix_web::web::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::{
    board::{Change, Notice, ParentName, TypeState},
    history::{Outcome, Reconcile},
    object::{K8sType, Uid, legible},
    web::views::KeyView,
};

/// The kinds that a reader can choose from. Besides there are `hello`, `dropped` and `stopping`.
pub(super) const KINDS: &[&str] = &["run", "phase", "gone", "operator", "type"];

/// After a connection has broken, the browser comes back after so many milliseconds.
const RETRY: u32 = 2000;

pub(super) fn kind_of(change: &Change) -> &'static str {
    match change {
        Change::Reconcile { .. } => "run",
        Change::Phase { .. } => "phase",
        Change::Gone { .. } => "gone",
        Change::Operator { .. } => "operator",
        Change::Type { .. } => "type",
        Change::Stopping => "stopping",
    }
}

pub(super) fn of(notice: &Notice) -> Bytes {
    let data = data(&notice.change);
    // Within JSON a line break is written as `\n`, so this is one line.
    let data = serde_json::to_string(&data).unwrap_or_default();
    let data = legible(&data);
    let (number, kind) = (notice.number, kind_of(&notice.change));
    format!("id: {number}\nevent: {kind}\ndata: {data}\n\n").into()
}

/// The first event: whatever changes after it is told.
pub(super) fn hello() -> Bytes {
    format!("retry: {RETRY}\nevent: hello\ndata: {{}}\n\n").into()
}

pub(super) fn heartbeat() -> Bytes {
    Bytes::from_static(b": nothing happens\n\n")
}

/// The last event for who has not kept up.
pub(super) fn too_slow(missed: u64) -> Bytes {
    let message = "too slow: what changed meanwhile was not kept; read anew and listen again";
    let data = json!({"missed": missed, "message": message});
    format!("event: dropped\ndata: {data}\n\n").into()
}

/// What an event says, by kind.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Reconcile {
        #[serde(flatten)]
        parent: ParentView<'a>,
        phase: &'static str,
        run: ReconcileView<'a>,
    },
    Phase {
        #[serde(flatten)]
        parent: ParentView<'a>,
        phase: &'static str,
    },
    Gone {
        #[serde(flatten)]
        parent: ParentView<'a>,
    },
    Operator {
        operator: &'a str,
        state: &'static str,
        reasons: &'a [String],
    },
    Type(TypeView<'a>),
    Stopping {
        message: &'static str,
    },
}

#[derive(Serialize)]
struct ParentView<'a> {
    operator: &'a str,
    #[serde(flatten)]
    key: KeyView,
    uid: &'a Uid,
}

/// A reconcile in short; the whole is in the history of the parent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReconcileView<'a> {
    number: u64,
    duration_milliseconds: f64,
    outcome: &'a Outcome,
    writes: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TypeView<'a> {
    r#type: String,
    synced: bool,
    restarts: u64,
    undecodable: u64,
    deletions_held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

fn data(change: &Change) -> Data<'_> {
    match change {
        Change::Reconcile { parent, phase, run } => {
            Data::Reconcile { parent: parent.into(), phase: phase.name(), run: (&**run).into() }
        }
        Change::Phase { parent, phase } => {
            Data::Phase { parent: parent.into(), phase: phase.name() }
        }
        Change::Gone { parent } => Data::Gone { parent: parent.into() },
        Change::Operator { operator, state } => Data::Operator {
            operator: operator.as_str(),
            state: state.name(),
            reasons: state.reasons(),
        },
        Change::Type { ty, state } => Data::Type(TypeView::new(ty, state)),
        Change::Stopping => Data::Stopping { message: "the process ends" },
    }
}

impl<'a> From<&'a ParentName> for ParentView<'a> {
    fn from(ParentName { operator, key, uid }: &'a ParentName) -> Self {
        Self { operator: operator.as_str(), key: key.into(), uid }
    }
}

impl<'a> From<&'a Reconcile> for ReconcileView<'a> {
    fn from(run: &'a Reconcile) -> Self {
        Self {
            number: run.number,
            duration_milliseconds: (run.duration.as_secs_f64() * 1e6).round() / 1e3,
            outcome: &run.outcome,
            writes: run.writes().count(),
        }
    }
}

impl<'a> TypeView<'a> {
    fn new(ty: &K8sType, state: &'a TypeState) -> Self {
        Self {
            r#type: ty.resource_name(),
            synced: state.synced,
            restarts: state.restarts,
            undecodable: state.undecodable,
            deletions_held: state.deletions_held,
            message: state.error.as_ref().map(|error| error.message.as_str()),
        }
    }
}
