//! The specification of a pod, field by field in the order of the real server.

use std::collections::BTreeSet;

use super::{
    super::{
        field::{Errors, Field},
        ip, name, selector, volume,
    },
    affinity, container,
    context::{self, Context},
    dns, resources, security, spread, toleration, windows,
};
use crate::schema::{FieldError, name_rule};

/// Whose specification it is.
pub(in super::super) enum Of<'a> {
    /// That of the pod with this name.
    Pod(&'a str),
    Template,
}

/// All that a pod is made of.
pub(in super::super) fn spec(spec: &Field, of: &Of, errors: &mut Errors) {
    spec.child("terminationGracePeriodSeconds").is_required("", errors);
    let (pod, is_pod) = match of {
        Of::Pod(name) => (*name, true),
        Of::Template => ("", false),
    };
    let volumes = volume::volumes(&spec.child("volumes"), pod, is_pod, errors);
    let claims = spec.child("resourceClaims").items();
    resource_claims(&claims, errors);
    let claims = claims.iter().map(|claim| claim.string("name").text()).collect();
    let context = Context { spec: spec.clone(), volumes, claims };
    container::all(&context, errors);
    resources::of_pod(&context, errors);
    host_ports(spec, is_pod, errors);
    one_of(&spec.string("restartPolicy"), &["Always", "OnFailure", "Never"], errors);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(&spec.string("dnsPolicy"), &policies, errors);
    selector::labels(&spec.child("nodeSelector"), errors);
    security::shared(spec, errors);
    affinity::affinity(&spec.child("affinity"), errors);
    dns::config(spec, errors);
    for gate in spec.child("readinessGates").items() {
        gate.string("conditionType").is_qualified(errors);
    }
    scheduling_gates(&spec.child("schedulingGates"), errors);
    spread::constraints(&spec.child("topologySpreadConstraints"), errors);
    windows::host_processes(spec, errors);
    host_users(spec, errors);
    own_name(spec, errors);
    priority_and_place(spec, errors);
    windows::operating_system(spec, errors);
    container::file_volumes(spec, errors);
}

/// Where the pod runs, how long, under which names, and with which priority.
fn priority_and_place(spec: &Field, errors: &mut Errors) {
    for name in ["serviceAccountName", "nodeName"] {
        spec.string(name).follows_unless_empty(name_rule::dns_subdomain, errors);
    }
    if let Some(seconds) = spec.given("activeDeadlineSeconds") {
        seconds.is_within(1, i32::MAX.into(), errors);
    }
    for name in ["hostname", "subdomain"] {
        spec.string(name).follows_unless_empty(name_rule::dns_label, errors);
    }
    toleration::all(&spec.child("tolerations"), errors);
    for alias in spec.child("hostAliases").items() {
        ip::address(&alias.string("ip"), errors);
        for name in alias.child("hostnames").items() {
            name.follows(name_rule::dns_subdomain, errors);
        }
    }
    spec.string("priorityClassName").follows_unless_empty(name_rule::dns_subdomain, errors);
    if let Some(class) = spec.given("runtimeClassName") {
        class.follows(name_rule::dns_subdomain, errors);
    }
    if let Some(policy) = spec.given("preemptionPolicy") {
        preemption_policy(&policy, errors);
    }
    if let Some(overhead) = spec.given("overhead") {
        let at = overhead.at().child("limits");
        resources::amounts(&overhead.named(at), errors);
    }
}

/// Whether pods of higher priority take the place of others.
pub(in super::super) fn preemption_policy(policy: &Field, errors: &mut Errors) {
    one_of(policy, &["PreemptLowerPriority", "Never"], errors);
}

/// A text that must be one of these.
fn one_of(field: &Field, known: &[&str], errors: &mut Errors) {
    field.is_required("", errors);
    if !field.is_empty() {
        field.is_one_of(known, errors);
    }
}

fn resource_claims(claims: &[Field], errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for claim in claims {
        let own = claim.string("name");
        if own.is_empty() {
            errors.push(own.required(""));
        } else if known.insert(own.text()) {
            own.follows(name_rule::dns_label, errors);
        } else {
            errors.push(own.duplicate());
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        let given: Vec<Field> = sources.iter().filter_map(|name| claim.given(name)).collect();
        let detail = match given.len() {
            0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            1 => "",
            _ => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
        };
        if !detail.is_empty() {
            errors.push(claim.invalid_as(print_claim(claim), detail));
        }
        for name in given {
            name.follows(name_rule::dns_subdomain, errors);
        }
    }
}

fn print_claim(claim: &Field) -> String {
    use crate::schema::go_value::json;
    let print = |name| json(claim.child(name).value());
    let (name, claim, template) = (
        json(claim.string("name").value()),
        print("resourceClaimName"),
        print("resourceClaimTemplateName"),
    );
    format!(
        r#"{{"Name":{name},"ResourceClaimName":{claim},"ResourceClaimTemplateName":{template}}}"#
    )
}

/// In the network of the host the ports of containers are ports of the host.
fn host_ports(spec: &Field, is_pod: bool, errors: &mut Errors) {
    if !spec.child("hostNetwork").flag() {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let (on_host, own) = (port.integer("hostPort"), port.integer("containerPort"));
            if (is_pod || on_host.number() != 0) && on_host.number() != own.number() {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(on_host.invalid(detail));
            }
        }
    }
}

fn scheduling_gates(gates: &Field, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for gate in gates.items() {
        let own = gate.string("name").named(gate.at().clone());
        name::qualified(own.text(), own.at(), errors);
        if !known.insert(own.text()) {
            errors.push(own.duplicate());
        }
    }
}

/// A pod with users of its own shares no other namespace with the host.
fn host_users(spec: &Field, errors: &mut Errors) {
    let has_own = spec.given("hostUsers").is_some_and(|users| !users.flag());
    if !has_own {
        return;
    }
    let shared = [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")];
    for (field, shown) in shared {
        if spec.child(field).flag() {
            let at = spec.at().child(shown);
            errors.push(FieldError::forbidden(&at, "when `hostUsers` is false"));
        }
    }
    for container in context::each(spec) {
        let devices = container.child("volumeDevices");
        if !devices.is_empty() {
            errors.push(devices.forbidden("when `hostUsers` is false"));
        }
    }
}

/// The host name that a pod has instead of its own name.
fn own_name(spec: &Field, errors: &mut Errors) {
    let Some(host) = spec.given("hostnameOverride") else { return };
    for (field, detail) in [
        ("setHostnameAsFQDN", "may not be specified when setHostnameAsFQDN is true"),
        ("hostNetwork", "may not be specified when hostNetwork is true"),
    ] {
        if spec.child(field).flag() {
            errors.push(host.forbidden(detail));
        }
    }
    if host.text().len() > 64 {
        errors.push(host.too_long(64));
    }
    host.follows(name_rule::dns_subdomain, errors);
}
