//! The operator `database` with clients of both versions of its type, and with what it is asked about.

use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim};
use operators::database;

use super::*;

const DATABASES: &str = "databases.example.operetta.dev";
const FIRST: Kind = Kind("example.operetta.dev/v1alpha1", DATABASE.1, DATABASE.2);

/// The API server calls the process, for the Databases in the namespace of the test and for all conversions.
async fn started() -> Answering {
    let converting = |builder: SupervisorBuilder| builder.versions(database::versions());
    let answering = Answering::with(database::webhooks().to_vec(), converting).await;
    let rule = |operations: Value| {
        json!([{
            "apiGroups": ["example.operetta.dev"], "apiVersions": ["v1"], "resources": ["databases"],
            "operations": operations,
        }])
    };
    let [default, possible] = database::webhooks();
    let no_class = json!([{
        "name": "has-no-class", "expression": "!has(object.spec.storage.storageClassName)",
    }]);
    let changes = json!({"rules": rule(json!(["CREATE"])), "matchConditions": no_class});
    answering.configure(&default, changes).await;
    answering.configure(&possible, json!({"rules": rule(json!(["CREATE", "UPDATE"]))})).await;
    let address = answering.operators.running().webhooks().unwrap();
    let client = json!({
        "url": format!("https://{address}/webhooks/convert/{DATABASES}"),
        "caBundle": base64(&answering.certificate),
    });
    let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": client});
    convert(&answering, json!({"strategy": "Webhook", "webhook": webhook})).await;
    answering
}

/// Sets how the type is converted, and waits until the API server does.
async fn convert(answering: &Answering, conversion: Value) {
    answering.world.patch(CRD, DATABASES, json!({"spec": {"conversion": conversion}})).await;
    let served = async || {
        let list = answering.world.api(FIRST).list(&<_>::default()).await;
        list.is_ok()
    };
    eventually("a served type", served, |served| *served).await;
}

impl Answering {
    /// Waits until webhooks see an object.
    async fn until_read(&self, what: &str, is_there: impl Fn(&operetta::web::Stores) -> bool) {
        let stores = self.operators.running().stores();
        eventually(what, async || is_there(&stores), |is_there| *is_there).await;
    }

    async fn refusal(&self, kind: Kind, name: &str, spec: Value) -> String {
        let object = json!({"metadata": {"name": name}, "spec": spec});
        self.world.try_create(kind, object).await.unwrap_err().to_string()
    }
}

/// In one test, because the type is that of the whole cluster.
#[operetta_harness::test(server)]
async fn a_database_has_two_versions_and_the_api_server_asks_the_operator_about_it() {
    let answering = started().await;
    clients_of_both_versions_lose_nothing(&answering.world).await;
    the_class_of_the_namespace_is_the_default(&answering).await;
    what_is_not_possible_is_refused(&answering).await;
    convert(&answering, json!({"strategy": "None", "webhook": null})).await;
    answering.stop().await;
}

async fn clients_of_both_versions_lose_nothing(world: &World) {
    let spec = json!({
        "version": "17.7", "mode": "HighAvailability", "replicas": 3,
        "storage": {"size": "1Gi", "class": "slow"}, "backup": {"schedule": "@daily"},
    });
    world.create(FIRST, json!({"metadata": {"name": "main"}, "spec": spec})).await;
    let new = world.get(DATABASE, "main").await;
    assert_eq!(new["spec"]["version"], json!({"major": 17, "minor": 7}));
    assert_eq!(new["spec"]["storage"]["storageClassName"], "slow");
    assert_eq!(new["spec"].get("mode"), None);
    // A client of each version changes what the other one does not know.
    world.patch(DATABASE, "main", json!({"spec": {"backup": {"size": "5Gi"}}})).await;
    let old = world.get(FIRST, "main").await;
    assert_eq!(old["spec"]["backup"], json!({"schedule": "@daily", "retention": 7}));
    assert_eq!(old["spec"]["mode"], "HighAvailability");
    // The whole of it, as the client knows it; the operator may write the status meanwhile.
    let mut spec = old["spec"].clone();
    spec["backup"]["retention"] = json!(3);
    world.patch(FIRST, "main", json!({"spec": spec})).await;
    let new = world.get(DATABASE, "main").await;
    assert_eq!(new["spec"]["backup"], json!({"schedule": "@daily", "retention": 3, "size": "5Gi"}));
    // A rule of one version protects clients of the other one.
    let shrunk = json!({"spec": {"storage": {"size": "500Mi"}}});
    let params = kube::api::PatchParams::default();
    let refused = world.api(FIRST).patch("main", &params, &kube::api::Patch::Merge(&shrunk)).await;
    assert!(refused.unwrap_err().to_string().contains("size must be a quantity of at least 1Gi"));
}

async fn the_class_of_the_namespace_is_the_default(answering: &Answering) {
    let (world, name) = (&answering.world, answering.world.namespace.clone());
    let annotated = json!({"metadata": {"annotations": {database::DEFAULT_STORAGE_CLASS: "fast"}}});
    world.patch(NAMESPACE, &name, annotated).await;
    let is_annotated = |stores: &operetta::web::Stores| {
        let namespace = stores.get::<Namespace>(name.as_str()).unwrap();
        namespace.is_some_and(|it| it.metadata.annotations.is_some())
    };
    answering.until_read("the annotation", is_annotated).await;
    for (kind, spec, name) in [(DATABASE, small(), "new"), (FIRST, small_of_first(), "old")] {
        world.create(kind, json!({"metadata": {"name": name}, "spec": spec})).await;
        let storage = world.get(DATABASE, name).await["spec"]["storage"].take();
        assert_eq!(storage, json!({"size": "1Gi", "storageClassName": "fast"}), "{name}");
    }
}

async fn what_is_not_possible_is_refused(answering: &Answering) {
    let world = &answering.world;
    let restored = |mut spec: Value| {
        spec["restoreFrom"] = json!({"database": "gone"});
        spec
    };
    for (kind, spec) in [(DATABASE, small()), (FIRST, small_of_first())] {
        let refused = answering.refusal(kind, "restored", restored(spec)).await;
        let why = "there are no backups of `gone` in this namespace: the PersistentVolumeClaim gone-backups";
        assert!(refused.contains("spec.restoreFrom") && refused.contains(why), "{refused}");
    }
    let claim = json!({
        "metadata": {"name": "gone-backups"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    world.create(CLAIM, claim).await;
    let key = (world.namespace.as_str(), "gone-backups");
    let is_there = |stores: &operetta::web::Stores| {
        stores.get::<PersistentVolumeClaim>(key).unwrap().is_some()
    };
    answering.until_read("the claim of others", is_there).await;
    let object = json!({"metadata": {"name": "restored"}, "spec": restored(small())});
    world.create(DATABASE, object).await;

    let mut never = small();
    never["backup"] = json!({"schedule": "0 0 31 2 *"});
    let refused = answering.refusal(DATABASE, "never", never).await;
    assert!(refused.contains("spec.backup.schedule") && refused.contains("never due"), "{refused}");
}

fn small() -> Value {
    json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}})
}

fn small_of_first() -> Value {
    json!({"version": "17.7", "storage": {"size": "1Gi"}})
}
