//! The core group without its pods, and Events of both groups.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    column::{AGE, BuiltInColumn, NAME},
    storage,
};
use crate::table::{
    cells,
    cells::{joined, list, since, text},
};

pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "services" => &[
            NAME,
            ("Type", "string", 0, |o, _| o["spec"]["type"].clone()),
            ("Cluster-IP", "string", 0, |o, _| cells::or_none(&o["spec"]["clusterIP"])),
            ("External-IP", "string", 0, external_address),
            ("Port(s)", "string", 0, ports),
            AGE,
            ("Selector", "string", 1, |o, _| cells::labels(&o["spec"]["selector"])),
        ],
        "endpoints" => &[NAME, ("Endpoints", "string", 0, endpoints), AGE],
        "namespaces" => &[NAME, ("Status", "string", 0, |o, _| o["status"]["phase"].clone()), AGE],
        "configmaps" => &[NAME, ("Data", "string", 0, data), AGE],
        "secrets" => &[
            NAME,
            ("Type", "string", 0, |o, _| o["type"].clone()),
            ("Data", "string", 0, data),
            AGE,
        ],
        "resourcequotas" => &[
            NAME,
            ("Request", "string", 0, |o, _| quota(o, false)),
            ("Limit", "string", 0, |o, _| quota(o, true)),
            AGE,
        ],
        "nodes" => &[
            NAME,
            ("Status", "string", 0, node_status),
            ("Roles", "string", 0, roles),
            AGE,
            ("Version", "string", 0, |o, _| {
                cells::or_empty(&o["status"]["nodeInfo"]["kubeletVersion"])
            }),
            ("Internal-IP", "string", 1, |o, _| address(o, "InternalIP")),
            ("External-IP", "string", 1, |o, _| address(o, "ExternalIP")),
            ("OS-Image", "string", 1, |o, _| json!(node_info(o, "osImage"))),
            ("Kernel-Version", "string", 1, kernel),
            ("Container-Runtime", "string", 1, |o, _| {
                json!(node_info(o, "containerRuntimeVersion"))
            }),
        ],
        "events" => &[
            ("Last Seen", "string", 0, last_seen),
            ("Type", "string", 0, |o, _| cells::or_empty(&o["type"])),
            ("Reason", "string", 0, |o, _| cells::or_empty(&o["reason"])),
            ("Object", "string", 0, involved),
            ("Subobject", "string", 1, |o, _| cells::or_empty(&o["involvedObject"]["fieldPath"])),
            ("Source", "string", 1, source),
            ("Message", "string", 0, |o, _| {
                json!(o["message"].as_str().unwrap_or_default().trim())
            }),
            ("First Seen", "string", 1, first_seen),
            ("Count", "string", 1, occurrences),
            ("Name", "string", 1, |o, _| o["metadata"]["name"].clone()),
        ],
        other => return storage::core(other),
    })
}

fn data(object: &Value, _: Timestamp) -> Value {
    let entries = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(entries("data") + entries("binaryData"))
}

fn ports(service: &Value, _: Timestamp) -> Value {
    let ports = list(&service["spec"]["ports"]).map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match port["nodePort"].as_i64().filter(|node| *node != 0) {
            Some(node) => format!("{}:{node}/{protocol}", port["port"]),
            None => format!("{}/{protocol}", port["port"]),
        }
    });
    joined(&ports.collect::<Vec<String>>())
}

fn external_address(service: &Value, _: Timestamp) -> Value {
    let spec = &service["spec"];
    let balancer = list(&service["status"]["loadBalancer"]["ingress"]);
    let balancer = balancer.filter_map(|i| text(&i["ip"]).or(text(&i["hostname"])));
    let own = list(&spec["externalIPs"]).filter_map(Value::as_str);
    let all: Vec<&str> = balancer.chain(own).collect();
    match spec["type"].as_str() {
        Some("ExternalName") => spec["externalName"].clone(),
        Some("LoadBalancer") if all.is_empty() => json!("<pending>"),
        _ => joined(&all),
    }
}

/// The first three addresses.
fn endpoints(endpoints: &Value, _: Timestamp) -> Value {
    let of_subset = |subset: &Value| -> Vec<String> {
        let addresses: Vec<&str> =
            list(&subset["addresses"]).filter_map(|address| address["ip"].as_str()).collect();
        let mut ports = list(&subset["ports"]).peekable();
        if ports.peek().is_none() {
            return addresses.iter().map(|&address| address.to_owned()).collect();
        }
        let with_port = |port: &Value, address: &str| {
            let is_v6 = address.contains(':');
            let address = if is_v6 { format!("[{address}]") } else { address.to_owned() };
            format!("{address}:{}", port["port"])
        };
        let of_port = |port| addresses.iter().map(|address| with_port(port, address)).collect();
        ports.flat_map(|port| -> Vec<String> { of_port(port) }).collect()
    };
    let all: Vec<String> = list(&endpoints["subsets"]).flat_map(of_subset).collect();
    let is_empty = list(&endpoints["subsets"]).next().is_none();
    if is_empty { json!("<none>") } else { json!(cells::first_three(&all)) }
}

/// What is used of requests or limits.
fn quota(quota: &Value, of_limits: bool) -> Value {
    let (used, hard) = (&quota["status"]["used"], quota["status"]["hard"].as_object());
    let wanted = |name: &str| name.starts_with("limits.") == of_limits;
    let hard = hard.into_iter().flatten().filter(|(name, _)| wanted(name));
    let pair = |(name, hard): (&String, &Value)| {
        let used = text(&used[name]).unwrap_or("0");
        format!("{name}: {used}/{}", hard.as_str().unwrap_or_default())
    };
    json!(hard.map(pair).collect::<Vec<String>>().join(", "))
}

fn node_status(node: &Value, _: Timestamp) -> Value {
    let ready = list(&node["status"]["conditions"]).find(|it| it["type"] == "Ready");
    let status = match ready {
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let is_cordoned = node["spec"]["unschedulable"] == true;
    json!(if is_cordoned { format!("{status},SchedulingDisabled") } else { status.to_owned() })
}

fn roles(node: &Value, _: Timestamp) -> Value {
    let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
    let role = |(label, value): (&String, &Value)| {
        let of_name = label.strip_prefix("node-role.kubernetes.io/");
        let of_value = || value.as_str().filter(|_| label == "kubernetes.io/role");
        of_name.or_else(of_value).filter(|role| !role.is_empty()).map(str::to_owned)
    };
    let roles: std::collections::BTreeSet<String> = labels.filter_map(role).collect();
    joined(&roles.into_iter().collect::<Vec<_>>())
}

fn address(node: &Value, kind: &str) -> Value {
    let address = list(&node["status"]["addresses"]).find(|it| it["type"] == kind);
    cells::or_none(address.map_or(&Value::Null, |it| &it["address"]))
}

fn node_info(node: &Value, field: &str) -> String {
    text(&node["status"]["nodeInfo"][field]).unwrap_or("<unknown>").to_owned()
}

fn kernel(node: &Value, _: Timestamp) -> Value {
    let version = node_info(node, "kernelVersion");
    match text(&node["status"]["nodeInfo"]["architecture"]) {
        Some(architecture) => json!(format!("{version} ({architecture})")),
        None => json!(version),
    }
}

fn last_seen(event: &Value, now: Timestamp) -> Value {
    let times = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["firstTimestamp"],
        &event["eventTime"],
    ];
    let seen = times.into_iter().find_map(|time| since(time, now));
    seen.unwrap_or(json!("<unknown>"))
}

fn involved(event: &Value, _: Timestamp) -> Value {
    let object = &event["involvedObject"];
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    match text(&object["name"]) {
        Some(name) => json!(format!("{kind}/{name}")),
        None => json!(kind),
    }
}

fn first_seen(event: &Value, now: Timestamp) -> Value {
    let first = since(&event["firstTimestamp"], now).or_else(|| since(&event["eventTime"], now));
    first.unwrap_or(json!("<unknown>"))
}

fn occurrences(event: &Value, _: Timestamp) -> Value {
    let series = event["series"]["count"].as_i64();
    let own = event["count"].as_i64().filter(|count| *count != 0);
    json!(series.or(own).unwrap_or(1))
}

fn source(event: &Value, _: Timestamp) -> Value {
    let either = |old: &str, new: &str| text(&event["source"][old]).or(text(&event[new]));
    let component = either("component", "reportingComponent").unwrap_or_default();
    match either("host", "reportingInstance") {
        Some(host) => json!(format!("{component}, {host}")),
        None => json!(component),
    }
}
