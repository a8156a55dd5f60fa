//! The JSON form of an operator: how it stands, and what waits for it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{configuration::ConfigurationView, object::Time};
use crate::{
    board::{OperatorPause, OperatorSnapshot, OperatorState, QueueState},
    plan::UndeclaredField,
};

/// An operator, and how it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Operator")]
pub(in crate::web) struct OperatorView {
    name: String,
    /// `starting`, `running` or `degraded`.
    state: &'static str,
    /// Why it is not running.
    reasons: Vec<String>,
    /// Missing when nobody has paused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseView>,
    #[serde(flatten)]
    configuration: ConfigurationView,
    /// How many parents are in each phase.
    parents: BTreeMap<&'static str, usize>,
    /// Missing before it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueView>,
    /// What is not written into the status of parents because their type does not declare it; missing when
    /// nothing is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undeclared_status: Vec<UndeclaredView>,
}

/// A field of a status that is not written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UndeclaredField")]
struct UndeclaredView {
    /// With `*` for the items of lists and for free names.
    path: String,
    /// `handler`: it returned the field; `framework`: only Operetta has something to write there.
    wanted_by: &'static str,
}

/// That a person has paused an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Pause")]
struct PauseView {
    since: Time,
    /// Who, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The parents that reconcile and those that wait for a free place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Queue")]
struct QueueView {
    /// How many reconciles are in flight.
    running: usize,
    /// How many may be at once.
    limit: usize,
    /// How many parents wait, by priority.
    waiting: BTreeMap<&'static str, usize>,
    /// How long the one has waited that has waited longest; missing when none waits.
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
