//! The custom resources of the programs and tests.

use serde_json::{Value, json};

use crate::world::World;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The types of this repository.
const OURS: [CustomType; 4] = [
    of("programs.operetta.dev/v1", "Worker", "workers", "Namespaced"),
    of("programs.operetta.dev/v1", "Stall", "stalls", "Cluster"),
    of("programs.operetta.dev/v1", "Orchard", "orchards", "Namespaced"),
    of("programs.operetta.dev/v1", "Tree", "trees", "Namespaced"),
];

/// The types that what was published asks for.
const PUBLISHED: [CustomType; 4] = [
    of("example.roperator.com/v1alpha1", "EchoServer", "echoservers", "Namespaced"),
    of("example.roperator.com/v1alpha1", "TempNamespace", "tempnamespaces", "Cluster"),
    of("roperator.com/v1alpha1", "TestParent", "testparents", "Namespaced"),
    of("roperator.com/v1alpha1", "TestChildOne", "testchildones", "Namespaced"),
];

/// A type whose objects may hold anything.
pub(crate) struct CustomType {
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    scope: &'static str,
}

const fn of(
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    scope: &'static str,
) -> CustomType {
    CustomType { api_version, kind, plural, scope }
}

pub(crate) fn all() -> impl Iterator<Item = &'static CustomType> {
    OURS.iter().chain(&PUBLISHED)
}

impl CustomType {
    /// The name of the CRD.
    pub(crate) fn crd_name(&self) -> String {
        format!("{}.{}", self.plural, self.group_and_version().0)
    }

    fn group_and_version(&self) -> (&str, &str) {
        self.api_version.split_once('/').unwrap()
    }

    fn crd(&self) -> Value {
        let (group, version) = self.group_and_version();
        let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.crd_name()},
            "spec": {
                "group": group,
                "scope": self.scope,
                "names": {
                    "kind": self.kind, "plural": self.plural, "singular": self.kind.to_lowercase(),
                },
                "versions": [{
                    "name": version, "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": any}, "subresources": {"status": {}},
                }],
            },
        })
    }
}

/// Returns when objects of the new types are collected with their owners: the garbage collector of a real
/// cluster looks for new types every 30 seconds, and tests of roperator wait for less.
pub(crate) async fn install(world: &World) {
    for ty in all() {
        world.create(CRDS, ty.crd()).await;
        let is_established = |crd: &Value| {
            let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|it| it["type"] == "Established" && it["status"] == "True")
        };
        let path = format!("{CRDS}/{}", ty.crd_name());
        world.until(&path, "an established CRD", is_established).await;
    }
    collects(world).await;
}

/// All types were established before, so that what holds for one of them holds for all.
async fn collects(world: &World) {
    let of = |plural: &str| format!("/apis/programs.operetta.dev/v1/namespaces/default/{plural}");
    let object = |kind: &str, metadata: Value| json!({"apiVersion": "programs.operetta.dev/v1", "kind": kind, "metadata": metadata});
    let (parents, children) = (of("orchards"), of("trees"));
    let parent = world.create(&parents, object("Orchard", json!({"name": "probe"}))).await;
    let owner = json!({
        "apiVersion": "programs.operetta.dev/v1", "kind": "Orchard", "name": "probe",
        "uid": parent["metadata"]["uid"],
    });
    let metadata = json!({"name": "probe", "ownerReferences": [owner]});
    world.create(&children, object("Tree", metadata)).await;
    world.delete(&format!("{parents}/probe")).await;
    world.until_gone(&format!("{children}/probe")).await;
}
