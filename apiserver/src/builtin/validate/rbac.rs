//! Roles and their bindings.

use super::{
    field::{Errors, Field},
    immutable, selector, shown,
};
use crate::schema::name_rule;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Whether a role or a binding is of one namespace or of the whole cluster.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scope {
    Namespace,
    Cluster,
}

/// A role: rules, and for a cluster role also the roles that it is made of.
pub(super) fn role(role: &Field, scope: Scope, errors: &mut Errors) {
    for rule in role.child("rules").items() {
        policy_rule(&rule, scope, errors);
    }
    if let Some(aggregation) = role.given("aggregationRule") {
        self::aggregation(&aggregation, errors);
    }
    for rule in role.child("rules").items() {
        rule.child("verbs").is_required("", errors);
    }
}

fn aggregation(aggregation: &Field, errors: &mut Errors) {
    let selectors = aggregation.child("clusterRoleSelectors");
    let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    selectors.is_required(detail, errors);
    for labels in selectors.items() {
        let before = errors.len();
        selector::check(&labels, errors);
        if errors.len() > before {
            errors.push(labels.invalid_as("null".to_owned(), "invalid label selector."));
        }
    }
}

/// A rule has resources.
fn policy_rule(rule: &Field, scope: Scope, errors: &mut Errors) {
    let urls = rule.child("nonResourceURLs");
    if !urls.is_empty() {
        if scope == Scope::Namespace {
            errors.push(urls.invalid("namespaced rules cannot apply to non-resource URLs"));
        }
        let others = ["apiGroups", "resources", "resourceNames"];
        if others.iter().any(|name| !rule.child(name).is_empty()) {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(urls.invalid(detail));
        }
        return;
    }
    let detail = "resource rules must supply at least one api group";
    rule.child("apiGroups").is_required(detail, errors);
    let detail = "resource rules must supply at least one resource";
    rule.child("resources").is_required(detail, errors);
}

/// A binding of a role to subjects.
pub(super) fn binding(binding: &Field, scope: Scope, errors: &mut Errors) {
    let role = binding.child("roleRef");
    role.string("apiGroup").is_one_of(&[GROUP], errors);
    let kinds: &[&str] = match scope {
        Scope::Namespace => &["Role", "ClusterRole"],
        Scope::Cluster => &["ClusterRole"],
    };
    role.string("kind").is_one_of(kinds, errors);
    let name = role.string("name");
    name.follows_unless_empty(name_rule::path_segment, errors);
    let subjects = binding.child("subjects").items();
    for subject in &subjects {
        self::subject(subject, scope, errors);
    }
    name.is_required("", errors);
    for subject in &subjects {
        subject.string("name").is_required("", errors);
    }
}

/// The role of a binding never changes.
pub(super) fn binding_update(new: &Field, old: &Field, errors: &mut Errors) {
    let role = new.child("roleRef");
    if role.value() != old.child("roleRef").value() {
        let print = shown::go("rbac.RoleRef", role.value());
        errors.push(role.invalid_as(print, immutable::DETAIL));
    }
}

fn subject(subject: &Field, scope: Scope, errors: &mut Errors) {
    let (name, group) = (subject.string("name"), subject.string("apiGroup"));
    match subject.string("kind").text() {
        "ServiceAccount" => {
            name.follows_unless_empty(name_rule::dns_subdomain, errors);
            group.is_one_of(&[""], errors);
            if scope == Scope::Cluster {
                subject.string("namespace").is_required("", errors);
            }
        }
        "User" | "Group" => group.is_one_of(&[GROUP], errors),
        _ => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(subject.string("kind").not_supported(&kinds));
        }
    }
}
