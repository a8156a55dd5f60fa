//! A rule of RBAC for objects with these names alone.

use k8s_openapi::api::rbac::v1::PolicyRule;

/// Without names it is one for all objects.
pub(super) fn rule(
    (group, resources): (&str, &[&str]),
    names: Vec<String>,
    verbs: &[&str],
) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        resource_names: Some(names).filter(|names| !names.is_empty()),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
