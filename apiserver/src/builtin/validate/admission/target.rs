//! Where a webhook is asked: at a URL, or at a service of the cluster.

use super::super::field::{Errors, Field};
use crate::schema::{go_value::quote, name_rule};

const FORM: &str = "; desired format: https://host[/path]";

/// Refuses what is not exactly one place.
pub(in crate::builtin::validate) fn check(client: &Field, errors: &mut Errors) {
    match (client.given("url"), client.given("service")) {
        (Some(url), None) => parts(&url, errors),
        (None, Some(known)) => service(&known, errors),
        _ => errors.push(client.required("exactly one of url or service is required")),
    }
}

fn parts(url: &Field, errors: &mut Errors) {
    let (rest, fragment) = url.text().split_once('#').unwrap_or((url.text(), ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once(':').unwrap_or(("", rest));
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or(""));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let mut push = |part: &str, detail: &str| {
        errors.push(url.invalid_as(quote(part), detail));
    };
    if scheme != "https" {
        push(scheme, &format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if host.is_empty() {
        push(host, &format!("host must be specified{FORM}"));
    }
    if authority.contains('@') {
        push(user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        push(fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        push(query, "query parameters are not permitted in the URL");
    }
}

fn service(service: &Field, errors: &mut Errors) {
    // The real server takes one for the other.
    for (named, meant) in [("name", "namespace"), ("namespace", "name")] {
        if service.string(meant).is_empty() {
            errors.push(service.string(named).required(""));
        }
    }
    let port = service.integer("port");
    if !(1..=65_535).contains(&port.number()) {
        errors.push(port.invalid("port is not valid: must be between 1 and 65535, inclusive"));
    }
    path(&service.string("path"), errors);
}

fn path(path: &Field, errors: &mut Errors) {
    let text = path.text();
    if matches!(text, "" | "/") {
        return;
    }
    if text == "//" {
        errors.push(path.invalid("segment[0] may not be empty"));
        return;
    }
    if !text.starts_with('/') {
        errors.push(path.invalid("must start with a '/'"));
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    let rest = &text[first..];
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            errors.push(path.invalid(format!("segment[{index}] may not be empty")));
            continue;
        }
        for detail in name_rule::dns_subdomain(step, false) {
            errors.push(path.invalid(format!("segment[{index}]: {detail}")));
        }
    }
}
