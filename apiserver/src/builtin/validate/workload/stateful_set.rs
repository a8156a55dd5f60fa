//! Stateful sets: pods with names and claims of their own.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    super::{
        field::{Errors, Field},
        immutable, number, pod, selector, shown,
        volume::claim,
    },
    amount_of, required_selector, runs_forever, template_labels,
};
use crate::{builtin::path, schema::name_rule};

/// The specification of a new `StatefulSet`.
pub(in super::super) fn create(spec: &Field, errors: &mut Errors) {
    check(spec, Existing::No, errors);
}

/// Only a few fields may change.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    check(&new.child("spec"), Existing::Yes, errors);
    immutable::selector(new, old, errors);
    claims_are_kept(new, old, errors);
    immutable::text(new, old, "spec.serviceName", errors);
    immutable::text(new, old, "spec.podManagementPolicy", errors);
}

fn claims_are_kept(new: &Field, old: &Field, errors: &mut Errors) {
    let [after, before] = [new, old].map(|set| immutable::at(set, "spec.volumeClaimTemplates"));
    if path::list_of(after.value()) != path::list_of(before.value()) {
        // Go keeps no type of a claim.
        let print = |claim: &Field| {
            let mut claim = claim.value().clone();
            for field in ["kind", "apiVersion"] {
                path::remove(&mut claim, field);
            }
            shown::go("core.PersistentVolumeClaim", &claim)
        };
        let print = after.items().iter().map(print).collect::<Vec<_>>().join(",");
        errors.push(after.invalid_as(format!("[{print}]"), immutable::DETAIL));
    }
}

/// Of an existing set, what cannot change is not checked again.
#[derive(Clone, Copy, PartialEq)]
enum Existing {
    No,
    Yes,
}

fn check(spec: &Field, existing: Existing, errors: &mut Errors) {
    let policy = spec.string("podManagementPolicy");
    match policy.text() {
        "" => errors.push(policy.required("")),
        "OrderedReady" | "Parallel" => {}
        _ => errors.push(policy.invalid("must be 'OrderedReady' or 'Parallel'")),
    }
    strategy(&spec.child("updateStrategy"), errors);
    if let Some(policy) = spec.given("persistentVolumeClaimRetentionPolicy") {
        for field in ["whenDeleted", "whenScaled"] {
            policy.string(field).is_one_of(&["Retain", "Delete"], errors);
        }
    }
    if existing == Existing::No {
        for template in spec.child("volumeClaimTemplates").items() {
            claim::spec(&template.child("spec"), errors);
        }
    }
    for field in ["replicas", "minReadySeconds"] {
        spec.integer(field).is_not_negative(errors);
    }
    spec.child("ordinals").integer("start").is_not_negative(errors);
    if existing == Existing::No {
        spec.string("serviceName").follows_unless_empty(name_rule::dns_label, errors);
    }
    let empty = "empty selector is invalid for statefulset";
    if required_selector(spec, empty, "", errors) {
        template(spec, errors);
    }
    runs_forever(spec, "StatefulSet", errors);
}

/// The template as its pods will be: with a volume for each claim, and named by the controller.
fn template(spec: &Field, errors: &mut Errors) {
    if !spec.given("selector").is_some_and(|labels| selector::is_empty(labels.value())) {
        template_labels(spec, errors);
    }
    let completed = with_claims(spec.value());
    pod::template(&Field::new(&completed, &spec.at().child("template")), errors);
}

fn with_claims(spec: &Value) -> Value {
    let mut template = spec.get("template").cloned().unwrap_or_default();
    let claims = path::list(spec, "volumeClaimTemplates");
    let names: BTreeSet<&str> =
        claims.iter().map(|claim| path::text(claim, "metadata.name")).collect();
    let claimed = names
        .iter()
        .map(|name| json!({ "name": name, "persistentVolumeClaim": { "claimName": name } }));
    let others = path::list(&template, "spec.volumes").iter();
    let others = others.filter(|volume| !names.contains(path::text(volume, "name"))).cloned();
    let volumes: Vec<Value> = claimed.chain(others).collect();
    if !claims.is_empty() {
        path::set(&mut template, "spec.volumes", volumes);
    }
    path::remove(&mut template, "spec.hostname");
    path::remove(&mut template, "spec.subdomain");
    template
}

fn strategy(strategy: &Field, errors: &mut Errors) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.string("type").text() {
        "" => errors.push(strategy.required("")),
        "OnDelete" if rolling.is_given() => {
            let print = shown::go("apps.RollingUpdateStatefulSetStrategy", rolling.value());
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.push(rolling.invalid_as(print, detail));
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            rolling.integer("partition").is_not_negative(errors);
            if let Some(unavailable) = rolling.given("maxUnavailable") {
                number::amount(&unavailable, errors);
                if amount_of(&unavailable) == 0 {
                    errors.push(unavailable.invalid("cannot be 0"));
                }
                number::at_most_all(&unavailable, errors);
            }
        }
        _ => {
            let print = shown::go("apps.StatefulSetUpdateStrategy", strategy.value());
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.push(strategy.invalid_as(print, detail));
        }
    }
}
