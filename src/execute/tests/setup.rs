//! The setup of a scripted operator: its parent, children, handler, and their peculiarities.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    handler::{Meanwhile, ScriptedHandler},
    objects::{Reply, app, openapi, parent},
    scripted::{Asked, World},
    *,
};
use crate::{
    object::{K8sType, KeptManagers, ResourceVersion, Undecodable},
    operator::{ChildConfig, OperatorConfig, Permanent, SyncRequest},
    store::{Revisions, ScopeId, Store},
};

/// The setup of a scripted operator.
pub(super) struct Setup {
    child: K8sType,
    config: ChildConfig,
    parent: Value,
    cached: Vec<Value>,
    desired: Result<Vec<Value>, Permanent>,
    /// The signal that the handler waits for, beyond its deadline.
    release: Option<Mutex<mpsc::Receiver<()>>>,
    pub(super) panics: bool,
    /// The error of `finalize`.
    finalize_error: Option<&'static str>,
    configure: fn(OperatorConfig) -> OperatorConfig,
    pub(super) published: Reply,
    /// Runs during the handler call.
    meanwhile: Option<Meanwhile>,
    /// The status that the handler returns.
    status: Option<Value>,
    /// The text of an undecodable child.
    undecodable: Option<String>,
    is_parent_unreadable: bool,
    /// Whether the watch of the parents is interrupted.
    is_cut_off: bool,
    /// The request permits.
    pub(super) requests: RequestPermits,
    /// The children that are not listed yet.
    unlisted: Option<Unlisted>,
}

/// The children that are not listed yet.
#[derive(Debug, Clone, Copy)]
enum Unlisted {
    All,
    OfOneNamespace,
}

impl Setup {
    pub(super) fn new(child: K8sType, config: ChildConfig) -> Self {
        let parent = parent("3");
        let (cached, desired) = (Vec::new(), Ok(Vec::new()));
        Self {
            child,
            config,
            parent,
            cached,
            desired,
            release: None,
            panics: false,
            finalize_error: None,
            configure: |config| config,
            published: (200, openapi()),
            meanwhile: None,
            status: None,
            undecodable: None,
            is_parent_unreadable: false,
            is_cut_off: false,
            requests: RequestPermits::default(),
            unlisted: None,
        }
    }

    /// The parent is being deleted, and has these finalizers.
    pub(super) fn ending(mut self, finalizers: &[&str]) -> Self {
        self.parent["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        self.parent["metadata"]["finalizers"] = json!(finalizers);
        self
    }

    /// One request is sent at a time.
    pub(super) fn one_by_one(self) -> Self {
        Self { requests: RequestPermits::of(1), ..self }
    }

    /// Another parent.
    pub(super) fn of(self, parent: Value) -> Self {
        Self { parent, ..self }
    }

    /// A cached child.
    pub(super) fn caching(mut self, child: Value) -> Self {
        self.cached.push(child);
        self
    }

    /// The one child that the handler returns.
    pub(super) fn desiring(self, child: Value) -> Self {
        Self { desired: Ok(vec![child]), ..self }
    }

    /// Another child that it returns.
    pub(super) fn and(mut self, child: Value) -> Self {
        self.desired = self.desired.map(|mut desired| {
            desired.push(child);
            desired
        });
        self
    }

    /// The handler fails permanently.
    pub(super) fn failing_for_good(self) -> Self {
        Self { desired: Err(Permanent("the spec makes no sense".to_owned())), ..self }
    }

    /// The handler returns after the signal, beyond its deadline.
    pub(super) fn answering_after(self, release: mpsc::Receiver<()>) -> Self {
        Self { release: Some(Mutex::new(release)), ..self }
    }

    /// The code after a write panics.
    pub(super) fn panicking(self) -> Self {
        Self { panics: true, ..self }
    }

    /// The handler has a `finalize`, which fails.
    pub(super) fn refusing_to_finalize(self, why: &'static str) -> Self {
        Self { finalize_error: Some(why), ..self }
    }

    pub(super) fn configured(self, configure: fn(OperatorConfig) -> OperatorConfig) -> Self {
        Self { configure, ..self }
    }

    /// Runs during the handler call.
    pub(super) fn while_called(self, what: impl Fn() + Send + Sync + 'static) -> Self {
        self.asking(move |_| what())
    }

    /// Runs with the request of the handler.
    pub(super) fn asking(self, what: impl Fn(&SyncRequest) + Send + Sync + 'static) -> Self {
        Self { meanwhile: Some(Box::new(what)), ..self }
    }

    /// The newest version of the parent is undecodable.
    pub(super) fn with_unreadable_parent(self) -> Self {
        Self { is_parent_unreadable: true, ..self }
    }

    /// The watch of the parents is interrupted.
    pub(super) fn cut_off(self) -> Self {
        Self { is_cut_off: true, ..self }
    }

    /// The children of one more namespace are not listed yet.
    pub(super) fn partly_listed(self) -> Self {
        Self { unlisted: Some(Unlisted::OfOneNamespace), ..self }
    }

    /// The children are not listed yet.
    pub(super) fn unlisted(self) -> Self {
        Self { unlisted: Some(Unlisted::All), ..self }
    }

    /// An undecodable child.
    pub(super) fn leaving_out(self, child: &Value) -> Self {
        Self { undecodable: Some(child.to_string()), ..self }
    }

    /// The handler returns this status.
    pub(super) fn returning(self, status: Value) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The answer to the request for the schema of the parent.
    pub(super) fn publishing(self, published: Reply) -> Self {
        Self { published, ..self }
    }

    pub(super) fn before(self, script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> World {
        World::new(self, Arc::new(script))
    }

    pub(super) fn config(&self) -> OperatorConfig {
        let (child, config) = (self.child.clone(), self.config);
        let config = OperatorConfig::new("op", app()).child_of_type(child, config);
        let mut config = (self.configure)(config);
        if self.release.is_some() {
            config.handler_deadline = Duration::from_millis(1);
        }
        config
    }

    pub(super) fn parents(&self, revisions: &Revisions) -> (Store, ScopeId) {
        let (parents, scope) = store(revisions, &app(), None, std::slice::from_ref(&self.parent));
        if self.is_parent_unreadable {
            let metadata = json!({"name": "p", "namespace": "ns", "uid": 7});
            let text = json!({"metadata": metadata}).to_string();
            parents.mark_undecodable(Undecodable::read(&app(), &text, "odd".to_owned()));
        }
        parents.cut_off(scope, self.is_cut_off);
        (parents, scope)
    }

    /// The store of the child type.
    pub(super) fn children(&self, revisions: &Revisions) -> (Store, ScopeId) {
        let is_in_part = matches!(self.unlisted, Some(Unlisted::OfOneNamespace));
        let (children, scope) =
            store(revisions, &self.child, is_in_part.then_some("ns"), &self.cached);
        if let Some(text) = &self.undecodable {
            children.mark_undecodable(Undecodable::read(&self.child, text, "odd".to_owned()));
        }
        match self.unlisted {
            Some(Unlisted::All) => children.cut_off(scope, true),
            Some(Unlisted::OfOneNamespace) => {
                children.add_scope(Some("elsewhere".to_owned()));
            }
            None => {}
        }
        (children, scope)
    }

    pub(super) fn handler(self) -> ScriptedHandler {
        let Self { desired, status, release, finalize_error, meanwhile, .. } = self;
        ScriptedHandler { desired, status, release, finalize_error, meanwhile }
    }
}

/// A store of one or all namespaces, and its scope.
fn store(
    revisions: &Revisions,
    ty: &K8sType,
    namespace: Option<&str>,
    items: &[Value],
) -> (Store, ScopeId) {
    let labels = BTreeSet::from(["operetta.dev/parent-uid".to_owned()]);
    let store = Store::sharing(revisions, ty.clone(), labels);
    let scope = store.add_scope(namespace.map(str::to_owned));
    let start = store.begin_list(scope);
    let items = items.iter().map(|item| object(ty, item)).collect();
    store.replace(scope, start, items, &ResourceVersion::Number(5));
    (store, scope)
}

pub(super) fn object(ty: &K8sType, value: &Value) -> Object {
    Object::from_value(ty, value, &kept()).unwrap()
}

pub(super) fn kept() -> KeptManagers {
    KeptManagers::new(["op", "predecessor"])
}
