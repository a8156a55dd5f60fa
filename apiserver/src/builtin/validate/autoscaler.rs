//! Autoscalers: their bounds, what they scale and how fast. `metric` has what they measure.

use super::{
    field::{Errors, Field},
    metric,
    scaled::{self, Group},
};

/// The longest window and the longest period of a policy, in seconds.
const LONGEST: (i64, i64) = (3600, 1800);

/// The specification of an autoscaler of any version.
pub(super) fn autoscaler(spec: &Field, errors: &mut Errors) {
    let (min, max) = (spec.child("minReplicas"), spec.integer("maxReplicas"));
    min.is_not_negative(errors);
    if min.is_given() && max.number() < min.number() {
        errors.push(max.invalid("must be greater than or equal to `minReplicas`"));
    }
    scaled::target(&spec.child("scaleTargetRef"), Group::Named, errors);
    metric::all(&spec.child("metrics"), &min, errors);
    if let Some(percent) = spec.given("targetCPUUtilizationPercentage") {
        // The first version knows only one metric.
        let at = spec.at().child("metrics").index(0).child("resource").child("target");
        if percent.number() < 1 {
            let percent = percent.named(at.child("averageUtilization"));
            errors.push(percent.invalid("must be greater than 0"));
        }
    }
    let behavior = spec.child("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        if let Some(rules) = behavior.given(direction) {
            scaling_rules(&rules, errors);
        }
    }
    // What the type declares comes last.
    match max.number() {
        0 => errors.push(max.required("")),
        ..0 => errors.push(max.invalid("must be greater than or equal to 1")),
        1.. => {}
    }
}

fn scaling_rules(rules: &Field, errors: &mut Errors) {
    let (longest_window, _) = LONGEST;
    if let Some(window) = rules.given("stabilizationWindowSeconds") {
        if window.number() < 0 {
            errors.push(window.invalid("must be greater than or equal to zero"));
        }
        if window.number() > longest_window {
            errors.push(window.invalid(format!("must be less than or equal to {longest_window}")));
        }
    }
    if let Some(policy) = rules.given("selectPolicy") {
        policy.is_one_of(&["Disabled", "Max", "Min"], errors);
    }
    let policies = rules.child("policies");
    policies.is_required("must specify at least one Policy", errors);
    for policy in policies.items() {
        scaling_policy(&policy, errors);
    }
    let tolerance = rules.child("tolerance");
    if tolerance.quantity().is_some_and(super::Quantity::is_negative) {
        errors.push(tolerance.invalid("must be greater than or equal to 0"));
    }
}

fn scaling_policy(policy: &Field, errors: &mut Errors) {
    policy.string("type").is_one_of(&["Percent", "Pods"], errors);
    let (_, longest_period) = LONGEST;
    for name in ["value", "periodSeconds"] {
        let field = policy.integer(name);
        if field.number() <= 0 {
            errors.push(field.invalid("must be greater than zero"));
        }
    }
    let period = policy.integer("periodSeconds");
    if period.number() > longest_period {
        errors.push(period.invalid(format!("must be less than or equal to {longest_period}")));
    }
}
