//! The JSON form of an operator: its state, configuration and queue.

use std::{collections::BTreeMap, time::SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    configuration::ConfigurationView, migration::MigrationView, object::Time, pause::PauseView,
};
use crate::{
    board::{Leadership, Migration, OperatorRestarts, OperatorSnapshot, QueueState},
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
    /// Since when the API server has not answered, so that what is shown is older; absent if it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreachable_since: Option<Time>,
    /// Absent if it is not paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<PauseView>,
    /// The part of this process in the election of a leader; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    leadership: Option<LeadershipView>,
    /// Its restarts after panics in Operetta; absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<RestartsView>,
    /// The migration of its parents from old versions of their type; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    migration: Option<MigrationView>,
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
    undeclared_status: Vec<UndeclaredField>,
}

/// The restarts of an operator after panics in Operetta.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Restarts")]
struct RestartsView {
    count: u64,
    last: Time,
    /// What panicked the last time.
    why: String,
}

/// The part of this process in the election of a leader.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Leadership")]
struct LeadershipView {
    /// Namespace and name of the Lease.
    lease: String,
    /// Who this process is.
    identity: String,
    /// Whether this process leads.
    leads: bool,
    /// Who holds the Lease, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    /// Why the Lease cannot be read or written; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Which writes of a former leader are not held back; absent if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    weakness: Option<&'static str>,
    /// For which part of the parents this process works; absent if it works for all while it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<String>,
}

impl From<Leadership> for LeadershipView {
    fn from(leadership: Leadership) -> Self {
        let Leadership { lease, identity, leads, holder, problem, is_lost: _, reach, share } =
            leadership;
        Self { lease, identity, leads, holder, problem, weakness: reach.weakness(), share }
    }
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
        undeclared_status: Vec<UndeclaredField>,
    ) -> Self {
        let OperatorSnapshot { info, state, paused, leadership, restarts, parents } = operator;
        Self {
            name: info.name.to_string(),
            state: state.name(),
            reasons: state.reasons().to_vec(),
            unreachable_since: None,
            pause: paused.as_deref().map(PauseView::from),
            leadership: leadership.clone().map(LeadershipView::from),
            restarts: restarts.clone().map(RestartsView::from),
            migration: None,
            configuration: info.into(),
            parents: parents.iter().map(|(phase, count)| (phase.name(), *count)).collect(),
            queue: queue.map(QueueView::from),
            undeclared_status,
        }
    }

    /// The same while the API server does not answer.
    pub(in crate::web) fn unreachable(self, since: Option<SystemTime>) -> Self {
        Self { unreachable_since: since.map(Time), ..self }
    }

    /// The same with the migration of its parents.
    pub(in crate::web) fn migrating(self, migration: Option<Migration>) -> Self {
        Self { migration: migration.map(MigrationView::from), ..self }
    }
}

impl From<OperatorRestarts> for RestartsView {
    fn from(OperatorRestarts { count, last, why }: OperatorRestarts) -> Self {
        Self { count, last: Time(last), why }
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
