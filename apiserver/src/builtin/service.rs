//! Services: address families on create, what an update keeps, and which addresses a service needs.
//!
//! The cluster of the embedded server has one address family, IPv4.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::path;

/// Chooses the address families, and completes `clusterIP` and `clusterIPs` from each other.
pub(super) fn prepare_for_create(service: &mut Value) {
    complete_cluster_ips(service);
    if path::text(service, "spec.type") == "ExternalName" {
        return;
    }
    let dual = is_headless(service) && path::get(service, "spec.selector").is_none();
    let policy = if dual { "RequireDualStack" } else { "SingleStack" };
    path::set_if_absent(service, "spec.ipFamilyPolicy", policy);
    let wants_both = dual && path::text(service, "spec.ipFamilyPolicy") != "SingleStack";
    let families = if wants_both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
    path::set_if_absent(service, "spec.ipFamilies", families);
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

/// How many node ports have to be allocated for the service.
pub fn needs_node_ports(service: &Value) -> usize {
    let wanted = has_node_ports(service)
        && path::get(service, "spec.allocateLoadBalancerNodePorts") != Some(&Value::Bool(false));
    let without = |port: &&Value| path::number(port, "nodePort").unwrap_or_default() == 0;
    if wanted { path::list(service, "spec.ports").iter().filter(without).count() } else { 0 }
}

/// Gives the ports that have none a node port each.
pub fn set_node_ports(service: &mut Value, numbers: &[u16]) {
    let without = |port: &&mut Value| path::number(port, "nodePort").unwrap_or_default() == 0;
    let ports = path::list_mut(service, "spec.ports").iter_mut().filter(without);
    for (port, number) in ports.zip(numbers) {
        path::set(port, "nodePort", *number);
    }
}

/// The node ports that a service occupies.
pub fn node_ports(service: &Value) -> Vec<u16> {
    let ports = path::list(service, "spec.ports").iter();
    ports.filter_map(|port| u16::try_from(path::number(port, "nodePort")?).ok()).collect()
}

fn is_headless(service: &Value) -> bool {
    path::text(service, "spec.clusterIP") == "None"
}

fn has_cluster_ip(service: &Value) -> bool {
    matches!(path::text(service, "spec.type"), "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn has_node_ports(service: &Value) -> bool {
    matches!(path::text(service, "spec.type"), "NodePort" | "LoadBalancer")
}

/// Whether load balancers ask the nodes of a service how they are.
fn has_health_check(service: &Value) -> bool {
    path::text(service, "spec.type") == "LoadBalancer"
        && path::text(service, "spec.externalTrafficPolicy") == "Local"
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

fn keep_node_ports(new: &mut Value, old: &Value) {
    let taken = node_ports(new);
    for port in path::list_mut(new, "spec.ports") {
        let name = path::text(port, "name");
        let same = path::list(old, "spec.ports").iter().find(|old| path::text(old, "name") == name);
        let number = same.and_then(|old| path::number(old, "nodePort")).unwrap_or_default();
        let is_free = u16::try_from(number).is_ok_and(|n| n != 0 && !taken.contains(&n));
        if path::number(port, "nodePort").unwrap_or_default() == 0 && is_free {
            path::set(port, "nodePort", number);
        }
    }
}
