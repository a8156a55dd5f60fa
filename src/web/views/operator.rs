//! The JSON form of an operator.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Time, TypeView};
use crate::{
    board::{OperatorPause, OperatorSnapshot, OperatorState},
    operator::{ChildType, DeletionLimit, OperatorConfig, UpdateStrategy},
};

/// An operator, and how it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Operator")]
pub(in crate::web) struct OperatorView {
    name: String,
    /// `starting`, `running`, `degraded` or `stopped`.
    state: &'static str,
    /// Why it is not running.
    reasons: Vec<String>,
    /// Missing when nobody has paused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseView>,
    /// The type that it answers for.
    parent: TypeView,
    /// Where its parents are; missing when it works everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespaces: Option<Vec<String>>,
    /// The labels of the parents that it answers for; missing when it answers for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_selector: Option<String>,
    /// The types that it writes.
    children: Vec<ChildTypeView>,
    /// Whether its parents get a finalizer.
    has_finalizer: bool,
    limits: LimitsView,
    /// How many parents are in each phase.
    parents: BTreeMap<&'static str, usize>,
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

/// A type of children.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChildType")]
struct ChildTypeView {
    #[serde(flatten)]
    ty: TypeView,
    /// `Apply`, `Recreate` or `OnDelete`.
    update_strategy: &'static str,
}

/// The limits of an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Limits")]
struct LimitsView {
    max_concurrent_runs: usize,
    handler_deadline_seconds: f64,
    min_error_backoff_seconds: f64,
    max_error_backoff_seconds: f64,
    /// Missing when deletions are not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletions: Option<DeletionLimitView>,
}

/// How many children may be deleted before a person is asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeletionLimit")]
struct DeletionLimitView {
    percent_per_run: u8,
    at_least_per_run: usize,
    percent_per_minute: u8,
    at_least_per_minute: usize,
}

impl From<&OperatorSnapshot> for OperatorView {
    fn from(operator: &OperatorSnapshot) -> Self {
        let OperatorSnapshot { info, state, paused, parents } = operator;
        let config = &info.config;
        Self {
            name: info.name.to_string(),
            state: state.name(),
            reasons: reasons(state),
            paused: paused.as_ref().map(PauseView::from),
            parent: (&config.parent).into(),
            parent_selector: config.parent_selector.clone(),
            namespaces: config.namespaces.names().map(|names| names.iter().cloned().collect()),
            children: config.children.iter().map(ChildTypeView::from).collect(),
            has_finalizer: info.has_finalizer,
            limits: config.into(),
            parents: parents.iter().map(|(phase, count)| (phase.name(), *count)).collect(),
        }
    }
}

impl From<&OperatorPause> for PauseView {
    fn from(OperatorPause { since, by }: &OperatorPause) -> Self {
        Self { since: Time(*since), by: by.clone() }
    }
}

impl From<&ChildType> for ChildTypeView {
    fn from(ChildType { ty, config }: &ChildType) -> Self {
        let update_strategy = match config.update_strategy {
            UpdateStrategy::Apply => "Apply",
            UpdateStrategy::Recreate => "Recreate",
            UpdateStrategy::OnDelete => "OnDelete",
        };
        Self { ty: ty.into(), update_strategy }
    }
}

impl From<&OperatorConfig> for LimitsView {
    fn from(config: &OperatorConfig) -> Self {
        Self {
            max_concurrent_runs: config.max_concurrent_runs,
            handler_deadline_seconds: config.handler_deadline.as_secs_f64(),
            min_error_backoff_seconds: config.min_error_backoff.as_secs_f64(),
            max_error_backoff_seconds: config.max_error_backoff.as_secs_f64(),
            deletions: config.deletion_limit.map(DeletionLimitView::from),
        }
    }
}

impl From<DeletionLimit> for DeletionLimitView {
    fn from(DeletionLimit { run, minute }: DeletionLimit) -> Self {
        Self {
            percent_per_run: run.percent,
            at_least_per_run: run.at_least,
            percent_per_minute: minute.percent,
            at_least_per_minute: minute.at_least,
        }
    }
}

fn reasons(state: &OperatorState) -> Vec<String> {
    state.reasons().to_vec()
}
