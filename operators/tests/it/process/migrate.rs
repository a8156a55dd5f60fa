//! `migrate`: objects that are stored in an old version of their type.

use k8s_openapi::{
    api::core::v1::Namespace,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    },
};
use operetta::supervisor::install_crds;
use serde_json::{Value, json};

use crate::{cluster::Cluster, definitions::until, program::output};

const CRD: &str = "tins.migration.operetta.dev";
const NAMESPACE: &str = "migrated";

/// Named `oldSelf`, it is also checked for a value that stays as it is.
const HEAVY: &str =
    "!has(self.grams) || self.grams >= 10 || (has(oldSelf.grams) && oldSelf.grams < 0)";

/// The type in these versions, the first of which is stored. Only v1 needs a label, and has a rule.
fn definition(versions: &[&str]) -> CustomResourceDefinition {
    let version = |name: &&str| {
        let mut spec = json!({"type": "object",
            "properties": {"label": {"type": "string"}, "grams": {"type": "integer"}}});
        if *name == "v1" {
            spec["required"] = json!(["label"]);
            spec["x-kubernetes-validations"] = json!([{"rule": HEAVY, "message": "too light"}]);
        }
        json!({"name": name, "served": true, "storage": *name == versions[0],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    };
    serde_json::from_value(json!({
        "metadata": {"name": CRD},
        "spec": {"group": "migration.operetta.dev", "scope": "Namespaced",
            "names": {"kind": "Tin", "plural": "tins", "singular": "tin", "listKind": "TinList"},
            "versions": versions.iter().map(version).collect::<Vec<_>>()},
    }))
    .unwrap()
}

/// A cluster with the type.
struct Store {
    cluster: Cluster,
    client: Client,
}

impl Store {
    /// Three objects are stored in v1alpha1, one of them without a label, and one against the rule; then v1 is stored.
    async fn filled() -> Self {
        let cluster = Cluster::start().await;
        let client = cluster.client().await;
        let store = Self { cluster, client };
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(NAMESPACE.to_owned());
        // It may be left of an earlier test.
        let _ = Api::all(store.client.clone()).create(&PostParams::default(), &namespace).await;
        store.install(&["v1alpha1", "v1"]).await.unwrap();
        for (name, spec) in [
            ("beans", json!({"label": "beans", "grams": 400})),
            ("peas", json!({"grams": 200})),
            ("saffron", json!({"label": "saffron", "grams": 1})),
        ] {
            let tin = json!({"apiVersion": "migration.operetta.dev/v1alpha1", "kind": "Tin",
                "metadata": {"name": name}, "spec": spec});
            let tin: DynamicObject = serde_json::from_value(tin).unwrap();
            store.tins("v1alpha1").create(&PostParams::default(), &tin).await.unwrap();
        }
        store.install(&["v1", "v1alpha1"]).await.unwrap();
        assert_eq!(store.stored().await, ["v1alpha1", "v1"]);
        store
    }

    async fn install(&self, versions: &[&str]) -> Result<(), String> {
        let installed = install_crds(&self.client, &[definition(versions)]).await;
        installed.map_err(|error| format!("{:#}", anyhow::Error::from(error)))
    }

    fn tins(&self, version: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("migration.operetta.dev", version, "Tin");
        let resource = ApiResource::from_gvk_with_plural(&kind, "tins");
        Api::namespaced_with(self.client.clone(), NAMESPACE, &resource)
    }

    async fn stored(&self) -> Vec<String> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        crds.get(CRD).await.unwrap().status.unwrap().stored_versions.unwrap()
    }

    async fn migrate(&self, flags: &[&str]) -> (Option<i32>, String) {
        let kubeconfig = self.cluster.kubeconfig().to_str().unwrap();
        let arguments = [&["migrate", CRD, "--kubeconfig", kubeconfig], flags].concat();
        let (code, printed, errors) = output(&arguments).await;
        assert_eq!(errors, "", "{printed}");
        (code, printed)
    }

    /// The version of an object.
    async fn at(&self, name: &str) -> String {
        self.tins("v1").get(name).await.unwrap().resource_version().unwrap()
    }

    async fn remove(self) {
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        crds.delete(CRD, &DeleteParams::default()).await.unwrap();
        until("the type is removed", async || crds.get_opt(CRD).await.unwrap().is_none()).await;
    }
}

#[operetta_harness::test(server)]
async fn what_is_stored_in_an_old_version_is_written_again_and_then_the_version_can_go() {
    let store = Store::filled().await;
    let refused = store.install(&["v1"]).await.unwrap_err();
    assert!(refused.contains("storedVersions"), "{refused}");
    let before = store.at("beans").await;

    // An object that the new version refuses keeps it from ending. What lacks a field is accepted as long as it stays so.
    let (code, printed) = store.migrate(&[]).await;
    assert_eq!(code, Some(1), "{printed}");
    for part in [
        "tins.migration.operetta.dev: objects may be stored in v1alpha1; v1 is stored now\n",
        ": 2 written, 0 written by others meanwhile, 0 deleted meanwhile, 1 could not be written\n",
        ": migrated/saffron cannot be written: ",
        "too light",
        ": status.storedVersions keeps v1alpha1: ",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(store.stored().await, ["v1alpha1", "v1"]);
    let written = store.at("beans").await;
    assert_ne!(written, before, "it was stored in another version");

    let more = Patch::Merge(json!({"spec": {"grams": 10}}));
    store.tins("v1").patch("saffron", &PatchParams::default(), &more).await.unwrap();
    let (code, printed) = store.migrate(&["--dry-run"]).await;
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains(": would remove v1alpha1 from status.storedVersions\n"), "{printed}");
    assert_eq!(store.stored().await, ["v1alpha1", "v1"]);

    let (code, printed) = store.migrate(&["--per-second", "1000"]).await;
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains(": removed v1alpha1 from status.storedVersions: "), "{printed}");
    assert_eq!(store.stored().await, ["v1"]);
    assert_eq!(store.at("beans").await, written, "it was stored in this version already");

    store.install(&["v1"]).await.unwrap();
    let beans: Value = serde_json::to_value(store.tins("v1").get("beans").await.unwrap()).unwrap();
    assert_eq!(beans["spec"], json!({"label": "beans", "grams": 400}));
    let (code, printed) = store.migrate(&[]).await;
    let nothing =
        "tins.migration.operetta.dev: everything is stored in v1: there is nothing to migrate\n";
    assert_eq!((code, &*printed), (Some(0), nothing));
    store.remove().await;
}
