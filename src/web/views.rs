//! The JSON forms of what several paths show.

use std::{collections::BTreeMap, time::SystemTime};

use serde::Serialize;

use crate::{
    board::{NamespaceState, OperatorSnapshot, OperatorState, TypeError, TypeSnapshot},
    history::serialize_time,
    object::{K8sType, Object, ObjectKey, ResourceVersion, Uid, Undecodable},
    operator::{ChildType, DeletionLimit, OperatorConfig, UpdateStrategy},
};

/// A resource type.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TypeView {
    /// What `/api/v1/cache/{type}` calls it.
    #[serde(rename = "type")]
    name: String,
    api_version: String,
    kind: String,
    namespaced: bool,
}

/// An operator.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperatorView {
    name: String,
    state: &'static str,
    /// Why it is not running.
    reasons: Vec<String>,
    parent: TypeView,
    /// Where its parents are; missing when it works everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespaces: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_selector: Option<String>,
    children: Vec<ChildTypeView>,
    has_finalizer: bool,
    limits: LimitsView,
    /// How many parents are in each phase.
    parents: BTreeMap<&'static str, usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChildTypeView {
    #[serde(flatten)]
    ty: TypeView,
    update_strategy: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeletionLimitView {
    percent_per_run: u8,
    at_least_per_run: usize,
    percent_per_minute: u8,
    at_least_per_minute: usize,
}

/// The cache of a type.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CacheView {
    #[serde(flatten)]
    ty: TypeView,
    synced: bool,
    objects: usize,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<Time>,
    restarts: u64,
    undecodable: u64,
    /// The objects that cannot be read and are not cached; of very many only some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutView>,
    /// When the server last went back to an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    went_back: Option<Time>,
    /// Nothing of the type is deleted for now.
    deletions_held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView>,
    /// The namespaces that have a watch of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<NamespaceView>,
}

/// An object that cannot be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LeftOutView {
    #[serde(flatten)]
    key: Option<KeyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    message: String,
}

#[derive(Debug, Serialize)]
struct NamespaceView {
    namespace: String,
    synced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView>,
}

#[derive(Debug, Serialize)]
struct ErrorView {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<String>,
}

/// What an object is called.
#[derive(Debug, Serialize)]
pub(super) struct KeyView {
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

/// An object without its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectView {
    #[serde(flatten)]
    key: KeyView,
    uid: String,
    resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    deleting: bool,
}

/// A point in time.
#[derive(Debug, Serialize)]
pub(super) struct Time(#[serde(serialize_with = "serialize_time")] pub(super) SystemTime);

impl From<&K8sType> for TypeView {
    fn from(ty: &K8sType) -> Self {
        Self {
            name: ty.resource_name(),
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            namespaced: ty.is_namespaced(),
        }
    }
}

impl From<&OperatorSnapshot> for OperatorView {
    fn from(operator: &OperatorSnapshot) -> Self {
        let OperatorSnapshot { info, state, parents } = operator;
        let config = &info.config;
        Self {
            name: info.name.to_string(),
            state: state.name(),
            reasons: reasons(state),
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

impl From<&TypeSnapshot> for CacheView {
    fn from(TypeSnapshot { store, state }: &TypeSnapshot) -> Self {
        Self {
            ty: store.ty().into(),
            synced: store.is_synced(),
            objects: store.len(),
            bytes: store.bytes(),
            last_version: store.version().map(|version| version.to_string()),
            last_event: state.last_event.map(Time),
            restarts: state.restarts,
            undecodable: state.undecodable,
            left_out: store.left_out().iter().map(LeftOutView::from).collect(),
            went_back: state.went_back.map(Time),
            deletions_held: state.deletions_held,
            error: state.error.as_ref().map(ErrorView::from),
            namespaces: state.namespaces.iter().map(NamespaceView::from).collect(),
        }
    }
}

impl From<&Undecodable> for LeftOutView {
    fn from(object: &Undecodable) -> Self {
        Self {
            key: object.key().map(KeyView::from),
            uid: object.uid().map(Uid::to_string),
            resource_version: object.resource_version().map(ResourceVersion::to_string),
            message: object.why().to_owned(),
        }
    }
}

impl From<&NamespaceState> for NamespaceView {
    fn from(NamespaceState { namespace, synced, error }: &NamespaceState) -> Self {
        let error = error.as_ref().map(ErrorView::from);
        Self { namespace: namespace.clone(), synced: *synced, error }
    }
}

impl From<&TypeError> for ErrorView {
    fn from(TypeError { message, permission }: &TypeError) -> Self {
        Self { message: message.clone(), permission: permission.clone() }
    }
}

impl From<&ObjectKey> for KeyView {
    fn from(key: &ObjectKey) -> Self {
        Self { namespace: key.namespace.as_deref().map(str::to_owned), name: key.name.to_string() }
    }
}

impl From<&Object> for ObjectView {
    fn from(object: &Object) -> Self {
        Self {
            key: object.key().into(),
            uid: object.uid().to_string(),
            resource_version: object.resource_version().to_string(),
            generation: object.generation(),
            deleting: object.is_deleting(),
        }
    }
}

fn reasons(state: &OperatorState) -> Vec<String> {
    state.reasons().to_vec()
}
