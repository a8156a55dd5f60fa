//! Webhook configurations.

use super::{
    super::{
        field::{Errors, Field},
        selector,
    },
    match_conditions, rule, target,
};
use crate::schema::name_rule;

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// All webhooks of a configuration.
pub(in super::super) fn all(configuration: &Field, errors: &mut Errors) {
    let mut known: Vec<&str> = Vec::new();
    for hook in configuration.child("webhooks").items() {
        webhook(&hook, errors);
        review_versions(&hook.child("admissionReviewVersions"), errors);
        let name = hook.string("name");
        if !name.is_empty() && known.contains(&name.text()) {
            errors.push(name.duplicate());
        }
        known.push(name.text());
    }
}

fn webhook(hook: &Field, errors: &mut Errors) {
    full_name(&hook.string("name"), errors);
    for known in hook.child("rules").items() {
        rule(&known, errors);
    }
    one_of(hook, "failurePolicy", &["Fail", "Ignore"], errors);
    one_of(hook, "matchPolicy", &["Equivalent", "Exact"], errors);
    if hook.child("sideEffects").is_given() {
        one_of(hook, "sideEffects", &["None", "NoneOnDryRun"], errors);
    } else {
        let detail = "must specify one of None, NoneOnDryRun";
        errors.push(hook.child("sideEffects").required(detail));
    }
    if let Some(seconds) = hook.given("timeoutSeconds")
        && !(1..=30).contains(&seconds.number())
    {
        errors.push(seconds.invalid("the timeout value must be between 1 and 30 seconds"));
    }
    selector::check(&hook.child("namespaceSelector"), errors);
    selector::check(&hook.child("objectSelector"), errors);
    one_of(hook, "reinvocationPolicy", &["IfNeeded", "Never"], errors);
    target::check(&hook.child("clientConfig"), errors);
    match_conditions(&hook.child("matchConditions"), errors);
}

fn one_of(hook: &Field, name: &str, supported: &[&str], errors: &mut Errors) {
    if let Some(field) = hook.given(name) {
        field.is_one_of(supported, errors);
    }
}

/// A name with at least three segments, so that it is nobody else's.
fn full_name(name: &Field, errors: &mut Errors) {
    let details = name_rule::dns_subdomain(name.text(), false);
    if name.is_empty() {
        errors.push(name.required(""));
    } else if !details.is_empty() {
        errors.push(name.invalid(details.join(",")));
    } else if name.text().split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(name.invalid(detail));
    }
}

fn review_versions(versions: &Field, errors: &mut Errors) {
    if versions.is_empty() {
        errors.push(versions.required(format!("must specify one of {}", VERSIONS.join(", "))));
        return;
    }
    let mut known: Vec<&str> = Vec::new();
    for version in versions.items() {
        if known.contains(&version.text()) {
            errors.push(version.invalid("duplicate version"));
            continue;
        }
        known.push(version.text());
        version.follows(name_rule::dns_1035_label, errors);
    }
    if !known.iter().any(|version| VERSIONS.contains(version)) {
        let detail = format!("must include at least one of {}", VERSIONS.join(", "));
        errors.push(versions.invalid(detail));
    }
}
