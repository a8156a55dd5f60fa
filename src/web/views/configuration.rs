//! The JSON form of the whole configuration of an operator, which contains no secrets.

use schemars::JsonSchema;
use serde::Serialize;

use super::object::TypeView;
use crate::{
    board::OperatorInfo,
    operator::{
        ChildType, ConflictPolicy, DeletionLimit, Labels, OperatorConfig, Predecessor, Propagation,
        RelatedType, UpdateStrategy,
    },
};

/// The configuration of an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct ConfigurationView {
    /// The type of its parents.
    parent: TypeView,
    /// The namespaces of its parents; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespaces: Option<Vec<String>>,
    /// The label selector of its parents; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_selector: Option<String>,
    /// The selector of the annotations of its parents; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_annotations: Option<String>,
    /// `Owner`, or `Decorator` if others own its parents.
    role: &'static str,
    /// The types of its children.
    children: Vec<ChildTypeView>,
    /// The types of the related objects that its handler reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedTypeView>,
    /// Whether its parents get a finalizer.
    has_finalizer: bool,
    /// The name of that finalizer.
    finalizer: String,
    /// Whether it also emits Events of type Normal.
    normal_events: bool,
    /// Whether the status of a parent lists its children.
    child_status: bool,
    /// `Own`, or `Shared` if others write the status of a parent too: then only the fields that the
    /// handler returns are written.
    parent_status: &'static str,
    labels: LabelsView,
    /// What is taken over from an earlier program; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    predecessor: Option<PredecessorView>,
    limits: LimitsView,
}

/// A type of children.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChildType")]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
struct ChildTypeView {
    #[serde(flatten)]
    ty: TypeView,
    /// `Apply`, `Recreate` or `OnDelete`.
    #[schemars(with = "String")]
    update_strategy: UpdateStrategy,
    /// What happens to fields of other managers: `Force`, `Yield` or `Report`.
    #[schemars(with = "String")]
    conflicts: ConflictPolicy,
    /// Whether an object without a controller becomes a child.
    adopt: bool,
    /// Whether a child is recreated to change an immutable field.
    recreate_if_immutable: bool,
    /// The propagation policy of deletions: `Background`, `Foreground` or `Orphan`.
    #[schemars(with = "String")]
    propagation: Propagation,
    /// Whether children are deleted with the finalizer, where garbage collection does not apply.
    delete_with_finalizer: bool,
    /// Whether children stay when their parent is deleted.
    orphan_on_delete: bool,
    /// Whether a change of only the status of a child triggers no reconcile.
    ignores_status: bool,
    /// Whether a parent may be ready although a child is not.
    ignores_readiness: bool,
}

/// A type of related objects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RelatedType")]
struct RelatedTypeView {
    #[serde(flatten)]
    ty: TypeView,
    /// Whether only their metadata is read.
    metadata_only: bool,
}

/// The labels of children.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Labels")]
struct LabelsView {
    /// The label with the uid of the parent.
    parent_uid: String,
    /// The label with the name of the operator.
    managed_by: String,
}

/// The names of an earlier program.
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
    /// How long changes are collected before a parent is reconciled.
    debounce_seconds: f64,
    min_error_backoff_seconds: f64,
    max_error_backoff_seconds: f64,
    /// Absent if deletions are not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletions: Option<DeletionLimitView>,
}

/// How many children may be deleted without confirmation.
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
        let Labels { parent_uid, managed_by } = config.labels.clone();
        Self {
            parent: (&config.parent).into(),
            namespaces: config.namespaces.names().map(|names| names.iter().cloned().collect()),
            parent_selector: config.parent_selector.clone(),
            parent_annotations: config.parent_annotations.clone(),
            role: if config.is_decorator() { "Decorator" } else { "Owner" },
            children: config.children.iter().map(ChildTypeView::from).collect(),
            related: config.related.iter().map(RelatedTypeView::from).collect(),
            has_finalizer: *has_finalizer,
            finalizer: config.finalizer_name(),
            normal_events: config.normal_events,
            child_status: config.child_status,
            parent_status: if config.shares_status() { "Shared" } else { "Own" },
            labels: LabelsView { parent_uid, managed_by },
            predecessor: PredecessorView::of(config.predecessor.clone()),
            limits: config.into(),
        }
    }
}

impl From<&ChildType> for ChildTypeView {
    fn from(ChildType { ty, config }: &ChildType) -> Self {
        Self {
            ty: ty.into(),
            update_strategy: config.update_strategy,
            conflicts: config.conflicts,
            adopt: config.adopt,
            recreate_if_immutable: config.recreate_if_immutable,
            propagation: config.propagation,
            delete_with_finalizer: config.delete_with_finalizer,
            orphan_on_delete: config.orphan_on_delete,
            ignores_status: config.ignores_status,
            ignores_readiness: config.ignores_readiness,
        }
    }
}

impl From<&RelatedType> for RelatedTypeView {
    fn from(RelatedType { ty, metadata_only }: &RelatedType) -> Self {
        Self { ty: ty.into(), metadata_only: *metadata_only }
    }
}

impl PredecessorView {
    fn of(Predecessor { field_managers, finalizers }: Predecessor) -> Option<Self> {
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
            percent_per_reconcile: reconcile.percent,
            at_least_per_reconcile: reconcile.at_least,
            percent_per_minute: minute.percent,
            at_least_per_minute: minute.at_least,
        }
    }
}
