//! A notice as a server-sent event: a kind, a number and one line of JSON.

use actix_web::web::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::{
    board::{Change, Notice, OperatorState, ParentName, ParentPhase, TypeState},
    history::{Outcome, Reconcile},
    object::{K8sType, Uid, legible},
    web::views::KeyView,
};

/// The kinds that a reader can select. The others are `hello`, `dropped` and `stopping`.
pub(super) const KINDS: &[&str] = &["reconcile", "phase", "gone", "operator", "type"];

/// How many milliseconds a browser waits before it reconnects.
const RETRY: u32 = 2000;

pub(super) fn kind_of(change: &Change) -> &'static str {
    match change {
        Change::Reconcile { .. } => "reconcile",
        Change::Phase { .. } => "phase",
        Change::Gone { .. } => "gone",
        Change::Operator { .. } => "operator",
        Change::Type { .. } => "type",
        Change::Stopping => "stopping",
    }
}

pub(super) fn of(notice: &Notice) -> Bytes {
    let data = data(&notice.change);
    // JSON escapes line breaks, so this is one line.
    let data = serde_json::to_string(&data).unwrap_or_default();
    let data = legible(&data);
    let (number, kind) = (notice.number, kind_of(&notice.change));
    format!("id: {number}\nevent: {kind}\ndata: {data}\n\n").into()
}

/// The first event: every later change is sent.
pub(super) fn hello() -> Bytes {
    format!("retry: {RETRY}\nevent: hello\ndata: {{}}\n\n").into()
}

pub(super) fn heartbeat() -> Bytes {
    Bytes::from_static(b": heartbeat\n\n")
}

/// The last event for a reader that is too slow.
pub(super) fn too_slow(missed: u64) -> Bytes {
    let message = "the reader is too slow and missed changes: read the state again and reconnect";
    let data = json!({"missed": missed, "message": message});
    format!("event: dropped\ndata: {data}\n\n").into()
}

#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Parent {
        operator: &'a str,
        #[serde(flatten)]
        key: KeyView,
        uid: &'a Uid,
        /// Absent when it is gone.
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reconcile: Option<ReconcileView<'a>>,
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

/// The summary of a reconcile; its details are in the history of the parent.
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
        Change::Reconcile { parent, phase, reconcile } => {
            Data::of_parent(parent, Some(*phase), Some((&**reconcile).into()))
        }
        Change::Phase { parent, phase } => Data::of_parent(parent, Some(*phase), None),
        Change::Gone { parent } => Data::of_parent(parent, None, None),
        Change::Operator { operator, state } => Data::Operator {
            operator: operator.as_str(),
            state: state.as_ref().map_or("gone", OperatorState::name),
            reasons: state.as_ref().map(OperatorState::reasons).unwrap_or_default(),
        },
        Change::Type { ty, state } => Data::Type(TypeView::new(ty, state)),
        Change::Stopping => Data::Stopping { message: "the process is stopping" },
    }
}

impl<'a> Data<'a> {
    fn of_parent(
        ParentName { operator, key, uid }: &'a ParentName,
        phase: Option<ParentPhase>,
        reconcile: Option<ReconcileView<'a>>,
    ) -> Self {
        let (operator, key, phase) = (operator.as_str(), key.into(), phase.map(ParentPhase::name));
        Self::Parent { operator, key, uid, phase, reconcile }
    }
}

impl<'a> From<&'a Reconcile> for ReconcileView<'a> {
    fn from(reconcile: &'a Reconcile) -> Self {
        Self {
            number: reconcile.number,
            duration_milliseconds: (reconcile.duration.as_secs_f64() * 1e6).round() / 1e3,
            outcome: &reconcile.outcome,
            writes: reconcile.writes().count(),
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
