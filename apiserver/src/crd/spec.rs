//! Validates the specification of a definition.

use serde_json::{Value, json};

use super::{
    columns, conversion,
    form::{Form, has_status, schema, version_path},
    go_version, name_errors, open_api,
    ratchet::Allowed,
    scale, selectable,
};
use crate::schema::{FieldError, FieldPath, go_value, name_rule, schema_has};

/// The errors of a specification.
pub(super) fn errors(spec: &Value, allowed: &Allowed) -> Vec<FieldError> {
    let (form, path) = (Form::of(spec), FieldPath::new("spec"));
    let mut errors: Vec<_> = group_error(spec, &path).into_iter().collect();
    errors.extend(scope_error(spec, &path));
    errors.extend(absent_schemas(&form, allowed));
    errors.extend(defaults_error(&form, &path));
    for at in 0..form.versions.len() {
        errors.extend(version_errors(&form, at, allowed));
    }
    errors.extend(list_errors(&form, &path));
    errors.extend(first_name_errors(&form, &path));
    errors.extend(name_errors::required(&spec["names"], &path.child("names")));
    errors.extend(name_errors::errors(&spec["names"], &path.child("names")));
    errors.extend(shared_errors(&form, allowed));
    errors.extend(conversion::errors(spec, &path.child("conversion"), allowed));
    errors
}

fn group_error(spec: &Value, path: &FieldPath) -> Option<FieldError> {
    let (group, path) = (spec["group"].as_str().unwrap_or_default(), path.child("group"));
    let wrong = name_rule::dns_subdomain(group, false);
    if group.is_empty() {
        Some(FieldError::required(&path, ""))
    } else if !wrong.is_empty() {
        Some(FieldError::invalid(&path, &json!(group), wrong.join(",")))
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        Some(FieldError::invalid(&path, &json!(group), detail))
    } else {
        None
    }
}

fn scope_error(spec: &Value, path: &FieldPath) -> Option<FieldError> {
    let path = path.child("scope");
    match spec["scope"].as_str().unwrap_or_default() {
        "" => Some(FieldError::required(&path, "")),
        "Cluster" | "Namespaced" => None,
        scope => Some(FieldError::not_supported(&path, &json!(scope), ["Cluster", "Namespaced"])),
    }
}

fn absent_schemas(form: &Form<'_>, allowed: &Allowed) -> Vec<FieldError> {
    if form.shared("schema").is_some_and(|part| !part.value["openAPIV3Schema"].is_null()) {
        return Vec::new();
    }
    let detail =
        if allowed.absent_schemas { "because otherwise all fields are pruned" } else { "" };
    let versions = form.versions.iter().enumerate();
    let is_needed = |version: &Value| !allowed.absent_schemas || version["served"] == true;
    let absent = versions.filter(|(_, version)| is_needed(version) && schema(version).is_null());
    absent
        .map(|(at, _)| {
            let path = version_path(at).child("schema").child("openAPIV3Schema");
            FieldError::required(&path, detail)
        })
        .collect()
}

fn defaults_error(form: &Form<'_>, path: &FieldPath) -> Option<FieldError> {
    let has_default = |schema: &Value| !schema["default"].is_null();
    let has_defaults =
        form.versions.iter().any(|version| schema_has(schema(version), &has_default));
    let detail = "must be false in order to use defaults in the schema";
    (form.spec["preserveUnknownFields"] == true && has_defaults)
        .then(|| FieldError::invalid(&path.child("preserveUnknownFields"), &json!(true), detail))
}

fn version_errors(form: &Form<'_>, at: usize, allowed: &Allowed) -> Vec<FieldError> {
    let (version, path) = (form.versions[at], version_path(at));
    let name = version["name"].as_str().unwrap_or_default();
    let mut errors = label_error(name, &path.child("name"));
    let (at_warning, shown) = (path.child("deprecationWarning"), &version["deprecationWarning"]);
    errors.extend(deprecation_errors(version).into_iter().map(|detail| {
        let error = FieldError::invalid(&at_warning, shown, detail);
        FieldError { value: Some(go_value::json(shown)), ..error }
    }));
    if let Some(part) = form.own(at, "schema") {
        let has_status = has_status(&version["subresources"]);
        errors.extend(open_api::errors(&part, has_status, allowed.of_version(name)));
    }
    if let Some(part) = form.own(at, "subresources") {
        errors.extend(scale::errors(&part));
    }
    if let Some(part) = form.own(at, "additionalPrinterColumns") {
        errors.extend(columns::errors(&part));
    }
    if let Some(part) = form.own(at, "selectableFields") {
        let schema = form.own(at, "schema").map(|_| schema(version));
        let none = "may only be set when `version.schema.openAPIV3Schema` is not included";
        errors.extend(selectable::errors(&part, schema, none, allowed.has_many_selectable(name)));
    }
    errors
}

/// What is wrong with fields that stand above the versions.
fn shared_errors(form: &Form<'_>, allowed: &Allowed) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let name = form.versions.first().and_then(|version| version["name"].as_str());
    if let Some(part) = form.shared("schema") {
        let has_status = form.versions.iter().any(|version| has_status(&version["subresources"]));
        let unchanged = allowed.of_version(name.unwrap_or_default());
        errors.extend(open_api::errors(&part, has_status, unchanged));
    }
    if let Some(part) = form.shared("subresources") {
        errors.extend(scale::errors(&part));
    }
    if let Some(part) = form.shared("additionalPrinterColumns") {
        errors.extend(columns::errors(&part));
    }
    if let Some(part) = form.shared("selectableFields") {
        let schema = form.shared("schema").map(|part| &part.value["openAPIV3Schema"]);
        let none = "may only be set when validations.schema is included";
        errors.extend(selectable::errors(&part, schema, none, allowed.has_many_selectable("")));
    }
    errors
}

fn label_error(name: &str, path: &FieldPath) -> Vec<FieldError> {
    let wrong = name_rule::dns_1035_label(name, false);
    let error = || FieldError::invalid(path, &json!(name), wrong.join(","));
    (!wrong.is_empty()).then(error).into_iter().collect()
}

fn deprecation_errors(version: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    let Some(warning) = version["deprecationWarning"].as_str() else { return errors };
    if version["deprecated"] != true {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    if warning.len() > 256 {
        errors.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        errors.push("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| go_value::is_invisible(*c)) {
        errors.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
    errors
}

/// What is wrong with the versions together.
fn list_errors(form: &Form<'_>, path: &FieldPath) -> Vec<FieldError> {
    let names: Vec<_> = form.versions.iter().map(|version| &version["name"]).collect();
    let is_repeated = |at: usize| names[..at].contains(&names[at]);
    let storage = form.versions.iter().filter(|version| version["storage"] == true).count();
    let mut wrong = Vec::new();
    if (0..names.len()).any(is_repeated) {
        wrong.push("must contain unique version names");
    }
    if storage != 1 {
        wrong.push("must have exactly one version marked as storage version");
    }
    let versions: Vec<Value> = form.versions.iter().map(|version| form.rest_of(version)).collect();
    let is_given = form.spec["versions"].is_array();
    let shown = if is_given { go_version::print(&versions) } else { "null".to_owned() };
    let error = |detail| {
        let error = FieldError::invalid(&path.child("versions"), &Value::Null, detail);
        FieldError { value: Some(shown.clone()), ..error }
    };
    wrong.into_iter().map(error).collect()
}

/// The name of the first version is once more that of the definition.
fn first_name_errors(form: &Form<'_>, path: &FieldPath) -> Vec<FieldError> {
    let name = form.versions.first().and_then(|version| version["name"].as_str());
    let name = name.filter(|name| !name.is_empty());
    name.map(|name| label_error(name, &path.child("version"))).unwrap_or_default()
}
