//! The JSON form of an operator's configuration: all of it, since it holds no secret.

use schemars::JsonSchema;
use serde::Serialize;

use super::object::TypeView;
use crate::{
    board::OperatorInfo,
    operator::{
        ChildConfig, ChildType, ConflictPolicy, DeletionLimit, Labels, OperatorConfig, Predecessor,
        Propagation, UpdateStrategy,
    },
};

/// What an operator was registered with.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct ConfigurationView {
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
    /// Whether Events tell also what goes well.
    normal_events: bool,
    /// Whether the status of a parent lists its children.
    child_status: bool,
    /// `Own`, or `Shared` where others write the status of a parent too: then it gets only what the
    /// handler returns.
    parent_status: &'static str,
    labels: LabelsView,
    /// What is taken over of an earlier program; missing when there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    predecessor: Option<PredecessorView>,
    limits: LimitsView,
}

/// A type of children.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChildType")]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
struct ChildTypeView {
    #[serde(flatten)]
    ty: TypeView,
    /// `Apply`, `Recreate` or `OnDelete`.
    update_strategy: &'static str,
    /// What is done with fields that others hold: `Force`, `Yield` or `Report`.
    conflicts: &'static str,
    /// Whether an object without a controller becomes a child.
    adopt: bool,
    /// Whether a child is made anew where a field cannot change.
    recreate_if_immutable: bool,
    /// What becomes of what a deleted child owns: `Background`, `Foreground` or `Orphan`.
    propagation: &'static str,
    /// Whether children may be where Kubernetes does not collect them.
    uncollectable: bool,
    /// Whether a change of nothing but a child's status is no reason to run.
    ignores_status: bool,
}

/// The labels that children get.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Labels")]
struct LabelsView {
    /// Its value is the uid of the parent.
    parent_uid: String,
    /// Its value is the name of the operator.
    managed_by: String,
}

/// What an earlier program left.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Predecessor")]
struct PredecessorView {
    field_managers: Vec<String>,
    finalizers: Vec<String>,
}

/// The limits of an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Limits")]
struct LimitsView {
    max_concurrent_reconciles: usize,
    handler_deadline_seconds: f64,
    /// How long changes are collected before they make a parent run.
    debounce_seconds: f64,
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
    percent_per_reconcile: u8,
    at_least_per_reconcile: usize,
    percent_per_minute: u8,
    at_least_per_minute: usize,
}

impl From<&OperatorInfo> for ConfigurationView {
    fn from(OperatorInfo { config, has_finalizer, .. }: &OperatorInfo) -> Self {
        Self {
            parent: (&config.parent).into(),
            namespaces: config.namespaces.names().map(|names| names.iter().cloned().collect()),
            parent_selector: config.parent_selector.clone(),
            children: config.children.iter().map(ChildTypeView::from).collect(),
            has_finalizer: *has_finalizer,
            normal_events: config.normal_events,
            child_status: config.child_status,
            parent_status: if config.shares_status() { "Shared" } else { "Own" },
            labels: (&config.labels).into(),
            predecessor: PredecessorView::of(&config.predecessor),
            limits: config.into(),
        }
    }
}

impl From<&ChildType> for ChildTypeView {
    fn from(ChildType { ty, config }: &ChildType) -> Self {
        let ChildConfig { update_strategy, conflicts, propagation, .. } = *config;
        let ChildConfig { adopt, recreate_if_immutable, uncollectable, ignores_status, .. } =
            *config;
        let update_strategy = match update_strategy {
            UpdateStrategy::Apply => "Apply",
            UpdateStrategy::Recreate => "Recreate",
            UpdateStrategy::OnDelete => "OnDelete",
        };
        let conflicts = match conflicts {
            ConflictPolicy::Force => "Force",
            ConflictPolicy::Yield => "Yield",
            ConflictPolicy::Report => "Report",
        };
        let propagation = match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        Self {
            ty: ty.into(),
            update_strategy,
            conflicts,
            adopt,
            recreate_if_immutable,
            propagation,
            uncollectable,
            ignores_status,
        }
    }
}

impl From<&Labels> for LabelsView {
    fn from(Labels { parent_uid, managed_by }: &Labels) -> Self {
        Self { parent_uid: parent_uid.clone(), managed_by: managed_by.clone() }
    }
}

impl PredecessorView {
    fn of(Predecessor { field_managers, finalizers }: &Predecessor) -> Option<Self> {
        let (field_managers, finalizers) = (field_managers.clone(), finalizers.clone());
        let is_one = !field_managers.is_empty() || !finalizers.is_empty();
        is_one.then_some(Self { field_managers, finalizers })
    }
}

impl From<&OperatorConfig> for LimitsView {
    fn from(config: &OperatorConfig) -> Self {
        Self {
            max_concurrent_reconciles: config.max_concurrent_reconciles,
            handler_deadline_seconds: config.handler_deadline.as_secs_f64(),
            debounce_seconds: config.debounce.as_secs_f64(),
            min_error_backoff_seconds: config.min_error_backoff.as_secs_f64(),
            max_error_backoff_seconds: config.max_error_backoff.as_secs_f64(),
            deletions: config.deletion_limit.map(DeletionLimitView::from),
        }
    }
}

impl From<DeletionLimit> for DeletionLimitView {
    fn from(DeletionLimit { reconcile, minute }: DeletionLimit) -> Self {
        Self {
            percent_per_reconcile: run.percent,
            at_least_per_reconcile: run.at_least,
            percent_per_minute: minute.percent,
            at_least_per_minute: minute.at_least,
        }
    }
}
