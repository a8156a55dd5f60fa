//! The environment of a container: variables, and maps whose keys become variables.

use super::super::{
    config,
    field::{Errors, Field},
    volume::{downward, path},
};
use crate::schema::{go_value::quote, name_rule};

/// The sources of a variable, in the order of their checks.
const SOURCES: [&str; 5] =
    ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// The variables of a container.
pub(super) fn variables(list: &Field, errors: &mut Errors) {
    for variable in list.items() {
        let name = variable.string("name");
        name.is_required("", errors);
        is_name(&name, errors);
        if let Some(source) = variable.given("valueFrom") {
            value_from(&source, &variable.string("value"), errors);
        }
    }
}

/// Maps whose keys become variables. An error about their absence names the list, not the element.
pub(super) fn sources(list: &Field, errors: &mut Errors) {
    for source in list.items() {
        is_name(&source.string("prefix"), errors);
        let kinds = ["configMapRef", "secretRef"];
        let given: Vec<Field> = kinds.iter().filter_map(|kind| source.given(kind)).collect();
        for map in &given {
            let name = map.string("name");
            name.is_required("", errors);
            if !name.is_empty() {
                // Checked as the start of a name.
                let details = name_rule::dns_subdomain(name.text(), true);
                errors.extend(details.into_iter().map(|detail| name.invalid(detail)));
            }
        }
        let detail = match given.len() {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(list.invalid_as(quote(""), detail));
    }
}

fn is_name(name: &Field, errors: &mut Errors) {
    if name.text().chars().any(|c| !(' '..='~').contains(&c) || c == '=') {
        let detail = "a valid environment variable name must consist only of printable ASCII \
                      characters other than '='";
        errors.push(name.invalid(detail));
    }
}

fn value_from(source: &Field, value: &Field, errors: &mut Errors) {
    let given: Vec<_> =
        SOURCES.iter().filter_map(|kind| Some((*kind, source.given(kind)?))).collect();
    for (kind, reference) in &given {
        match *kind {
            "fieldRef" => downward::field(reference, &downward::OF_VARIABLES, errors),
            "resourceFieldRef" => downward::resource(reference, false, errors),
            "fileKeyRef" => file_key(reference, errors),
            _ => map_key(reference, errors),
        }
    }
    let detail = match given.len() {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(source.invalid_as(quote(""), detail));
}

fn map_key(reference: &Field, errors: &mut Errors) {
    reference.string("name").follows(name_rule::dns_subdomain, errors);
    let key = reference.string("key");
    key.is_required("", errors);
    if !key.is_empty() {
        errors.extend(config::key_errors(key.text()).into_iter().map(|detail| key.invalid(detail)));
    }
}

fn file_key(reference: &Field, errors: &mut Errors) {
    let key = reference.string("key");
    key.is_required("", errors);
    is_name(&key, errors);
    let volume = reference.string("volumeName");
    volume.is_required("", errors);
    volume.follows_unless_empty(name_rule::dns_label, errors);
    let file = reference.string("path");
    file.is_required("", errors);
    path::no_backsteps(&file, errors);
}
