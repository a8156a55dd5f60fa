//! A board with two operators.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::{
    board::{
        Board, Group, OperatorInfo, OperatorState, ParentPhase, ParentState, QueueState, Reader,
        TypeState,
    },
    election::Standing,
    history::{Cause, Decision, FailureKind, Outcome, Reconcile, Verb, WriteRecord},
    metrics::Metrics,
    object::{
        K8sType, KeptManagers, Object, ObjectKey, ResourceVersion, SecretFields, Uid, Undecodable,
    },
    operator::{ChildConfig, OperatorConfig, OperatorName, Pause},
    plan::UndeclaredField,
    schedule::Priority,
    store::{ScopeId, Store},
    web::{Program, WebState},
};

/// A value that no answer may contain.
pub(super) const SENTINEL: &str = "sentinel-c2VjcmV0";
/// The same, marked by the schema of the parent.
pub(super) const MARKED: &str = "marked-sentinel";

pub(super) const LABEL: &str = "operetta.dev/parent-uid";

pub(super) struct World {
    pub(super) state: WebState,
    echo_servers: (Store, ScopeId),
    pods: (Store, ScopeId),
    secrets: (Store, ScopeId),
    namespaces: (Store, ScopeId),
}

impl World {
    /// `echo-server` (with pods and secrets) and `spaces` (cluster-scoped, without children), starting.
    pub(super) fn new() -> Self {
        let program = Program::default();
        let state = WebState::new(Board::new(), Metrics::new(), program);
        let echo = OperatorConfig::new("echo-server", echo_servers())
            .child_of_type(pods(), ChildConfig::recreate())
            .child_of_type(secrets(), ChildConfig::apply());
        for config in [echo, OperatorConfig::new("spaces", namespaces())] {
            let name = config.operator_name().unwrap();
            state.board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
            state.board.show_queue(&name, Reader::new(busy_queue));
        }
        let store = |ty: K8sType| {
            let store = Store::new(ty, BTreeSet::from([LABEL.to_owned()]));
            let scope = store.add_scope(None);
            state.board.add_store(store.reader());
            (store, scope)
        };
        let [echo_servers, pods, secrets, namespaces] =
            [echo_servers(), pods(), secrets(), namespaces()].map(store);
        Self { state, echo_servers, pods, secrets, namespaces }
    }

    /// All types listed, both operators running.
    pub(super) fn running() -> Self {
        let world = Self::new();
        for (store, scope) in [&world.echo_servers, &world.pods, &world.secrets, &world.namespaces]
        {
            let start = store.begin_list(*scope);
            let version = ResourceVersion::new("1");
            let _ = store.replace(*scope, start, Vec::new(), &version);
            let last_event = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1));
            let secrets = Some(marks().into());
            let state = TypeState { synced: true, last_event, secrets, ..Default::default() };
            world.state.board.set_type(store.reader().ty(), state);
        }
        for name in ["echo-server", "spaces"] {
            world.set(name, OperatorState::Running);
        }
        world
    }

    pub(super) fn set(&self, operator: &str, state: OperatorState) {
        self.state.board.set_operator(&OperatorName::new(operator).unwrap(), state);
    }

    pub(super) fn pause(&self, operator: &str) {
        let paused = Arc::new(Pause::begun(SystemTime::now(), None, None, None));
        self.state.board.set_paused(&OperatorName::new(operator).unwrap(), Some(paused));
    }

    /// Sets the status fields that the parent type of an operator does not declare.
    pub(super) fn lacks(&self, operator: &str, fields: &[UndeclaredField]) {
        let (name, fields) = (OperatorName::new(operator).unwrap(), fields.to_vec());
        self.state.board.show_undeclared(&name, Reader::new(move || fields.clone()));
    }

    /// A parent `ns/a` whose last reconcile failed after a successful one, its Pod and its Secret.
    pub(super) fn with_parent(self) -> Self {
        let quoting = format!("cannot log in with {MARKED}");
        observe(
            &self.echo_servers,
            &json!({
                "metadata": {"name": "a", "namespace": "ns", "uid": "p", "resourceVersion": "5",
                             "generation": 2},
                "spec": {"password": MARKED},
                "status": {"conditions": [{"type": "Ready", "status": "False", "message": quoting}]},
            }),
        );
        let metadata = |name: &str| {
            json!({
                "name": name, "namespace": "ns", "uid": name, "resourceVersion": "6",
                "labels": {LABEL: "p"},
                "ownerReferences": [{"uid": "p", "controller": true}],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SENTINEL},
            })
        };
        let env = json!([{"name": "PASSWORD", "value": MARKED}]);
        let message = format!("exec: --password={MARKED}: not found");
        let waiting = json!({"reason": "CreateContainerError", "message": message});
        observe(
            &self.pods,
            &json!({
                "metadata": metadata("pod"),
                "spec": {"containers": [{"name": "c", "env": env}]},
                "status": {"containerStatuses": [{"name": "c", "state": {"waiting": waiting}}]},
            }),
        );
        let data = json!({"password": SENTINEL});
        observe(
            &self.secrets,
            &json!({"metadata": metadata("secret"), "data": data, "stringData": data}),
        );
        let parent = failing_parent();
        let name = OperatorName::new("echo-server").unwrap();
        self.state.board.record(&name, &ObjectKey::namespaced("ns", "a"), parent);
        self
    }

    /// Annotates the parent `ns/a`.
    pub(super) fn annotate_parent(&self, name: &str, value: &str) {
        let annotations = json!({name: value});
        observe(
            &self.echo_servers,
            &json!({"metadata": {"name": "a", "namespace": "ns", "uid": "p",
                                 "resourceVersion": "7", "annotations": annotations}}),
        );
    }

    /// Adds Pods that cannot be decoded.
    pub(super) fn with_undecodable_pods(self, count: usize) -> Self {
        for number in 0..count {
            let metadata = json!({"name": format!("pod-{number}"), "namespace": "ns"});
            let text = json!({"metadata": metadata}).to_string();
            self.pods.0.mark_undecodable(Undecodable::read(&pods(), &text, "odd".to_owned()));
        }
        self
    }

    /// Adds Pods of the parent `ns/a`.
    pub(super) fn with_pods(self, count: usize) -> Self {
        for number in 0..count {
            let name = format!("pod-{number:03}");
            let metadata = json!({
                "name": name, "namespace": "ns", "uid": name, "resourceVersion": "8",
                "labels": {LABEL: "p"}, "ownerReferences": [{"uid": "p", "controller": true}],
            });
            observe(&self.pods, &json!({"metadata": metadata}));
        }
        self
    }

    /// Adds parents of `echo-server` that fail.
    pub(super) fn with_failing_parents(self, count: usize) -> Self {
        let operator = OperatorName::new("echo-server").unwrap();
        for number in 0..count {
            let key = ObjectKey::namespaced("many", &format!("p{number:03}"));
            self.state.board.record(&operator, &key, failing_parent());
        }
        self
    }

    /// The process shares its parents with another one.
    pub(super) fn in_group(self) -> Self {
        let [works, closing, watches, unowned] =
            ["0-31", "", "0-31", ""].map(|it| it.parse().unwrap());
        let (name, member, selects_shards) = ("cooks".to_owned(), "cooks-1".to_owned(), Some(true));
        let other = Standing { holds: "32-63".parse().unwrap(), ..Standing::default() };
        let others = vec![("cooks-2".to_owned(), Some(other))];
        self.state.board.show_group(Group {
            name,
            member,
            works,
            closing,
            declines: false,
            watches,
            unowned,
            selects_shards,
            others,
        });
        self
    }

    /// Adds namespaces, each a parent of `spaces`.
    pub(super) fn with_namespaces(self, count: usize) -> Self {
        let operator = OperatorName::new("spaces").unwrap();
        for number in 0..count {
            let name = format!("n{number:05}");
            observe(
                &self.namespaces,
                &json!({"metadata": {"name": name, "uid": name, "resourceVersion": "9"}}),
            );
            let parent = ParentState::pending(Uid::new(&name), None);
            self.state.board.record(&operator, &ObjectKey::cluster(&name), parent);
        }
        self
    }
}

pub(super) fn pods() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn echo_servers() -> K8sType {
    K8sType::namespaced("example.com/v1", "EchoServer", "echoservers")
}

fn secrets() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}

fn namespaces() -> K8sType {
    K8sType::cluster_scoped("v1", "Namespace", "namespaces")
}

fn observe((store, scope): &(Store, ScopeId), value: &Value) {
    let ty = store.reader().ty().clone();
    let object = Object::from_value(&ty, value, &KeptManagers::default()).unwrap();
    let _ = store.observe(*scope, object);
}

/// The secret fields of the custom types.
fn marks() -> SecretFields {
    SecretFields::of_schema(&json!({"properties": {"spec": {"properties": {
        "password": {"type": "string", "format": "password"},
    }}}}))
}

fn busy_queue() -> QueueState {
    let waiting = Priority::ALL.into_iter().zip([0, 2, 0, 1]).collect();
    let longest_wait = Some(Duration::from_millis(1500));
    QueueState { running: 16, limit: 16, waiting, longest_wait }
}

fn failing_parent() -> ParentState {
    let mut state = ParentState::pending(Uid::new("p"), Some(2));
    let took = Duration::from_millis(3);
    let mut first = Reconcile::new(SystemTime::UNIX_EPOCH, took, Outcome::Wrote);
    first.causes = vec![Cause::Restarted];
    first.decisions = Arc::new([Decision::from(WriteRecord {
        child: "Pod.v1 ns/pod".to_owned(),
        verb: Verb::Created,
        paths: Vec::new(),
        drift: None,
    })]);
    state.history.record(first);
    let message = "no such image".to_owned();
    let (reason, failure) = (FailureKind::HandlerFailed, message.as_str().into());
    let outcome = Outcome::Failed { reason, message: failure };
    state.history.record(Reconcile::new(SystemTime::UNIX_EPOCH, took, outcome));
    ParentState { phase: ParentPhase::Failing, failures: 1, message: Some(message), ..state }
}
