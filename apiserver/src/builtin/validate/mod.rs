//! Validation with the messages of the real server.
//!
//! A walk over the object checks what the types declare (`declared`) and then the rules of each
//! struct, wherever it occurs: a container is checked the same in a Pod and in a template.
//! `update` compares an object with its predecessor, `status` checks what `/status` writes.
//! `metadata` is not validated here (see `schema::metadata`); nor are most volume sources beyond their
//! required fields, security contexts, the metrics of autoscalers, failure policies of jobs, or the
//! schemas of custom resource definitions. `tests/testdata/validation` lists what differs.

mod claim;
mod config;
mod container;
mod declared;
mod event;
mod job;
mod load_balancer;
mod networking;
mod number;
mod placing;
mod pod;
mod rbac;
mod reference;
mod scaling;
mod schedule;
mod selector;
mod service;
mod status;
mod status_address;
mod update;
mod workload;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use self::selector::matches as selects;
use super::{
    catalog::{BuiltinType, go_struct},
    go_type::GoType,
    path,
};
use crate::schema::{FieldError, FieldPath};

/// Why a new object is refused; empty when it is not. The object is defaulted and prepared.
pub fn validate_create(ty: &BuiltinType, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let with_claims = (ty.kind == "StatefulSet").then(|| workload::with_claims(object));
    let object = with_claims.as_ref().unwrap_or(object);
    for (name, field) in &go_struct(ty.root).fields {
        let skipped = matches!(*name, "metadata" | "status");
        if let Some(value) = object.get(*name).filter(|_| !skipped) {
            walk(&field.ty, value, &FieldPath::new(name), &mut errors);
        }
    }
    declared::check(ty.root, object, &FieldPath::root(), &mut errors);
    rules(ty.root, object, &FieldPath::root(), &mut errors);
    if (ty.kind, path::text(object, "metadata.name").len() > 52) == ("CronJob", true) {
        let name = path::get(object, "metadata.name").unwrap_or(&Value::Null);
        let at = FieldPath::new("metadata.name");
        errors.push(FieldError::invalid(&at, name, "must be no more than 52 characters"));
    }
    errors
}

/// Why the successor of `old` is refused; empty when it is not. Both are defaulted and prepared.
pub fn validate_update(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate_create(ty, new);
    update::check(ty, new, old, &mut errors);
    errors
}

/// Why a status written to its own subresource is refused; empty when it is not.
pub fn validate_status(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    status::check(ty, new, old)
}

fn walk(ty: &GoType, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => walk(inner, value, at, errors),
        (GoType::Struct(name), Value::Object(_)) if *name != "meta.v1.ObjectMeta" => {
            declared::check(name, value, at, errors);
            let is_late = LATE.contains(name);
            if !is_late {
                rules(name, value, at, errors);
            }
            walk_fields(name, value, at, errors);
            if is_late {
                rules(name, value, at, errors);
            }
        }
        (GoType::List(element), Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                walk(element, item, &at.index(index), errors);
            }
        }
        (GoType::Map(element), Value::Object(map)) => {
            for (key, item) in map {
                walk(element, item, &at.key(key), errors);
            }
        }
        _ => {}
    }
}

/// Structs whose rules come after those of their fields.
const LATE: &[&str] = &["batch.v1.JobSpec", "core.v1.PodSpec", "networking.v1.HTTPIngressPath"];

fn walk_fields(name: &'static str, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let is_first = |field: &str| name == "core.v1.PodSpec" && field == "volumes";
    let fields = &go_struct(name).fields;
    let first = fields.iter().filter(|(field, _)| is_first(field));
    let others = fields.iter().filter(|(field, _)| !is_first(field));
    for (field, known) in first.chain(others) {
        if let Some(value) = value.get(*field) {
            walk(&known.ty, value, &at.child(field), errors);
        }
        if *field == "selector" {
            workload::selected(name, value, at, errors);
        }
    }
}

/// The rules written by hand, by struct.
fn rules(name: &str, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    match name {
        "core.v1.ConfigMap" => config::config_map(value, errors),
        "core.v1.Secret" => config::secret(value, errors),
        "core.v1.PodSpec" => pod::spec(value, at, errors),
        "core.v1.Volume" => pod::volume(value, at, errors),
        "core.v1.Container" | "core.v1.EphemeralContainer" => {
            container::container(value, at, errors);
        }
        "core.v1.EnvVar" => container::env_var(value, at, errors),
        "core.v1.EnvVarSource" => reference::env_var_source(value, at, errors),
        "core.v1.EnvFromSource" => reference::env_from(value, at, errors),
        "core.v1.LifecycleHandler" => container::handler(value, at, errors),
        "core.v1.ExecAction" => container::exec(value, at, errors),
        "core.v1.HTTPHeader" => container::header(value, at, errors),
        "core.v1.HostAlias" => pod::host_alias(value, at, errors),
        "core.v1.PodReadinessGate" => pod::readiness_gate(value, at, errors),
        "core.v1.ConfigMapVolumeSource"
        | "core.v1.ConfigMapProjection"
        | "core.v1.SecretVolumeSource"
        | "core.v1.SecretProjection" => reference::volume_source(name, value, at, errors),
        "core.v1.KeyToPath" => reference::mode(value, "mode", at, errors),
        "core.v1.PodTemplateSpec" => pod::template(value, at, errors),
        "core.v1.ResourceRequirements" => container::resources(value, at, errors),
        "core.v1.Probe" => container::probe(value, at, errors),
        "core.v1.HTTPGetAction" | "core.v1.TCPSocketAction" => {
            number::port_or_name(value, "port", at, errors);
        }
        "core.v1.Toleration" => placing::toleration(value, at, errors),
        "core.v1.NodeSelectorRequirement" => placing::node_requirement(value, at, errors),
        "core.v1.PreferredSchedulingTerm" | "core.v1.WeightedPodAffinityTerm" => {
            placing::weight(value, at, errors);
        }
        "core.v1.PodAffinityTerm" => placing::affinity_term(value, at, errors),
        "core.v1.TopologySpreadConstraint" => placing::spread(value, at, errors),
        "core.v1.NodeSpec" => placing::taints(value, errors),
        "core.v1.PodDNSConfig" => pod::dns(value, at, errors),
        "core.v1.ServiceSpec" => service::spec(value, at, errors),
        "core.v1.PersistentVolumeClaimSpec" => claim::spec(value, at, errors),
        "meta.v1.LabelSelector" => selector::check(value, at, errors),
        "apps.v1.DeploymentSpec" => workload::deployment(value, at, errors),
        "apps.v1.StatefulSetSpec" => workload::stateful_set(value, at, errors),
        "apps.v1.DaemonSetSpec" => workload::daemon_set(value, at, errors),
        "apps.v1.ReplicaSetSpec" => workload::replica_set(value, at, errors),
        "batch.v1.Job" => job::job(value, errors),
        "batch.v1.JobSpec" => job::spec(value, at, errors),
        "batch.v1.CronJobSpec" => job::cron(value, at, errors),
        "networking.v1.IngressSpec" => networking::ingress(value, at, errors),
        "networking.v1.IngressTLS" => networking::tls(value, at, errors),
        "networking.v1.NetworkPolicyPeer" => networking::peer(value, at, errors),
        "networking.v1.IPBlock" => networking::block(value, at, errors),
        "discovery.v1.Endpoint" => networking::endpoint(value, at, errors),
        "rbac.v1.AggregationRule" => rbac::aggregation(value, at, errors),
        "networking.v1.IngressRule" => networking::rule(value, at, errors),
        "networking.v1.HTTPIngressPath" => networking::path(value, at, errors),
        "networking.v1.NetworkPolicyPort" => number::port_or_name(value, "port", at, errors),
        "networking.v1.NetworkPolicySpec" => networking::policy(value, at, errors),
        "discovery.v1.EndpointSlice" => networking::endpoint_slice(value, errors),
        "events.v1.Event" => event::event(value, errors),
        "rbac.v1.PolicyRule" => rbac::policy_rule(value, at, errors),
        "rbac.v1.RoleBinding" => rbac::role_ref(value, &["Role", "ClusterRole"], errors),
        "rbac.v1.ClusterRoleBinding" => {
            rbac::role_ref(value, &["ClusterRole"], errors);
            rbac::subject_namespaces(value, errors);
        }
        "rbac.v1.Subject" => rbac::subject(value, at, errors),
        "autoscaling.v2.HorizontalPodAutoscalerSpec" => scaling::autoscaler(value, at, errors),
        "policy.v1.PodDisruptionBudgetSpec" => scaling::disruption_budget(value, at, errors),
        "coordination.v1.LeaseSpec" => {
            number::at_least(value, "leaseDurationSeconds", 1, at, errors);
        }
        _ => {}
    }
}
