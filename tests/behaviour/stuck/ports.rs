//! Ports and addresses that are in use.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, edited},
    rig::Place,
};
use crate::world::SERVICE;

fn service(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
}

/// Another Service has the port.
async fn taken_port(place: &Place<'_>) {
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30090}]});
    place.create(SERVICE, service("other", &spec)).await;
    place.parent(&[service("s", &spec)]).await;
}

/// Another Service has the address.
async fn taken_address(place: &Place<'_>) {
    let mut spec = json!({"ports": [{"port": 80}]});
    let other = place.create(SERVICE, service("other", &spec)).await;
    spec["clusterIP"] = other.data["spec"]["clusterIP"].clone();
    place.parent(&[service("s", &spec)]).await;
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        edited(
            "A port of the nodes that is in use",
            &["Service", "/s", "spec.ports[0].nodePort"],
            "s/nodePort: 30090/nodePort: 30091/",
            |place| taken_port(place).boxed_local(),
        ),
        edited(
            "An address that is in use",
            &["Service", "/s", "spec.clusterIPs"],
            "/clusterIP:/d",
            |place| taken_address(place).boxed_local(),
        ),
    ]
}
