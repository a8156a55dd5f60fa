//! Services: address families on create, what an update keeps, and which addresses a service needs.
//!
//! The cluster of the embedded server has one address family, IPv4.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::path;
use crate::schema::{FieldError, FieldPath};

/// Chooses the address families, and completes `clusterIP` and `clusterIPs` from each other.
pub(super) fn prepare_for_create(service: &mut Value) {
    complete_cluster_ips(service);
    if path::text(service, "spec.type") == "ExternalName" {
        return;
    }
    let dual = is_headless(service) && path::get(service, "spec.selector").is_none();
    let policy = if dual { "RequireDualStack" } else { "SingleStack" };
    path::set_if_absent(service, "spec.ipFamilyPolicy", policy);
    // Such a Service is refused.
    if path::list(service, "spec.clusterIPs").iter().any(is_version_6) {
        return;
    }
    let wants_both = dual && path::text(service, "spec.ipFamilyPolicy") != "SingleStack";
    let families = if wants_both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
    path::set_if_absent(service, "spec.ipFamilies", families);
}

/// What is wrong with the address families of a service in a cluster that has one.
pub(crate) fn family_errors(service: &Value) -> Vec<FieldError> {
    if path::text(service, "spec.type") == "ExternalName" {
        return Vec::new();
    }
    let list = |field: &str| path::get(service, field).cloned().unwrap_or_default();
    let (addresses, families) = (list("spec.clusterIPs"), list("spec.ipFamilies"));
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let (policy, policy_path) =
        (list("spec.ipFamilyPolicy"), FieldPath::new("spec.ipFamilyPolicy"));
    let mut errors = Vec::new();
    for (list, what) in [(&addresses, "cluster IPs"), (&families, "IP families")] {
        if policy == "SingleStack" && count(list) == 2 {
            let detail = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
            );
            errors.push(FieldError::invalid(&policy_path, &policy, detail));
        }
    }
    let unnamed = path::list(service, "spec.clusterIPs").iter().enumerate().skip(count(&families));
    for (at, _) in unnamed.filter(|(_, address)| is_version_6(address)) {
        let path = FieldPath::new("spec.clusterIPs").index(at);
        let detail = "IPv6 is not configured on this cluster";
        errors.push(FieldError::invalid(&path, &addresses, detail));
    }
    let is_anything = is_headless(service) && path::get(service, "spec.selector").is_none();
    if !errors.is_empty() || is_anything {
        return errors;
    }
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(&policy_path, &policy, detail));
    }
    let named = path::list(service, "spec.ipFamilies").iter().enumerate();
    errors.extend(named.filter(|(_, family)| *family == "IPv6").map(|(at, family)| {
        let path = FieldPath::new("spec.ipFamilies").index(at);
        FieldError::invalid(&path, family, "not configured on this cluster")
    }));
    errors
}

fn is_version_6(address: &Value) -> bool {
    address.as_str().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Keeps allocations that the update omits, and drops those that the type no longer needs.
pub(super) fn prepare_for_update(new: &mut Value, old: &Value) {
    follow_cluster_ip(new, old);
    if has_cluster_ip(new) && has_cluster_ip(old) {
        keep(new, old, "spec.clusterIP");
        keep(new, old, "spec.clusterIPs");
    } else if has_cluster_ip(old) {
        drop_unchanged(new, old, &["spec.clusterIP", "spec.clusterIPs"]);
        drop_unchanged(new, old, &["spec.ipFamilies"]);
        drop_unchanged(new, old, &["spec.ipFamilyPolicy"]);
    }
    if has_node_ports(new) && has_node_ports(old) {
        keep_node_ports(new, old);
    } else if has_node_ports(old) && node_ports(new) == node_ports(old) {
        for port in path::list_mut(new, "spec.ports") {
            path::remove(port, "nodePort");
        }
    }
    if path::text(new, "spec.type") != "ExternalName" {
        keep(new, old, "spec.ipFamilyPolicy");
        keep(new, old, "spec.ipFamilies");
    }
    if has_health_check(new) && has_health_check(old) {
        keep(new, old, "spec.healthCheckNodePort");
    } else if has_health_check(old) {
        drop_unchanged(new, old, &["spec.healthCheckNodePort"]);
    }
    drop_allocations_of_other_types(new, old);
    prepare_for_create(new);
}

/// Whether an address has to be allocated for the service.
pub fn needs_cluster_ip(service: &Value) -> bool {
    has_cluster_ip(service) && path::text(service, "spec.clusterIP").is_empty()
}

/// Gives the service its address.
pub fn set_cluster_ip(service: &mut Value, address: Ipv4Addr) {
    path::set(service, "spec.clusterIP", address.to_string());
    path::set(service, "spec.clusterIPs", vec![address.to_string()]);
}

/// The address that a service occupies.
pub fn cluster_ip(service: &Value) -> Option<Ipv4Addr> {
    path::text(service, "spec.clusterIP").parse().ok()
}

/// Whether node ports are allocated for the ports that name none.
pub fn allocates_node_ports(service: &Value) -> bool {
    let declines =
        path::get(service, "spec.allocateLoadBalancerNodePorts") == Some(&Value::Bool(false));
    has_node_ports(service) && !(declines && path::text(service, "spec.type") == "LoadBalancer")
}

/// Each port with its node port; one that has none has zero.
pub fn port_numbers(service: &Value) -> Vec<(i64, i64)> {
    let number = |port, field| path::number(port, field).unwrap_or_default();
    let ports = path::list(service, "spec.ports").iter();
    ports.map(|port| (number(port, "port"), number(port, "nodePort"))).collect()
}

/// Gives a port its node port.
pub fn set_node_port(service: &mut Value, at: usize, number: i64) {
    if let Some(port) = path::list_mut(service, "spec.ports").get_mut(at) {
        path::set(port, "nodePort", number);
    }
}

/// The node ports of the ports of a service.
pub fn node_ports(service: &Value) -> Vec<i64> {
    let numbers = port_numbers(service).into_iter();
    numbers.map(|(_, node)| node).filter(|node| *node != 0).collect()
}

/// The node ports that a service occupies.
pub fn occupied_ports(service: &Value) -> Vec<i64> {
    let mut ports = if has_node_ports(service) { node_ports(service) } else { Vec::new() };
    if has_health_check(service) {
        ports.extend(path::number(service, "spec.healthCheckNodePort"));
    }
    ports
}

/// Whether a service of its type has an address, or says that it has none.
pub fn has_cluster_ip(service: &Value) -> bool {
    matches!(path::text(service, "spec.type"), "ClusterIP" | "NodePort" | "LoadBalancer")
}

/// Whether a service of its type has ports on the nodes.
pub fn has_node_ports(service: &Value) -> bool {
    matches!(path::text(service, "spec.type"), "NodePort" | "LoadBalancer")
}

/// Whether load balancers ask the nodes of a service how they are.
pub fn has_health_check(service: &Value) -> bool {
    path::text(service, "spec.type") == "LoadBalancer"
        && path::text(service, "spec.externalTrafficPolicy") == "Local"
}

fn is_headless(service: &Value) -> bool {
    path::text(service, "spec.clusterIP") == "None"
}

/// An old client knows only `clusterIP`.
fn complete_cluster_ips(service: &mut Value) {
    let single = path::text(service, "spec.clusterIP").to_owned();
    if !single.is_empty() {
        path::set_if_absent(service, "spec.clusterIPs", vec![single]);
    }
}

/// An old client that changes `clusterIP` leaves `clusterIPs` as it was.
fn follow_cluster_ip(new: &mut Value, old: &Value) {
    let single = path::text(new, "spec.clusterIP").to_owned();
    let same_list = path::get(new, "spec.clusterIPs") == path::get(old, "spec.clusterIPs");
    if single == path::text(old, "spec.clusterIP") || !same_list {
        return;
    }
    path::remove(new, "spec.clusterIPs");
    complete_cluster_ips(new);
}

fn drop_allocations_of_other_types(new: &mut Value, old: &Value) {
    let (before, after) = (path::text(old, "spec.type"), path::text(new, "spec.type").to_owned());
    if after == "ExternalName" {
        path::remove(new, "spec.internalTrafficPolicy");
    }
    if before == "LoadBalancer" && after != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"] {
            drop_unchanged(new, old, &[&format!("spec.{field}")]);
        }
        path::set(new, "status.loadBalancer", json!({}));
    }
    if has_node_ports(old) && !has_node_ports(new) && path::get(new, "spec.externalIPs").is_none() {
        drop_unchanged(new, old, &["spec.externalTrafficPolicy"]);
    }
}

fn keep(new: &mut Value, old: &Value, field: &str) {
    if path::get(new, field).is_none_or(|value| value == "") {
        path::copy(new, old, field);
    }
}

fn drop_unchanged(new: &mut Value, old: &Value, fields: &[&str]) {
    if fields.iter().all(|field| path::get(new, field) == path::get(old, field)) {
        for field in fields {
            path::remove(new, field);
        }
    }
}

/// Ports of the same name keep their node ports, unless another port has them now.
fn keep_node_ports(new: &mut Value, old: &Value) {
    let (before, taken) = (node_ports(old), node_ports(new));
    let is_used = |number: i64| before.contains(&number) && taken.contains(&number);
    for port in path::list_mut(new, "spec.ports") {
        let name = path::text(port, "name");
        let mut same = path::list(old, "spec.ports").iter().rev();
        let same = same.find(|old| path::text(old, "name") == name);
        let number = same.and_then(|old| path::number(old, "nodePort")).unwrap_or_default();
        let lacks = path::number(port, "nodePort").unwrap_or_default() == 0;
        if lacks && number != 0 && !is_used(number) {
            path::set(port, "nodePort", number);
        }
    }
}
