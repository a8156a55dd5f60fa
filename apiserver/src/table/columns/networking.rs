//! How traffic finds pods.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::column::{AGE, BuiltInColumn, NAME};
use crate::table::{
    cells,
    cells::{count, list, text},
};

pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "ingresses" => &[
            NAME,
            ("Class", "string", 0, |o, _| cells::or_none(&o["spec"]["ingressClassName"])),
            ("Hosts", "string", 0, hosts),
            ("Address", "string", 0, ingress_address),
            ("Ports", "string", 0, ingress_ports),
            AGE,
        ],
        "ingressclasses" => &[
            ("Name", "string", 0, |o, _| {
                cells::default_name(o, "ingressclass.kubernetes.io/is-default-class")
            }),
            ("Controller", "string", 0, |o, _| cells::or_empty(&o["spec"]["controller"])),
            ("Parameters", "string", 0, parameters),
            AGE,
        ],
        "networkpolicies" => &[
            NAME,
            ("Pod-Selector", "string", 0, |o, _| cells::selector(&o["spec"]["podSelector"])),
            AGE,
        ],
        "endpointslices" => &[
            NAME,
            ("AddressType", "string", 0, |o, _| o["addressType"].clone()),
            ("Ports", "string", 0, slice_ports),
            ("Endpoints", "string", 0, slice_addresses),
            AGE,
        ],
        "servicecidrs" => &[
            NAME,
            ("CIDRs", "string", 0, |o, _| {
                let all: Vec<&str> = list(&o["spec"]["cidrs"]).filter_map(Value::as_str).collect();
                json!(all.join(","))
            }),
            AGE,
        ],
        "ipaddresses" => &[NAME, ("ParentRef", "string", 0, parent)],
        _ => return None,
    })
}

fn hosts(ingress: &Value, _: Timestamp) -> Value {
    let hosts: Vec<&str> =
        list(&ingress["spec"]["rules"]).filter_map(|rule| text(&rule["host"])).collect();
    if hosts.is_empty() { json!("*") } else { json!(hosts.join(",")) }
}

fn ingress_address(ingress: &Value, _: Timestamp) -> Value {
    let ingresses = list(&ingress["status"]["loadBalancer"]["ingress"]);
    let all: Vec<&str> =
        ingresses.filter_map(|i| text(&i["ip"]).or(text(&i["hostname"]))).collect();
    json!(all.join(","))
}

fn ingress_ports(ingress: &Value, _: Timestamp) -> Value {
    json!(if count(&ingress["spec"]["tls"]) == 0 { "80" } else { "80, 443" })
}

fn parameters(class: &Value, _: Timestamp) -> Value {
    let parameters = &class["spec"]["parameters"];
    let part = |field: &str| text(&parameters[field]).unwrap_or_default();
    match text(&parameters["apiGroup"]) {
        _ if parameters.is_null() => json!("<none>"),
        Some(group) => json!(format!("{}.{group}/{}", part("kind"), part("name"))),
        None => json!(format!("{}/{}", part("kind"), part("name"))),
    }
}

fn slice_ports(slice: &Value, _: Timestamp) -> Value {
    let ports = list(&slice["ports"]).map(|port| match (&port["port"], text(&port["name"])) {
        (Value::Number(number), _) => number.to_string(),
        (_, Some(name)) => name.to_owned(),
        _ => "*".to_owned(),
    });
    cells::some_of(&ports.collect::<Vec<_>>())
}

fn slice_addresses(slice: &Value, _: Timestamp) -> Value {
    let addresses = list(&slice["endpoints"]).flat_map(|endpoint| list(&endpoint["addresses"]));
    let addresses: Vec<String> = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    cells::some_of(&addresses)
}

/// `services/namespace/name`.
fn parent(address: &Value, _: Timestamp) -> Value {
    let parent = &address["spec"]["parentRef"];
    let part = |field: &str| text(&parent[field]);
    if parent.is_null() {
        return json!("<none>");
    }
    let group = part("group").map(|group| format!(".{group}")).unwrap_or_default();
    let place = part("namespace").map(|place| format!("{place}/")).unwrap_or_default();
    let resource = part("resource").unwrap_or_default();
    let name = part("name").unwrap_or_default();
    json!(format!("{}/{place}{name}", format!("{resource}{group}").to_lowercase()))
}
