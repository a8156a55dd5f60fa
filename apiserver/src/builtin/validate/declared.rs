//! Required fields and enums, as the types declare them, with the exceptions that the real
//! server's own rules make.

use serde_json::Value;

use crate::{
    builtin::{
        catalog::go_struct,
        go_type::{GoField, GoType},
        path,
    },
    schema::{FieldError, FieldPath},
};

/// Fields that `OpenAPI` calls required and the server takes empty, or has rules of its own for.
const NOT_REQUIRED: &[(&str, &str)] = &[
    ("apps.v1.DaemonSetSpec", "selector"),
    ("batch.v1.PodFailurePolicy", "rules"),
    ("core.v1.HTTPHeader", "name"),
    ("core.v1.HTTPHeader", "value"),
    ("core.v1.HostAlias", "ip"),
    ("core.v1.PodReadinessGate", "conditionType"),
    ("core.v1.TopologySpreadConstraint", "whenUnsatisfiable"),
    ("core.v1.ServiceAccountTokenProjection", "path"),
    ("core.v1.NodeSelectorRequirement", "key"),
    ("core.v1.NodeSelectorRequirement", "operator"),
    ("core.v1.PodAffinityTerm", "topologyKey"),
    ("core.v1.Taint", "effect"),
    ("core.v1.Taint", "key"),
    ("core.v1.TopologySpreadConstraint", "topologyKey"),
    ("meta.v1.LabelSelectorRequirement", "key"),
    ("meta.v1.LabelSelectorRequirement", "operator"),
    ("core.v1.LimitRangeSpec", "limits"),
    ("core.v1.Sysctl", "value"),
    ("rbac.v1.PolicyRule", "verbs"),
    ("rbac.v1.RoleRef", "kind"),
    ("rbac.v1.RoleRef", "name"),
    ("rbac.v1.Subject", "kind"),
    ("storage.v1.CSINodeSpec", "drivers"),
];

/// Additional messages of the server about required fields.
const DETAILS: &[(&str, &str, &str)] = &[
    ("discovery.v1.Endpoint", "addresses", "must contain at least 1 address"),
    ("networking.v1.HTTPIngressPath", "pathType", "pathType must be specified"),
    ("core.v1.SeccompProfile", "type", "type is required when seccompProfile is set"),
    ("core.v1.NodeSelector", "nodeSelectorTerms", "must have at least one node selector term"),
];

/// Enums that have rules of their own.
const NOT_LISTED: &[(&str, &str)] = &[
    ("apps.v1.DeploymentStrategy", "type"),
    ("apps.v1.StatefulSetSpec", "podManagementPolicy"),
    ("apps.v1.DaemonSetUpdateStrategy", "type"),
    ("apps.v1.StatefulSetUpdateStrategy", "type"),
    ("core.v1.NodeSelectorRequirement", "operator"),
    ("core.v1.Taint", "effect"),
    ("core.v1.Toleration", "effect"),
    ("core.v1.Toleration", "operator"),
    ("core.v1.TopologySpreadConstraint", "whenUnsatisfiable"),
    ("core.v1.ServiceSpec", "externalTrafficPolicy"),
    ("core.v1.ServiceSpec", "sessionAffinity"),
    ("core.v1.ServiceSpec", "type"),
    ("meta.v1.LabelSelectorRequirement", "operator"),
];

/// Enums whose values the server lists in an order of its own.
const ORDERS: &[(&str, &str, &[&str])] = &[
    ("core.v1.PodSpec", "restartPolicy", &["Always", "OnFailure", "Never"]),
    ("core.v1.Container", "terminationMessagePolicy", &["File", "FallbackToLogsOnError"]),
    ("networking.v1.NetworkPolicyPort", "protocol", &["TCP", "UDP", "SCTP"]),
    (
        "core.v1.PodSpec",
        "dnsPolicy",
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    ),
];

/// Checks the fields of one struct, not those of the structs in it.
pub(super) fn check(name: &str, value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (field, known) in &go_struct(name).fields {
        let given = value.get(*field).filter(|given| !known.ty.is_zero(given));
        match given {
            None if known.required && is_tellable(&known.ty) => {
                errors.extend(missing(name, field, at));
            }
            Some(given) if !known.enumeration.contains(given) => {
                errors.extend(unlisted(name, field, known, given, at));
            }
            _ => {}
        }
    }
}

/// Refuses a value that is not in the list.
pub(super) fn listed(
    spec: &Value,
    field: &str,
    known: &[&str],
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if let Some(given) = path::get(spec, field)
        && !known.contains(&given.as_str().unwrap_or_default())
    {
        errors.push(FieldError::not_supported(&at.child(field), given, known.to_vec()));
    }
}

/// Whether an empty value means that nothing was given: zero is a number like others.
fn is_tellable(ty: &GoType) -> bool {
    match ty {
        GoType::Pointer(inner) => !matches!(**inner, GoType::Time | GoType::MicroTime),
        GoType::String | GoType::List(_) => true,
        _ => false,
    }
}

fn missing(name: &str, field: &str, at: &FieldPath) -> Option<FieldError> {
    if NOT_REQUIRED.contains(&(name, field)) {
        return None;
    }
    let detail = DETAILS.iter().find(|(of, known, _)| (*of, *known) == (name, field));
    Some(FieldError::required(&at.child(field), detail.map_or("", |(_, _, detail)| detail)))
}

fn unlisted(
    name: &str,
    field: &str,
    known: &GoField,
    given: &Value,
    at: &FieldPath,
) -> Option<FieldError> {
    if known.enumeration.is_empty() || !given.is_string() || NOT_LISTED.contains(&(name, field)) {
        return None;
    }
    if (name, field, given) == ("storage.v1.StorageClass", "reclaimPolicy", &Value::from("")) {
        return None;
    }
    let order = ORDERS.iter().find(|(of, known, _)| (*of, *known) == (name, field));
    let listed = known.enumeration.iter().filter_map(Value::as_str).collect();
    let supported = order.map_or(listed, |(_, _, order)| order.to_vec());
    Some(FieldError::not_supported(&at.child(field), given, supported))
}
