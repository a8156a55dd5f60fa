//! The types of the children, and their controllers: which status makes an object ready. Decides nothing.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{
    object::{K8sType, Object, ObjectKey},
    plan::ChildId,
    run::tests::world::World,
};

/// The children that a handler may return.
pub(super) const NAMES: [&str; 8] = [
    "Deployment/a",
    "Deployment/b",
    "Deployment/c",
    "Pod/a",
    "Database/a",
    "Database/b",
    "ConfigMap/a",
    "ConfigMap/b",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Deployment,
    Pod,
    /// A custom resource with a condition `Ready`.
    Database,
    /// Ready when it exists.
    ConfigMap,
}

/// What a controller reports of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reported {
    Ready,
    Progressing,
    Failed,
}

impl Kind {
    pub(super) const ALL: [Self; 4] =
        [Self::Deployment, Self::Pod, Self::Database, Self::ConfigMap];

    pub(super) fn ty(self) -> K8sType {
        static TYPES: LazyLock<[K8sType; 4]> = LazyLock::new(|| {
            [
                K8sType::namespaced("apps/v1", "Deployment", "deployments"),
                K8sType::namespaced("v1", "Pod", "pods"),
                K8sType::namespaced("example.com/v1", "Database", "databases"),
                K8sType::namespaced("v1", "ConfigMap", "configmaps"),
            ]
        });
        TYPES[self as usize].clone()
    }

    pub(super) fn of(ty: &K8sType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.ty() == *ty)
    }

    /// The field with the content of an object.
    fn content(self) -> &'static str {
        if self == Self::ConfigMap { "data" } else { "spec" }
    }

    /// The status that a controller writes.
    fn status(self, reported: Reported, generation: Option<i64>) -> Value {
        let is_ready = reported == Reported::Ready;
        let condition = |ty: &str, is: bool, reason: &str| {
            let status = if is { "True" } else { "False" };
            json!({"type": ty, "status": status, "reason": reason})
        };
        let failed = |failed: Value| match reported {
            Reported::Failed => json!([failed]),
            _ => json!([condition("Ready", is_ready, "")]),
        };
        match self {
            Self::Deployment => json!({
                "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1,
                "availableReplicas": i32::from(is_ready),
                "conditions": failed(condition("Progressing", false, "ProgressDeadlineExceeded")),
            }),
            Self::Pod => {
                let phase = match reported {
                    Reported::Ready => "Running",
                    Reported::Progressing => "Pending",
                    Reported::Failed => "Failed",
                };
                json!({"phase": phase, "conditions": [condition("Ready", is_ready, "")]})
            }
            Self::Database => json!({
                "observedGeneration": generation,
                "conditions": failed(condition("Stalled", true, "Broken")),
            }),
            Self::ConfigMap => Value::Null,
        }
    }
}

/// A child by its type and name.
pub(super) fn id(name: &str) -> ChildId {
    let (kind, name) = split(name);
    ChildId { ty: kind.ty(), key: ObjectKey::namespaced("ns", name) }
}

/// A child as the handler returns it.
pub(super) fn body(name: &str, value: &str) -> Value {
    let (kind, name) = split(name);
    let ty = kind.ty();
    json!({
        "apiVersion": ty.api_version(), "kind": ty.kind(), "metadata": {"name": name},
        (kind.content()): {"x": value},
    })
}

/// A change of the content of a child.
pub(super) fn change(name: &str, content: &Value) -> Value {
    json!({(split(name).0.content()): content})
}

/// The value in a body.
pub(super) fn value_in<'a>(id: &ChildId, body: &'a Value) -> Option<&'a str> {
    body[Kind::of(&id.ty)?.content()]["x"].as_str()
}

/// The value of an object.
pub(super) fn value_of(object: &Object) -> Option<String> {
    let content = object.field(Kind::of(object.ty())?.content())?;
    Some(content["x"].as_str()?.to_owned())
}

/// The controller of a child reports its state.
pub(super) fn report(name: &str, reported: Reported, world: &mut World) {
    let (kind, id) = (split(name).0, id(name));
    let generation = world.object(&id).and_then(|object| object.generation());
    let status = kind.status(reported, generation);
    if !status.is_null() {
        world.alter(&id, &json!({"status": status}));
    }
}

fn split(name: &str) -> (Kind, &str) {
    let (kind, name) = name.split_once('/').unwrap();
    let is_it = |it: &Kind| it.ty().kind() == kind;
    (Kind::ALL.into_iter().find(is_it).unwrap(), name)
}
