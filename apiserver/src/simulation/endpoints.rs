//! The `EndpointSlice`s and Endpoints of a Service with a selector: one slice per address family and set of ports, with
//! at most 100 Pods each.

use serde_json::{Value, json};

use super::{
    decision::{Decision, Target, Write},
    node::NODE,
    object::{age, is_deleting, items, name, number, owner_reference, text},
    readiness::{has_ended, is_ready},
};

const SOURCE: &str = "simulated-endpointslice-controller";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The label of a slice with the name of its Service.
pub(super) const SERVICE: &str = "kubernetes.io/service-name";
/// The most endpoints of a slice.
const MOST: usize = 100;

/// Decides about a Service; `pods` are those that it selects, `slices` those that are its own.
pub(super) fn decide(
    service: &Value,
    pods: &[Value],
    slices: &[Value],
    endpoints: Option<&Value>,
) -> Decision {
    let mut decision = Decision::default();
    let is_selecting = service["spec"]["selector"].as_object().is_some_and(|it| !it.is_empty());
    if !is_selecting || is_deleting(service) || service["spec"]["type"] == "ExternalName" {
        return decision;
    }
    let mut pods: Vec<&Value> = pods
        .iter()
        .filter(|pod| !text(&pod["status"]["podIP"]).is_empty() && !has_ended(pod))
        .collect();
    pods.sort_by_key(|pod| age(pod));
    let mut own: Vec<&Value> =
        slices.iter().filter(|slice| slice["metadata"]["labels"][MANAGED_BY] == SOURCE).collect();
    own.sort_by_key(|slice| name(slice));
    let chunks = pods.chunks(MOST).map(<[&Value]>::to_vec);
    let mut chunks: Vec<Vec<&Value>> = chunks.collect();
    if chunks.is_empty() {
        chunks.push(Vec::new());
    }
    for (number, chunk) in chunks.iter().enumerate() {
        write_slice(service, chunk, own.get(number).copied(), &mut decision);
    }
    own.iter().skip(chunks.len()).for_each(|slice| decision.delete(slice));
    write_endpoints(service, &pods, endpoints, &mut decision);
    decision
}

fn write_slice(service: &Value, pods: &[&Value], slice: Option<&Value>, decision: &mut Decision) {
    let list: Vec<Value> = pods.iter().map(|pod| endpoint(service, pod)).collect();
    let ports = ports(service, pods.first().copied());
    let Some(slice) = slice else {
        return decision.write(Write::Create(json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": format!("{}-", name(service)),
                "namespace": service["metadata"]["namespace"],
                "labels": labels(service),
                "ownerReferences": [owner_reference(service)],
            },
            "addressType": "IPv4",
            "endpoints": list,
            "ports": ports,
        })));
    };
    let is_same = items(&slice["endpoints"]).eq(list.iter())
        && items(&slice["ports"]).eq(ports.iter())
        && slice["metadata"]["labels"] == labels(service);
    if !is_same {
        let metadata = json!({ "labels": labels(service) });
        decision.patch(slice, json!({ "metadata": metadata, "endpoints": list, "ports": ports }));
    }
}

/// A slice has the labels of its Service too.
fn labels(service: &Value) -> Value {
    let mut labels = service["metadata"]["labels"].clone();
    labels[MANAGED_BY] = json!(SOURCE);
    labels[SERVICE] = json!(name(service));
    if service["spec"]["clusterIP"] == "None" {
        labels["service.kubernetes.io/headless"] = json!("");
    }
    labels
}

fn endpoint(service: &Value, pod: &Value) -> Value {
    let is_serving = is_ready(pod);
    let is_terminating = is_deleting(pod);
    let publishes = service["spec"]["publishNotReadyAddresses"] == true;
    let mut endpoint = json!({
        "addresses": [pod["status"]["podIP"]],
        "conditions": {
            "ready": publishes || is_serving && !is_terminating,
            "serving": is_serving,
            "terminating": is_terminating,
        },
        "nodeName": NODE,
        "targetRef": reference(pod),
    });
    let hostname = text(&pod["spec"]["hostname"]);
    if !hostname.is_empty() && pod["spec"]["subdomain"] == service["metadata"]["name"] {
        endpoint["hostname"] = json!(hostname);
    }
    endpoint
}

fn reference(pod: &Value) -> Value {
    let Target { namespace, name, uid, .. } = Target::of(pod);
    json!({ "kind": "Pod", "namespace": namespace, "name": name, "uid": uid })
}

/// The ports of a Service, where the first Pod has them.
fn ports(service: &Value, pod: Option<&Value>) -> Vec<Value> {
    let ports = items(&service["spec"]["ports"]).filter_map(|port| {
        let number = target_port(port, pod)?;
        Some(json!({
            "name": text(&port["name"]),
            "port": number,
            "protocol": port["protocol"].as_str().unwrap_or("TCP"),
        }))
    });
    // Without Pods nothing is known of a named port.
    if pod.is_none() { Vec::new() } else { ports.collect() }
}

fn target_port(port: &Value, pod: Option<&Value>) -> Option<i64> {
    match &port["targetPort"] {
        Value::String(wanted) => {
            let containers = items(&pod?["spec"]["containers"]);
            let mut ports = containers.flat_map(|container| items(&container["ports"]));
            ports.find(|it| text(&it["name"]) == wanted).map(|it| number(&it["containerPort"]))
        }
        Value::Number(given) if given.as_i64() != Some(0) => given.as_i64(),
        _ => port["port"].as_i64(),
    }
}

fn write_endpoints(
    service: &Value,
    pods: &[&Value],
    endpoints: Option<&Value>,
    decision: &mut Decision,
) {
    let (mut ready, mut unready) = (Vec::new(), Vec::new());
    for pod in pods {
        let address = json!({
            "ip": pod["status"]["podIP"], "nodeName": NODE, "targetRef": reference(pod),
        });
        let counts = service["spec"]["publishNotReadyAddresses"] == true || is_ready(pod);
        if counts && !is_deleting(pod) {
            ready.push(address);
        } else if !is_deleting(pod) {
            unready.push(address);
        }
    }
    let mut subset = json!({});
    for (field, list) in [
        ("addresses", ready),
        ("notReadyAddresses", unready),
        ("ports", ports(service, pods.first().copied()).into_iter().map(named).collect()),
    ] {
        if !list.is_empty() {
            subset[field] = json!(list);
        }
    }
    let has_addresses =
        subset.get("addresses").or_else(|| subset.get("notReadyAddresses")).is_some();
    let subsets = if has_addresses { json!([subset]) } else { json!([]) };
    let Some(endpoints) = endpoints else {
        return decision.write(Write::Create(json!({
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {
                "name": name(service),
                "namespace": service["metadata"]["namespace"],
                "labels": { "endpoints.kubernetes.io/managed-by": SOURCE },
            },
            "subsets": subsets,
        })));
    };
    // An object that somebody else wrote for the Service stays as it is.
    let is_own = endpoints["metadata"]["labels"]["endpoints.kubernetes.io/managed-by"] == SOURCE;
    if is_own && !items(&endpoints["subsets"]).eq(items(&subsets)) {
        decision.patch(endpoints, json!({ "subsets": subsets }));
    }
}

/// A port without a name has none in Endpoints.
fn named(mut port: Value) -> Value {
    if text(&port["name"]).is_empty()
        && let Some(port) = port.as_object_mut()
    {
        port.remove("name");
    }
    port
}
