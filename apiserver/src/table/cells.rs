//! The cells of tables that are more than the value of a field.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;

pub(super) fn created(object: &Value, now: Timestamp) -> Value {
    since(&object["metadata"]["creationTimestamp"], now).unwrap_or(json!("<unknown>"))
}

fn since(time: &Value, now: Timestamp) -> Option<Value> {
    time.as_str().map(|time| json!(age(time, now)))
}

pub(super) fn since_or_none(time: &Value, now: Timestamp) -> Value {
    since(time, now).unwrap_or(json!("<none>"))
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn or_none(value: &Value) -> Value {
    json!(text(value).unwrap_or("<none>"))
}

pub(super) fn or_unset(value: &Value) -> Value {
    json!(text(value).unwrap_or("<unset>"))
}

pub(super) fn or_empty(value: &Value) -> Value {
    json!(text(value).unwrap_or_default())
}

/// A number or percentage, or that it does not apply.
pub(super) fn or_not(value: &Value) -> Value {
    match value {
        Value::Null => json!("N/A"),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

pub(super) fn number(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or_default())
}

pub(super) fn count(value: &Value) -> Value {
    json!(value.as_array().map_or(0, Vec::len))
}

pub(super) fn truth(value: &Value) -> Value {
    json!(if value == true { "True" } else { "False" })
}

/// Labels as `a=b,c=d`.
pub(super) fn labels(labels: &Value) -> Value {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs: Vec<String> =
        pairs.map(|(key, v)| format!("{key}={}", v.as_str().unwrap_or_default())).collect();
    joined(&pairs)
}

/// Texts separated by commas.
pub(super) fn joined<T: AsRef<str>>(texts: &[T]) -> Value {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    if texts.is_empty() { json!("<none>") } else { json!(texts.join(",")) }
}

pub(super) fn data(object: &Value, _: Timestamp) -> Value {
    let entries = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(entries("data") + entries("binaryData"))
}

pub(super) fn ports(service: &Value, _: Timestamp) -> Value {
    let ports = list(&service["spec"]["ports"]).map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match port["nodePort"].as_i64().filter(|node| *node != 0) {
            Some(node) => format!("{}:{node}/{protocol}", port["port"]),
            None => format!("{}/{protocol}", port["port"]),
        }
    });
    joined(&ports.collect::<Vec<String>>())
}

pub(super) fn external_address(service: &Value, _: Timestamp) -> Value {
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

pub(super) fn phase(claim: &Value, _: Timestamp) -> Value {
    let deleting = !claim["metadata"]["deletionTimestamp"].is_null();
    if deleting { json!("Terminating") } else { claim["status"]["phase"].clone() }
}

pub(super) fn access_modes(claim: &Value, _: Timestamp) -> Value {
    let short = |mode: &Value| match mode.as_str() {
        Some("ReadWriteOnce") => "RWO",
        Some("ReadOnlyMany") => "ROX",
        Some("ReadWriteMany") => "RWX",
        Some("ReadWriteOncePod") => "RWOP",
        _ => "",
    };
    // The bound ones, not the requested ones.
    let modes: Vec<&str> = list(&claim["status"]["accessModes"]).map(short).collect();
    json!(modes.join(","))
}

pub(super) fn last_seen(event: &Value, now: Timestamp) -> Value {
    let times = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["firstTimestamp"],
        &event["eventTime"],
    ];
    let seen = times.into_iter().find_map(|time| since(time, now));
    seen.unwrap_or(json!("<unknown>"))
}

pub(super) fn involved(event: &Value, _: Timestamp) -> Value {
    let object = &event["involvedObject"];
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    match text(&object["name"]) {
        Some(name) => json!(format!("{kind}/{name}")),
        None => json!(kind),
    }
}

pub(super) fn bound_role(binding: &Value, _: Timestamp) -> Value {
    let part = |field: &str| binding["roleRef"][field].as_str().unwrap_or_default();
    json!(format!("{}/{}", part("kind"), part("name")))
}

pub(super) fn hosts(ingress: &Value, _: Timestamp) -> Value {
    let hosts: Vec<&str> =
        list(&ingress["spec"]["rules"]).filter_map(|rule| text(&rule["host"])).collect();
    if hosts.is_empty() { json!("*") } else { json!(hosts.join(",")) }
}

pub(super) fn ingress_address(ingress: &Value, _: Timestamp) -> Value {
    let ingresses = list(&ingress["status"]["loadBalancer"]["ingress"]);
    let all: Vec<&str> =
        ingresses.filter_map(|i| text(&i["ip"]).or(text(&i["hostname"]))).collect();
    json!(all.join(","))
}

pub(super) fn ingress_ports(ingress: &Value, _: Timestamp) -> Value {
    json!(if count(&ingress["spec"]["tls"]) == 0 { "80" } else { "80, 443" })
}
