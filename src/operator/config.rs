//! The configuration of an operator.

use std::{collections::BTreeSet, marker::PhantomData, time::Duration};

use super::{
    ChildConfig, ChildType, ConfigError, DecoratorOptions, Definition, DeletionLimit, Namespaces,
    OperatorName, Owns, Predecessor, ReadyWhen, RelatedType, Role,
};
use crate::object::{K8sType, TypedResource};

/// One operator: its name, its parent type, its child types and its limits.
///
/// Made with [`OperatorConfig::custom`], [`OperatorConfig::of`] or [`OperatorConfig::new`], or for a decorator with
/// [`OperatorConfig::decorates`]; checked when it is registered. `R` is its [`Role`]: the options of decorators
/// exist for decorators only.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "options, each on its own")]
pub struct OperatorConfig<R = Owns> {
    pub(crate) name: String,
    pub(crate) parent: K8sType,
    /// The CRD of the parent type, if the operator brings it along.
    pub(crate) definition: Option<Definition>,
    pub(crate) namespaces: Namespaces,
    /// The labels of its parents, as a Kubernetes label selector; `None` for any.
    pub(crate) parent_selector: Option<String>,
    /// The annotations of its parents, in the syntax of a label selector; `None` for any.
    pub(crate) parent_annotations: Option<String>,
    /// Every type that the handler may return, and how it is treated.
    pub(crate) children: Vec<ChildType>,
    pub(crate) ready_when: Vec<ReadyWhen>,
    /// Every type of objects that the handler reads and does not own.
    pub(crate) related: Vec<RelatedType>,
    pub(crate) labels: Labels,
    /// The finalizer of its parents, where the handler needs one; `None` for `operetta.dev/<name>`.
    pub(crate) finalizer: Option<String>,
    pub(crate) predecessor: Predecessor,
    /// `None` for any number of deletions.
    pub(crate) deletion_limit: Option<DeletionLimit>,
    pub(crate) max_concurrent_reconciles: usize,
    pub(crate) handler_deadline: Duration,
    /// How long changes are collected before they cause a reconcile; zero for not at all.
    pub(crate) debounce: Duration,
    pub(crate) min_error_backoff: Duration,
    pub(crate) max_error_backoff: Duration,
    /// Whether Normal Events are recorded beside Warnings.
    pub(crate) normal_events: bool,
    /// Whether the parent's status lists every child.
    pub(crate) child_status: bool,
    /// Whether the handler is called for previews; `None` if it is blocking.
    pub(crate) preview: Option<bool>,
    /// What a decorator may do; `None` for an operator that owns its parents.
    pub(crate) decorator: Option<DecoratorOptions>,
    /// The operators of other processes that answer for the same parents.
    pub(crate) beside: BTreeSet<String>,
    /// Whether the supervisor only plans.
    pub(crate) plan_only: bool,
    /// Whether the parents are shared out over several processes: children have the label of their bucket.
    pub(crate) is_sharded: bool,
    /// Whether other controllers are declared to write the status of the parents too.
    pub(crate) shared_status: bool,
    pub(crate) role: PhantomData<R>,
}

/// The labels that select children and name their manager. They never prove ownership: the owner
/// reference does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// The label whose value is the parent's uid. Default `operetta.dev/parent-uid`.
    pub parent_uid: String,
    /// The label whose value is the operator's name. Default `app.kubernetes.io/managed-by`.
    pub managed_by: String,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            parent_uid: "operetta.dev/parent-uid".to_owned(),
            managed_by: "app.kubernetes.io/managed-by".to_owned(),
        }
    }
}

impl OperatorConfig {
    /// An operator for a parent type that has a Rust type and is defined elsewhere. For one of its own see
    /// [`custom`](Self::custom).
    pub fn of<P>(name: &str) -> Self
    where
        P: TypedResource,
    {
        Self::new(name, K8sType::of::<P>())
    }

    /// An operator for a parent that is known by its names.
    pub fn new(name: &str, parent: K8sType) -> Self {
        Self::with_parent(name, parent)
    }
}

impl<R: Role> OperatorConfig<R> {
    pub(super) fn with_parent(name: &str, parent: K8sType) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            definition: None,
            namespaces: Namespaces::All,
            parent_selector: None,
            parent_annotations: None,
            children: Vec::new(),
            ready_when: Vec::new(),
            related: Vec::new(),
            labels: Labels::default(),
            finalizer: None,
            predecessor: Predecessor::default(),
            deletion_limit: Some(DeletionLimit::default()),
            max_concurrent_reconciles: 32,
            handler_deadline: Duration::from_secs(30),
            debounce: Duration::ZERO,
            min_error_backoff: Duration::from_millis(500),
            max_error_backoff: Duration::from_mins(10),
            normal_events: false,
            child_status: false,
            preview: None,
            decorator: None,
            beside: BTreeSet::new(),
            plan_only: false,
            is_sharded: false,
            shared_status: false,
            role: PhantomData,
        }
    }

    /// The name, which is its identity: see [`OperatorName`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its parents.
    pub fn parent(&self) -> &K8sType {
        &self.parent
    }

    /// Every type that the handler may return, and how it is treated.
    pub fn child_types(&self) -> &[ChildType] {
        &self.children
    }

    /// Adds a child type that has a Rust type.
    #[must_use]
    pub fn child<C>(self, config: ChildConfig) -> Self
    where
        C: TypedResource,
    {
        self.child_of_type(K8sType::of::<C>(), config)
    }

    /// Adds a child type that is known by its names.
    #[must_use]
    pub fn child_of_type(mut self, ty: K8sType, config: ChildConfig) -> Self {
        self.children.push(ChildType { ty, config });
        self
    }

    /// Restricts the operator to this namespace; nothing outside is watched, read or written.
    #[must_use]
    pub fn within_namespace(self, namespace: &str) -> Self {
        self.within_namespaces([namespace])
    }

    /// Restricts the operator to these namespaces; nothing outside is watched, read or written.
    #[must_use]
    pub fn within_namespaces<N: Into<String>>(
        mut self,
        namespaces: impl IntoIterator<Item = N>,
    ) -> Self {
        self.namespaces = Namespaces::Only(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how many children may be deleted without the approval of an administrator.
    #[must_use]
    pub fn with_deletion_limit(mut self, limit: DeletionLimit) -> Self {
        self.deletion_limit = Some(limit);
        self
    }

    /// Deletes all children that the handler no longer wants, however many they are.
    #[must_use]
    pub fn without_deletion_limit(mut self) -> Self {
        self.deletion_limit = None;
        self
    }

    /// Sets the finalizer of its parents, for one that another program knows too. The finalizer of a
    /// deployed operator must not change, unless [`Predecessor::finalizers`] has the old one.
    #[must_use]
    pub fn with_finalizer_name(mut self, finalizer: &str) -> Self {
        self.finalizer = Some(finalizer.to_owned());
        self
    }

    /// Sets the labels that children get. Those of a deployed operator must not change.
    #[must_use]
    pub fn with_labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// Takes over the field managers and finalizers of an earlier program. Stop that program first.
    #[must_use]
    pub fn succeeding(mut self, predecessor: Predecessor) -> Self {
        self.predecessor = predecessor;
        self
    }

    /// Takes over from a [roperator](https://docs.rs/roperator) program of the same name: its
    /// labels stay in use, its children and its finalizers become ours. Stop that program first.
    #[must_use]
    pub fn succeeding_roperator(mut self) -> Self {
        self.labels = Labels {
            parent_uid: "app.kubernetes.io/instance".to_owned(),
            managed_by: "app.kubernetes.io/managed-by".to_owned(),
        };
        let name = || vec![self.name.clone()];
        self.predecessor = Predecessor { field_managers: name(), finalizers: name() };
        self
    }

    /// Sets how many reconciles may be in flight at once. Default 32. One is always allowed.
    ///
    /// More are allowed only while all operators of the process together have no more in flight than the
    /// highest limit among them. Reconciles that have taken a second already do not count for that, nor
    /// do those of asynchronous handlers.
    #[must_use]
    pub fn with_max_concurrent_reconciles(mut self, limit: usize) -> Self {
        self.max_concurrent_reconciles = limit;
        self
    }

    /// Sets how long a handler may take before its reconcile counts as failed. Default 30 seconds.
    #[must_use]
    pub fn with_handler_deadline(mut self, deadline: Duration) -> Self {
        self.handler_deadline = deadline;
        self
    }

    /// Combines changes within a short time into one reconcile, for parents with many busy children. By
    /// default they are not collected.
    ///
    /// Changes of children and of the parent's status wait for `window` after the first of them. A
    /// change of the parent itself is reconciled at once, and those that follow within `window`
    /// together at its end. So a parent is reconciled at most about twice per window, however often
    /// it changes; no change waits longer than `window`. A deletion, a reconcile's own follow-up
    /// and retries are not delayed.
    #[must_use]
    pub fn with_debounce(mut self, window: Duration) -> Self {
        self.debounce = window;
        self
    }

    /// Sets the delay after a first failure and the longest delay between retries. Default 500 ms and 600
    /// seconds.
    ///
    /// The actual delay is between half and all of it. Each further failure doubles it.
    #[must_use]
    pub fn with_error_backoff(mut self, min: Duration, max: Duration) -> Self {
        (self.min_error_backoff, self.max_error_backoff) = (min, max);
        self
    }

    /// Records Normal Events too: which children were created, updated and deleted, what the server
    /// changes in them, and that a pause has begun or ended.
    #[must_use]
    pub fn with_normal_events(mut self) -> Self {
        self.normal_events = true;
        self
    }

    /// Sets whether the handler may be called for a preview, whose response is only shown (`?diff=1` of the
    /// web endpoint). By default a blocking handler is, and an asynchronous one is not: it calls other
    /// systems, and each look at a preview would repeat that. A handler that may be called and changes
    /// other systems must ask [`SyncRequest::is_preview`](super::SyncRequest::is_preview).
    #[must_use]
    pub fn with_preview(mut self, is_allowed: bool) -> Self {
        self.preview = Some(is_allowed);
        self
    }

    /// The same without its role, which only its options show.
    pub(crate) fn erased(self) -> OperatorConfig {
        let Self { name, parent, definition, namespaces, parent_selector, .. } = self;
        let Self { parent_annotations, .. } = self;
        let Self { children, ready_when, related, labels, finalizer, predecessor, .. } = self;
        let Self { deletion_limit, max_concurrent_reconciles, handler_deadline, debounce, .. } =
            self;
        let Self { min_error_backoff, max_error_backoff, normal_events, child_status, .. } = self;
        let Self { preview, decorator, beside, plan_only, is_sharded, shared_status, .. } = self;
        OperatorConfig {
            name,
            parent,
            definition,
            namespaces,
            parent_selector,
            parent_annotations,
            children,
            ready_when,
            related,
            labels,
            finalizer,
            predecessor,
            deletion_limit,
            max_concurrent_reconciles,
            handler_deadline,
            debounce,
            min_error_backoff,
            max_error_backoff,
            normal_events,
            child_status,
            preview,
            decorator,
            beside,
            plan_only,
            is_sharded,
            shared_status,
            role: PhantomData,
        }
    }

    /// The finalizer of its parents.
    pub(crate) fn finalizer_name(&self) -> String {
        self.finalizer.clone().unwrap_or_else(|| format!("operetta.dev/{}", self.name))
    }

    /// How the objects of a type are treated, apart from options that one of them may have; `None`
    /// for a type that is not declared. For a desired child see [`ChildType::config_of`].
    pub(crate) fn child_config(&self, ty: &K8sType) -> Option<ChildConfig> {
        self.children.iter().find(|child| child.ty == *ty).map(|child| child.config)
    }

    /// The declared child type of this apiVersion and kind.
    pub(crate) fn child_type(&self, api_version: &str, kind: &str) -> Option<&ChildType> {
        self.children.iter().find(|child| child.ty.is(api_version, kind))
    }

    /// The checked name.
    pub fn operator_name(&self) -> Result<OperatorName, ConfigError> {
        Ok(OperatorName::new(&self.name)?)
    }
}
