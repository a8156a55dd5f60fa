//! The permissions for the web endpoint: to review its users with the API server, and roles for its
//! users. Only the operators' own account is bound to a role here.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule};

use super::account::{cluster_binding, named};

const REVIEWER: &str = "operetta-access-reviewer";

/// The role for `--auth delegated`: to review tokens, and the permissions of their users.
pub fn reviewer() -> ClusterRole {
    let create = |group: &str, resource: &str| PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: vec!["create".to_owned()],
        ..PolicyRule::default()
    };
    let rules = vec![
        create("authentication.k8s.io", "tokenreviews"),
        create("authorization.k8s.io", "subjectaccessreviews"),
    ];
    role(REVIEWER, rules)
}

pub(super) fn reviewer_binding() -> ClusterRoleBinding {
    cluster_binding(REVIEWER)
}

/// Roles for the users of the endpoint: to scrape it, to read all of it, and also to send commands.
pub fn users() -> [ClusterRole; 3] {
    let scrape = || paths(&["/metrics"], &["get"]);
    let read = || paths(&["/operetta/*"], &["get"]);
    let command = paths(&["/operetta/*"], &["post", "put"]);
    [
        role("operetta-metrics-reader", vec![scrape()]),
        role("operetta-reader", vec![scrape(), read()]),
        role("operetta-commander", vec![scrape(), read(), command]),
    ]
}

fn paths(paths: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    PolicyRule {
        non_resource_urls: Some(owned(paths)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

fn role(name: &str, rules: Vec<PolicyRule>) -> ClusterRole {
    let metadata = named(name);
    ClusterRole { metadata, rules: Some(rules), ..ClusterRole::default() }
}
