//! Containers: name, image, ports, environment, resources, probes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::number;
use crate::{
    builtin::{path, quantity::Quantity},
    schema::{FieldError, FieldPath, name_rule},
};

/// What holds for a container wherever it is.
pub(super) fn container(container: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(container, "name");
    if !name.is_empty() {
        for detail in name_rule::dns_label(name, false) {
            errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
        }
    }
    image(container, at, errors);
    ports(path::list(container, "ports"), &at.child("ports"), errors);
}

/// One environment variable.
pub(super) fn env_var(variable: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(variable, "name");
    if name.chars().any(|c| !(' '..='~').contains(&c) || c == '=') {
        let detail = "a valid environment variable name must consist only of printable ASCII \
                      characters other than '='";
        errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
    }
    let Some(source) = path::get(variable, "valueFrom").and_then(Value::as_object) else { return };
    let detail = match source.len() {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        _ if !path::text(variable, "value").is_empty() => {
            "may not be specified when `value` is not empty"
        }
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(&at.child("valueFrom"), &json!(""), detail));
}

/// Requests and limits of a container or pod.
pub(super) fn resources(resources: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for field in ["limits", "requests"] {
        for (name, given) in amounts(resources, field) {
            if Quantity::of(given).is_some_and(Quantity::is_negative) {
                let detail = "must be greater than or equal to 0";
                errors.push(FieldError::invalid(&at.child(field).key(name), given, detail));
            }
        }
    }
    for (name, request) in amounts(resources, "requests") {
        let limit = resources.get("limits").and_then(|limits| limits.get(name));
        let (Some(most), Some(wanted)) = (limit.and_then(Quantity::of), Quantity::of(request))
        else {
            continue;
        };
        if wanted.compare(most).is_gt() {
            let detail = format!("must be less than or equal to {name} limit of {most}");
            errors.push(FieldError::invalid(&at.child("requests"), request, detail));
        }
    }
}

/// A probe has exactly one handler.
pub(super) fn probe(probe: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    let given: Vec<_> = handlers.iter().filter(|handler| probe.get(**handler).is_some()).collect();
    if given.is_empty() {
        errors.push(FieldError::required(at, "must specify a handler type"));
    }
    for extra in given.iter().skip(1) {
        let detail = "may not specify more than 1 handler type";
        errors.push(FieldError::forbidden(&at.child(extra), detail));
    }
    for field in ["timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        number::not_negative(probe, field, at, errors);
    }
    number::not_negative(probe, "initialDelaySeconds", at, errors);
}

/// What a lifecycle hook does.
pub(super) fn handler(handler: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let given = ["exec", "httpGet", "tcpSocket", "sleep"];
    let mut given = given.iter().filter(|kind| handler.get(**kind).is_some());
    if given.next().is_none() {
        errors.push(FieldError::required(at, "must specify a handler type"));
    }
    for extra in given {
        let detail = "may not specify more than 1 handler type";
        errors.push(FieldError::forbidden(&at.child(extra), detail));
    }
}

/// A command has a program.
pub(super) fn exec(action: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if path::list(action, "command").is_empty() {
        errors.push(FieldError::required(&at.child("command"), ""));
    }
}

/// The name of a header; the real server names the list, not the element.
pub(super) fn header(header: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(header, "name");
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        let detail = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. \
                      'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
        errors.push(FieldError::invalid(&at.list(), &json!(name), detail));
    }
}

fn amounts<'a>(resources: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    resources.get(field).and_then(Value::as_object).into_iter().flatten()
}

fn image(container: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let image = path::text(container, "image");
    if image.is_empty() {
        errors.push(FieldError::required(&at.child("image"), ""));
    } else if image != image.trim() {
        let detail = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid(&at.child("image"), &json!(image), detail));
    }
}

fn ports(ports: &[Value], at: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        if let Some(name) = port.get("name").filter(|name| *name != "") {
            if names.insert(name.as_str()) {
                number::port_name(name, &at.child("name"), errors);
            } else {
                errors.push(FieldError::duplicate(&at.child("name"), name));
            }
        }
        match port.get("containerPort") {
            Some(number) if number.as_i64() != Some(0) => {
                number::port(number, &at.child("containerPort"), errors);
            }
            _ => errors.push(FieldError::required(&at.child("containerPort"), "")),
        }
        if let Some(number) = port.get("hostPort").filter(|number| **number != json!(0)) {
            number::port(number, &at.child("hostPort"), errors);
        }
    }
}
