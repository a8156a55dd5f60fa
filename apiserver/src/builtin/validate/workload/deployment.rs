//! Deployments.

use super::{
    super::{
        field::{Errors, Field},
        immutable, number, shown,
    },
    amount_of, replica_set, required_selector,
};
use serde_json::json;

/// The specification of a Deployment.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    spec.integer("replicas").is_not_negative(errors);
    let wrong = "invalid label selector";
    if required_selector(spec, "empty selector is invalid for deployment", wrong, errors) {
        replica_set::selected_template(spec, errors);
    }
    strategy(&spec.child("strategy"), errors);
    spec.integer("minReadySeconds").is_not_negative(errors);
    spec.integer("revisionHistoryLimit").is_not_negative(errors);
    if let Some(deadline) = spec.given("progressDeadlineSeconds") {
        deadline.is_not_negative(errors);
        if deadline.number() <= spec.child("minReadySeconds").number() {
            errors.push(deadline.invalid("must be greater than minReadySeconds"));
        }
    }
}

/// The selector never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::selector(new, old, errors);
}

fn strategy(strategy: &Field, errors: &mut Errors) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.string("type").text() {
        "RollingUpdate" if !rolling.is_given() => {
            errors.push(rolling.required("this should be defaulted and never be nil"));
        }
        "RollingUpdate" => rolling_update(&rolling, errors),
        "Recreate" if rolling.is_given() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(rolling.forbidden(detail));
        }
        "Recreate" => {}
        _ => {
            let mut value = strategy.value().clone();
            // The defaults are filled in before the type is known to be wrong; the real server has none.
            if rolling.value() == &json!({ "maxSurge": "25%", "maxUnavailable": "25%" }) {
                crate::builtin::path::remove(&mut value, "rollingUpdate");
            }
            let print = shown::go("apps.DeploymentStrategy", &value);
            let error = strategy.not_supported(&["Recreate", "RollingUpdate"]);
            errors.push(crate::schema::FieldError { value: Some(print), ..error });
        }
    }
}

fn rolling_update(rolling: &Field, errors: &mut Errors) {
    let [unavailable, surge] = ["maxUnavailable", "maxSurge"].map(|name| rolling.integer(name));
    number::amount(&unavailable, errors);
    number::amount(&surge, errors);
    if amount_of(&unavailable) == 0 && amount_of(&surge) == 0 {
        errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
    number::at_most_all(&unavailable, errors);
}
