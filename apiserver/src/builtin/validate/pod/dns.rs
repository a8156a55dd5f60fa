//! Name servers of a pod.

use super::super::{
    field::{Errors, Field},
    ip,
};
use crate::schema::name_rule;

/// The configuration that a pod has beside or instead of that of the cluster.
pub(super) fn config(spec: &Field, errors: &mut Errors) {
    let config = spec.child("dnsConfig");
    let servers = config.child("nameservers");
    if spec.string("dnsPolicy").text() == "None" {
        if !config.is_given() {
            errors.push(config.required("must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(servers.required(detail));
            return;
        }
    }
    if servers.len() > 3 {
        errors.push(servers.invalid("must not have more than 3 nameservers"));
    }
    for server in servers.items() {
        ip::address(&server, errors);
    }
    searches(&config.child("searches"), errors);
    for option in config.child("options").items() {
        if option.string("name").is_empty() {
            errors.push(option.required("must not be empty"));
        }
    }
}

fn searches(list: &Field, errors: &mut Errors) {
    let searches = list.items();
    if searches.len() > 32 {
        errors.push(list.invalid("must not have more than 32 search paths"));
    }
    let length: usize = searches.iter().map(|search| search.text().len() + 1).sum();
    if length > 2048 + 1 {
        let detail =
            "must not have more than 2048 characters (including spaces) in the search list";
        errors.push(list.invalid(detail));
    }
    for search in searches.iter().filter(|search| search.text() != ".") {
        let text = search.text();
        let text = text.strip_suffix('.').unwrap_or(text);
        for detail in name_rule::search_domain(text, false) {
            errors.push(search.invalid_as(crate::schema::go_value::quote(text), detail));
        }
    }
}
