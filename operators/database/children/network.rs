//! How the database is reached: its Services, and who may connect.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::{self, PORT, Part};
use crate::database::crd::Database;

/// The Service without an address, by which Pods find each other, also while they are not ready.
pub(in crate::database) fn pods(database: &Database) -> Value {
    let mut service = service(database, &names::pods(database), &names::labels(database));
    service["spec"]["clusterIP"] = json!("None");
    service["spec"]["publishNotReadyAddresses"] = json!(true);
    service
}

/// The Service of the primary, which is the first Pod of the set.
pub(in crate::database) fn primary(database: &Database) -> Value {
    let first = format!("{}-0", names::primary(database));
    let mut selector = names::selector(database, Part::Data);
    selector.insert("statefulset.kubernetes.io/pod-name", first);
    service(database, &names::primary(database), &selector)
}

/// The Service of all Pods that answer reads.
pub(in crate::database) fn read(database: &Database) -> Value {
    let mut selector = names::labels(database);
    selector.insert(names::READS, "true".to_owned());
    service(database, &names::read(database), &selector)
}

/// Who may connect: Pods of the same namespace. The database itself reaches only itself, and names.
pub(in crate::database) fn policy(database: &Database) -> Value {
    let own = json!({"podSelector": {"matchLabels": names::labels(database)}});
    let postgres = json!([{"protocol": "TCP", "port": PORT}]);
    let dns = json!([{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]);
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": names::metadata(database, &names::primary(database)),
        "spec": {
            "podSelector": {"matchLabels": names::labels(database)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": postgres}],
            "egress": [{"to": [own], "ports": postgres}, {"ports": dns}],
        },
    })
}

fn service(database: &Database, name: &str, selector: &BTreeMap<&str, String>) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": names::metadata(database, name),
        "spec": {
            "selector": selector,
            "ports": [{"name": "postgresql", "port": PORT, "targetPort": "postgresql"}],
        },
    })
}
