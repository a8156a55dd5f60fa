//! What the API server asks before it stores a `Database`: what CEL cannot say, because it depends on another object or on
//! a calendar.
//!
//! The operator refuses the same later, for a `Database` that was stored while nobody was asked.

use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim};
use kube::ResourceExt;
use operetta::operator::admission::{Admission, AdmissionRequest, Operation, Webhook};

use super::{Database, refusal};

/// The annotation of a namespace with the `StorageClass` of its databases.
pub const DEFAULT_STORAGE_CLASS: &str = "operetta.dev/default-storage-class";

/// The webhooks, in the order in which the API server asks them.
pub fn webhooks() -> [Webhook; 2] {
    [
        Webhook::mutate("default-storage-class", default_storage_class)
            .on([Operation::Create])
            .matching("has-no-class", "!has(object.spec.storage.storageClassName)")
            .reads::<Namespace>(),
        Webhook::validate("is-possible", is_possible).reads::<PersistentVolumeClaim>(),
    ]
}

/// The class cannot be changed later, so that this decides once.
fn default_storage_class(
    request: &AdmissionRequest<Database>,
    database: &mut Database,
) -> anyhow::Result<Admission> {
    let namespace = request.key.namespace.as_deref().unwrap_or_default();
    let namespace = request.stores.get::<Namespace>(namespace)?;
    let class = namespace.and_then(|mut it| it.annotations_mut().remove(DEFAULT_STORAGE_CLASS));
    let storage = &mut database.spec.storage;
    storage.storage_class_name = storage.storage_class_name.take().or(class);
    Ok(Admission::allow())
}

/// A restore is made once, at the beginning.
fn is_possible(request: &AdmissionRequest<Database>) -> anyhow::Result<Admission> {
    let spec = &request.subject().spec;
    let restore = spec.restore_from.as_ref().filter(|_| request.operation == Operation::Create);
    let claim = restore.map(refusal::claim_of).map(|name| {
        let namespace = request.key.namespace.as_deref().unwrap_or_default();
        request.stores.get::<PersistentVolumeClaim>((namespace, &*name))
    });
    let has_backups = claim.transpose()?.flatten().is_some();
    Ok(match refusal::check(spec, restore, |_| has_backups) {
        Ok(()) => Admission::allow(),
        Err(refused) => Admission::invalid(refused.field(), refused.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use operetta::{object::ObjectKey, operator::Stores, testkit::assert_idempotent_mutation};
    use serde_json::{Value, json};

    use super::*;

    fn asked(spec: &Value) -> AdmissionRequest<Database> {
        let database = json!({"metadata": {"name": "main", "namespace": "data"}, "spec": spec});
        let key = ObjectKey::namespaced("data", "main");
        AdmissionRequest::create(key, serde_json::from_value(database).unwrap())
    }

    fn small() -> Value {
        json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut spec = small();
        spec[name] = value;
        spec
    }

    #[test]
    fn a_database_has_the_class_of_its_namespace_unless_it_names_one() {
        let namespace =
            json!({"metadata": {"name": "data", "annotations": {DEFAULT_STORAGE_CLASS: "fast"}}});
        let stores = Stores::default().with::<Namespace>(namespace).unwrap();
        let class = |spec: Value, stores: Stores| {
            let request = asked(&spec).with_stores(stores);
            let mut database = request.subject().clone();
            assert!(default_storage_class(&request, &mut database).unwrap().is_allowed());
            database.spec.storage.storage_class_name
        };
        assert_eq!(class(small(), stores.clone()).as_deref(), Some("fast"));
        let named = json!({"size": "1Gi", "storageClassName": "slow"});
        assert_eq!(class(with("storage", named), stores).as_deref(), Some("slow"));
        assert_eq!(class(small(), Stores::default()), None);
    }

    #[test]
    fn a_restore_needs_backups_and_a_schedule_has_to_be_due() {
        let restored = with("restoreFrom", json!({"database": "old"}));
        let denial = |spec: &Value, stores: &Stores| {
            let request = asked(spec).with_stores(stores.clone());
            is_possible(&request).unwrap().denial().map(str::to_owned)
        };
        let why = denial(&restored, &Stores::default()).unwrap();
        assert!(why.contains("there are no backups of `old` in this namespace"), "{why}");
        let claim = json!({"metadata": {"name": "old-backups", "namespace": "data"}});
        let stores = Stores::default().with::<PersistentVolumeClaim>(claim).unwrap();
        assert_eq!(denial(&restored, &stores), None);
        let never = with("backup", json!({"schedule": "0 0 31 2 *"}));
        assert!(denial(&never, &stores).unwrap().contains("never"));
    }

    #[tokio::test]
    async fn a_default_is_given_once() {
        let namespace =
            json!({"metadata": {"name": "data", "annotations": {DEFAULT_STORAGE_CLASS: "fast"}}});
        let stores = Stores::default().with::<Namespace>(namespace).unwrap();
        let [webhook, _] = webhooks();
        let request = asked(&small()).with_stores(stores);
        let object = assert_idempotent_mutation(&webhook, request).await.unwrap().unwrap();
        assert_eq!(object["spec"]["storage"]["storageClassName"], "fast");
    }
}
