//! Probes and hooks of containers: what they do, and how often.

use super::super::{
    field::{Errors, Field},
    number,
};
use crate::schema::go_value::quote;

/// The hooks and probes of a container.
pub(super) fn of_container(pod: &Field, container: &Field, errors: &mut Errors) {
    if let Some(hooks) = container.given("lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(hook) = hooks.given(hook) {
                handler(pod, &hook, errors);
            }
        }
    }
    for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.given(kind) else { continue };
        one(pod, &probe, errors);
        let grace = probe.child("terminationGracePeriodSeconds");
        let successes = probe.integer("successThreshold");
        if kind != "readinessProbe" && successes.number() != 1 {
            errors.push(successes.invalid("must be 1"));
        } else if kind == "readinessProbe" && grace.is_given() {
            errors.push(grace.invalid("must not be set for readinessProbes"));
        }
    }
}

fn one(pod: &Field, probe: &Field, errors: &mut Errors) {
    handler(pod, probe, errors);
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        probe.integer(field).is_not_negative(errors);
    }
    let grace = probe.child("terminationGracePeriodSeconds");
    if grace.is_given() && grace.number() <= 0 {
        errors.push(grace.invalid("must be greater than 0"));
    }
}

/// Exactly one thing to do.
fn handler(pod: &Field, handler: &Field, errors: &mut Errors) {
    let kinds = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];
    let mut given = kinds.iter().filter_map(|kind| Some((*kind, handler.given(kind)?)));
    let Some((kind, action)) = given.next() else {
        errors.push(handler.required("must specify a handler type"));
        return;
    };
    match kind {
        "exec" => action.child("command").is_required("", errors),
        "httpGet" => http_get(&action, errors),
        "tcpSocket" => port(&action, errors),
        "grpc" => {
            let port = action.integer("port");
            number::port(port.value(), port.at(), errors);
        }
        _ => sleep(pod, &action, errors),
    }
    for (_, extra) in given {
        errors.push(extra.forbidden("may not specify more than 1 handler type"));
    }
}

fn http_get(action: &Field, errors: &mut Errors) {
    action.string("path").is_required("", errors);
    port(action, errors);
    action.string("scheme").is_one_of(&["HTTP", "HTTPS"], errors);
    // The real server names the list, not the element.
    let headers = action.child("httpHeaders");
    for header in headers.items() {
        let name = header.string("name").text();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            let detail = "a valid HTTP header must consist of alphanumeric characters or '-' \
                          (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
            errors.push(headers.invalid_as(quote(name), detail));
        }
    }
}

/// A number or the name of a port.
fn port(action: &Field, errors: &mut Errors) {
    let port = action.integer("port");
    if port.value().is_string() {
        number::port_name(port.value(), port.at(), errors);
    } else {
        number::port(port.value(), port.at(), errors);
    }
}

/// A pause within the grace period of the Pod.
fn sleep(pod: &Field, action: &Field, errors: &mut Errors) {
    let Some(grace) = pod.given("terminationGracePeriodSeconds") else { return };
    let (seconds, grace) = (action.integer("seconds"), grace.number());
    if seconds.number() < 0 || seconds.number() > grace {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.push(seconds.named(action.at().clone()).invalid(detail));
    }
}
