//! Children of built-in types: defaults of the server are not a difference, and every edit by others is
//! one. The children are in `tests/testdata/builtins.yaml`.

use std::{collections::BTreeSet, time::Duration};

use operetta::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, Request},
    recipe::{self, RECIPE, recipe},
    world::{Kind, World},
};

#[derive(Deserialize)]
struct Data {
    applied_again: BTreeSet<String>,
    gated: Vec<Gated>,
    types: Vec<Type>,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Type {
    /// `apiVersion`, kind and plural.
    #[serde(rename = "type")]
    names: String,
    #[serde(default)]
    cluster_scoped: bool,
    /// Whether the embedded server does not serve the type.
    #[serde(default)]
    not_embedded: bool,
    objects: Vec<Value>,
}

/// A field of a feature that may not be enabled.
#[derive(Deserialize)]
struct Gated {
    kind: String,
    name: String,
    /// A JSON pointer.
    field: String,
}

#[derive(Deserialize)]
struct Edit {
    kind: String,
    name: String,
    patch: Value,
}

impl Data {
    /// Cluster-scoped objects have the test's namespace in their names.
    async fn of(world: &World) -> Self {
        let text = include_str!("../../testdata/builtins.yaml");
        let text = text.replace("{namespace}", &world.namespace);
        let mut data: Self = serde_yaml_ng::from_str(&text).unwrap();
        let is_embedded = matches!(world.cluster, Cluster::Embedded(..));
        let mut served = Vec::new();
        for ty in data.types {
            // An older version of Kubernetes may lack a type; the embedded server lacks only these.
            let is_served =
                if is_embedded { !ty.not_embedded } else { world.serves(ty.kind()).await };
            served.extend(is_served.then_some(ty));
        }
        data.types = served;
        data
    }

    fn config(&self) -> OperatorConfig {
        let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
        let config = OperatorConfig::new("cook", parent)
            .without_deletion_limit()
            .with_error_backoff(Duration::from_millis(50), Duration::from_millis(100));
        self.types.iter().fold(config, |config, ty| {
            let Kind(api_version, kind, plural) = ty.kind();
            if ty.cluster_scoped {
                let ty = K8sType::cluster_scoped(api_version, kind, plural);
                config.child_of_type(ty, ChildConfig::apply().delete_with_finalizer())
            } else {
                let ty = K8sType::namespaced(api_version, kind, plural);
                config.child_of_type(ty, ChildConfig::apply())
            }
        })
    }

    fn children(&self) -> Vec<Value> {
        let of_type = |ty: &Type| {
            let Kind(api_version, kind, _) = ty.kind();
            let typed = move |mut object: Value| {
                object["apiVersion"] = json!(api_version);
                object["kind"] = json!(kind);
                object
            };
            ty.objects.clone().into_iter().map(typed)
        };
        self.types.iter().flat_map(of_type).collect()
    }

    /// The children that a new process applies once more: also those of which the server dropped a field.
    async fn applied_again(&self, world: &World) -> BTreeSet<String> {
        let mut again = self.applied_again.clone();
        for Gated { kind, name, field } in &self.gated {
            let Some(kind) = self.types.iter().map(Type::kind).find(|it| it.1 == *kind) else {
                continue;
            };
            if world.get(kind, name).await.pointer(field).is_none() {
                again.insert(format!("{}/{name}", kind.2));
            }
        }
        again
    }

    fn kind(&self, name: &str) -> Kind {
        self.types.iter().map(Type::kind).find(|kind| kind.1 == name).unwrap()
    }
}

impl Type {
    fn kind(&self) -> Kind {
        Kind::read(&self.names)
    }
}

/// The part of an object that the handler decides.
fn content(object: &Value) -> Value {
    let mut content = object.clone();
    let Some(fields) = content.as_object_mut() else { return content };
    fields.remove("status");
    let metadata = content["metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| ["labels", "ownerReferences"].contains(&name.as_str()));
    content
}

/// The written children, as `services/a`. The order of concurrent writes is random.
fn written(requests: impl Iterator<Item = Request>) -> BTreeSet<String> {
    let of_children = |request: &Request| {
        request.is_write() && !["recipes", "events"].contains(&request.resource.as_str())
    };
    let name = |request: Request| {
        let path = request.uri.split('?').next().unwrap().to_owned();
        format!("{}/{}", request.resource, path.rsplit('/').next().unwrap())
    };
    requests.filter(of_children).map(name).collect()
}

#[operetta_harness::test(server)]
async fn children_of_built_in_types_are_written_once_and_every_change_is_repaired() {
    let world = World::that_logs_requests().await;
    let data = Data::of(&world).await;
    let operators = world.start(|builder| builder.register(data.config(), recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &data.children())).await;
    world.until_synced(RECIPE, "r").await;
    operators.settled().await;
    operators.stop().await;
    let before = world.our_requests().await.len();
    let operators = world.start(|builder| builder.register(data.config(), recipe::handler())).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    let again = world.our_requests().await.split_off(before);
    assert_eq!(written(again.into_iter()), data.applied_again(&world).await);
    for Edit { kind, name, patch } in &data.edits {
        let kind = data.kind(kind);
        let before = content(&world.get(kind, name).await);
        let edited = world.patch(kind, name, patch.clone()).await;
        assert_ne!(content(&edited), before, "{} {name}: {patch}", kind.1);
        let what = format!("{} {name} repaired after {patch}", kind.1);
        world.until(kind, name, &what, |now| content(now) == before).await;
    }
    operators.stop().await;
}
