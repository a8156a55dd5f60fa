//! Roles and their bindings.

use serde_json::{Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// A rule has verbs and resources.
pub(super) fn policy_rule(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let is_empty = |field| path::list(rule, field).is_empty();
    if is_empty("verbs") {
        let detail = "verbs must contain at least one value";
        errors.push(FieldError::required(&at.child("verbs"), detail));
    }
    if !is_empty("nonResourceURLs") {
        return;
    }
    if is_empty("apiGroups") {
        let detail = "resource rules must supply at least one api group";
        errors.push(FieldError::required(&at.child("apiGroups"), detail));
    }
    if is_empty("resources") {
        let detail = "resource rules must supply at least one resource";
        errors.push(FieldError::required(&at.child("resources"), detail));
    }
}

/// A role that is made of others says of which.
pub(super) fn aggregation(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if path::list(rule, "clusterRoleSelectors").is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(&at.child("clusterRoleSelectors"), detail));
    }
}

/// A binding binds a role of one of these kinds.
pub(super) fn role_ref(binding: &Value, kinds: &[&str], errors: &mut Vec<FieldError>) {
    let at = FieldPath::new("roleRef");
    let given = |field| path::get(&binding["roleRef"], field).cloned().unwrap_or_else(|| json!(""));
    if given("apiGroup") != GROUP {
        errors.push(FieldError::not_supported(&at.child("apiGroup"), &given("apiGroup"), [GROUP]));
    }
    if !kinds.contains(&given("kind").as_str().unwrap_or_default()) {
        errors.push(FieldError::not_supported(&at.child("kind"), &given("kind"), kinds.to_vec()));
    }
    if given("name") == "" {
        errors.push(FieldError::required(&at.child("name"), ""));
    }
}

/// The subject of a binding.
pub(super) fn subject(subject: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = path::text(subject, "kind");
    let expected_group = match kind {
        "ServiceAccount" => "",
        "User" | "Group" => GROUP,
        _ => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(&at.child("kind"), &json!(kind), kinds));
            return;
        }
    };
    let name = path::text(subject, "name");
    if kind == "ServiceAccount" && !name.is_empty() {
        for detail in name_rule::dns_subdomain(name, false) {
            errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
        }
    }
    let group = path::text(subject, "apiGroup");
    if group != expected_group {
        let at = at.child("apiGroup");
        errors.push(FieldError::not_supported(&at, &json!(group), [expected_group]));
    }
}

/// In a cluster role binding a service account needs its namespace.
pub(super) fn subject_namespaces(binding: &Value, errors: &mut Vec<FieldError>) {
    for (index, subject) in path::list(binding, "subjects").iter().enumerate() {
        let is_account = path::text(subject, "kind") == "ServiceAccount";
        if is_account && path::text(subject, "namespace").is_empty() {
            let at = FieldPath::new("subjects").index(index).child("namespace");
            errors.push(FieldError::required(&at, ""));
        }
    }
}

/// The role of a binding is immutable.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if new["roleRef"] == old["roleRef"] {
        return;
    }
    let text = |field| path::text(&new["roleRef"], field);
    let print = crate::schema::go_value::quote;
    let value = format!(
        r#"{{"APIGroup":{},"Kind":{},"Name":{}}}"#,
        print(text("apiGroup")),
        print(text("kind")),
        print(text("name"))
    );
    let error =
        FieldError::invalid(&FieldPath::new("roleRef"), &Value::Null, "cannot change roleRef");
    errors.push(FieldError { value: Some(value), ..error });
}
