//! When a container is started again, and whether a change of its resources needs that.

use std::collections::BTreeSet;

use super::super::field::{Errors, Field};

/// The policy of a container, and rules by exit code.
pub(super) fn policy(container: &Field, errors: &mut Errors) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if policy.is_given() {
        policy.is_one_of(&["Always", "Never", "OnFailure"], errors);
    } else {
        if !rules.is_empty() {
            let detail = "must specify restartPolicy when restart rules are used";
            errors.push(policy.required(detail));
        }
        if rules.is_empty() {
            return;
        }
    }
    if rules.len() > 20 {
        errors.push(rules.too_many(20));
    }
    for rule in rules.items() {
        rule.string("action").is_one_of(&["Restart", "RestartAllContainers"], errors);
        let codes = rule.child("exitCodes");
        if !codes.is_given() {
            errors.push(codes.required("must be specified"));
            continue;
        }
        codes.string("operator").is_one_of(&["In", "NotIn"], errors);
        let values = codes.child("values");
        if values.len() > 255 {
            errors.push(values.too_many(255));
        }
    }
}

/// What a change of resources does to the container. Most errors name the list.
pub(super) fn resize_policy(pod: &Field, list: &Field, errors: &mut Errors) {
    let never = pod.string("restartPolicy").text() == "Never";
    let mut known = BTreeSet::new();
    for policy in list.items() {
        let resource = policy.string("resourceName");
        if !known.insert(resource.text()) {
            errors.push(resource.named(policy.at().clone()).duplicate());
        }
        let restart = policy.string("restartPolicy");
        for (field, supported) in
            [(&resource, ["cpu", "memory"]), (&restart, ["NotRequired", "RestartContainer"])]
        {
            let field = field.named(list.at().clone());
            field.is_required("", errors);
            if !field.is_empty() {
                field.is_one_of(&supported, errors);
            }
        }
        if never && restart.text() != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(restart.named(list.at().clone()).invalid(detail));
        }
    }
}
