//! The range that addresses of services come from.

use serde_json::{Value, json};

use super::object::create;
use crate::{
    cluster::Cluster,
    log::ObjectKey,
    resource::Subresource,
    write::{self, Applied, Change, WriteOptions},
};

const NAME: &str = "kubernetes";

pub(super) fn complete(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    let Some(ranges) = resources.by_kind("networking.k8s.io", "ServiceCIDR") else { return };
    let range = json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": { "name": NAME },
        "spec": { "cidrs": ["10.0.0.0/16"] },
    });
    if !create(cluster, ranges, range, "kube-apiserver") {
        return;
    }
    let now = cluster.clock.now_text();
    let mut change = |live: &Value| {
        let mut next = live.clone();
        next["status"] = json!({ "conditions": [{
            "type": "Ready",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "",
            "message": "Kubernetes Service CIDR is ready",
        }]});
        Ok(Change { next, managed: Applied::No })
    };
    let manager = "kubernetes-service-cidr-controller".to_owned();
    let options = WriteOptions { manager, ..WriteOptions::default() };
    let key = ObjectKey::new("", NAME);
    // It may be deleted already.
    let _ = write::update(cluster, ranges, &key, Subresource::Status, &options, &mut change);
}
