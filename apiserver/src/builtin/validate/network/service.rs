//! Services.

use super::{
    super::{
        field::{Errors, Field},
        ip, selector,
    },
    cluster_ip, endpoints, load_balancer, service_port,
};
use crate::schema::name_rule;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// What holds for every service.
pub(in super::super) fn service(service: &Field, errors: &mut Errors) {
    topology_mode(service, errors);
    let spec = service.child("spec");
    let (ports, ty) = (spec.child("ports"), spec.string("type"));
    let is_external = ty.text() == "ExternalName";
    if ports.is_empty() && !cluster_ip::is_headless(&spec) && !is_external {
        errors.push(ports.required(""));
    }
    exclusions(&spec, errors);
    service_port::all(&ports, errors);
    let labels = spec.child("selector");
    selector::labels(&labels, errors);
    affinity(&spec, errors);
    if !is_external {
        cluster_ip::addresses(&spec, errors);
    }
    for address in spec.child("externalIPs").items() {
        let before = errors.len();
        ip::address(&address, errors);
        if errors.len() == before {
            endpoints::is_reachable(&address, errors);
        }
    }
    ty.is_required("", errors);
    if !ty.is_empty() {
        ty.is_one_of(&TYPES, errors);
    }
    service_port::unique(&ports, ty.text() == "ClusterIP", errors);
    load_balancer::spec(service, errors);
    inner_traffic(&spec, errors);
}

/// The addresses of a service.
pub(in super::super) fn addresses(service: &Field, errors: &mut Errors) {
    let spec = service.child("spec");
    if spec.string("type").text() != "ExternalName" {
        cluster_ip::addresses(&spec, errors);
    }
}

/// What of a service never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    cluster_ip::update(&new.child("spec"), &old.child("spec"), errors);
    load_balancer::update(&new.child("spec"), &old.child("spec"), errors);
    service(new, errors);
}

fn topology_mode(service: &Field, errors: &mut Errors) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    const MODE: &str = "service.kubernetes.io/topology-mode";
    let annotations = service.child("metadata").child("annotations");
    let (hints, mode) = (annotations.child(HINTS), annotations.child(MODE));
    if hints.is_given() && mode.is_given() && hints.value() != mode.value() {
        let detail = format!("must match annotations[{HINTS}] when both are specified");
        errors.push(mode.named(annotations.at().key(MODE)).invalid(detail));
    }
}

/// What types of services exclude each other.
fn exclusions(spec: &Field, errors: &mut Errors) {
    let ty = spec.string("type").text();
    match ty {
        "LoadBalancer" | "NodePort" if cluster_ip::is_headless(spec) => {
            let first = spec.child("clusterIPs").items().remove(0);
            errors.push(first.invalid(format!("may not be set to 'None' for {ty} services")));
        }
        "ExternalName" => {
            for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let given = spec.child(field);
                let is_text = given.value().is_string();
                if !given.is_empty() || is_text {
                    errors.push(given.forbidden("may not be set for ExternalName services"));
                }
            }
            let name = spec.string("externalName");
            let text = name.text().strip_suffix('.').unwrap_or(name.text());
            if text.is_empty() {
                errors.push(name.required(""));
                return;
            }
            for detail in name_rule::dns_subdomain(text, false) {
                errors.push(name.invalid_as(crate::schema::go_value::quote(text), detail));
            }
        }
        _ => {}
    }
}

fn affinity(spec: &Field, errors: &mut Errors) {
    let affinity = spec.string("sessionAffinity");
    affinity.is_required("", errors);
    if !affinity.is_empty() {
        affinity.is_one_of(&["ClientIP", "None"], errors);
    }
    let config = spec.child("sessionAffinityConfig");
    match affinity.text() {
        "ClientIP" => {
            let client = config.child("clientIP");
            let timeout = client.child("timeoutSeconds");
            let missing = [&config, &client, &timeout].into_iter().find(|field| !field.is_given());
            if let Some(missing) = missing {
                errors.push(missing.required("when session affinity type is ClientIP"));
            } else if !(1..=86_400).contains(&timeout.number()) {
                errors.push(timeout.invalid("must be greater than 0 and less than 86400"));
            }
        }
        "None" if config.is_given() => {
            errors.push(config.forbidden("must not be set when session affinity is None"));
        }
        _ => {}
    }
}

/// Where traffic from within the cluster goes.
fn inner_traffic(spec: &Field, errors: &mut Errors) {
    let policy = spec.child("internalTrafficPolicy");
    let needs = matches!(spec.string("type").text(), "ClusterIP" | "LoadBalancer" | "NodePort");
    if policy.is_given() {
        policy.is_one_of(&["Cluster", "Local"], errors);
    } else if needs {
        errors.push(policy.required(""));
    }
    if let Some(distribution) = spec.given("trafficDistribution") {
        distribution.is_one_of(&["PreferClose", "PreferSameZone", "PreferSameNode"], errors);
    }
}
