//! The JSON form of an operator: its state, configuration and queue.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{configuration::ConfigurationView, object::Time};
use crate::{
    board::{OperatorPause, OperatorSnapshot, OperatorState, QueueState},
    plan::UndeclaredField,
};

/// An operator and its state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Operator")]
pub(in crate::web) struct OperatorView {
    name: String,
    /// `starting`, `running` or `degraded`.
    state: &'static str,
    /// Why it is not running.
    reasons: Vec<String>,
    /// Absent if it is not paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseView>,
    #[serde(flatten)]
    configuration: ConfigurationView,
    /// How many parents are in each phase.
    parents: BTreeMap<&'static str, usize>,
    /// Absent before it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueView>,
    /// The status fields that are not written because the parent type does not declare them; absent if
    /// there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undeclared_status: Vec<UndeclaredView>,
}

/// A field of a status that is not written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UndeclaredField")]
struct UndeclaredView {
    /// The path, with `*` for items of lists and free names.
    path: String,
    /// `handler`: the handler returned it; `framework`: only Operetta writes it.
    wanted_by: &'static str,
}

/// The pause of an operator by a user.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pause")]
struct PauseView {
    since: Time,
    /// The user, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The parents that are reconciled and those that wait for a permit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Queue")]
struct QueueView {
    /// How many reconciles are in flight.
    running: usize,
    /// The concurrency limit.
    limit: usize,
    /// How many parents wait, by priority.
    waiting: BTreeMap<&'static str, usize>,
    /// How long the first parent has waited; absent if none waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_wait_seconds: Option<f64>,
}

impl OperatorView {
    pub(in crate::web) fn new(
        operator: &OperatorSnapshot,
        queue: Option<QueueState>,
        undeclared: &[UndeclaredField],
    ) -> Self {
        let OperatorSnapshot { info, state, paused, parents } = operator;
        Self {
            name: info.name.to_string(),
            state: state.name(),
            reasons: reasons(state),
            paused: paused.as_ref().map(PauseView::from),
            configuration: info.into(),
            parents: parents.iter().map(|(phase, count)| (phase.name(), *count)).collect(),
            queue: queue.map(QueueView::from),
            undeclared_status: undeclared.iter().map(UndeclaredView::from).collect(),
        }
    }
}

impl From<&OperatorPause> for PauseView {
    fn from(OperatorPause { since, by }: &OperatorPause) -> Self {
        Self { since: Time(*since), by: by.clone() }
    }
}

impl From<&UndeclaredField> for UndeclaredView {
    fn from(UndeclaredField { path, wanted_by }: &UndeclaredField) -> Self {
        Self { path: path.clone(), wanted_by: wanted_by.name() }
    }
}

impl From<QueueState> for QueueView {
    fn from(QueueState { running, limit, waiting, longest_wait }: QueueState) -> Self {
        Self {
            running,
            limit,
            waiting: waiting.into_iter().map(|(priority, many)| (priority.name(), many)).collect(),
            longest_wait_seconds: longest_wait.map(|wait| wait.as_secs_f64()),
        }
    }
}

fn reasons(state: &OperatorState) -> Vec<String> {
    state.reasons().to_vec()
}
