//! The specification of a job.

use serde_json::json;

use super::{
    super::{
        field::{Errors, Field},
        name, pod, selector, shown,
    },
    failure_policy, success_policy,
};
use crate::schema::{FieldError, FieldPath, name_rule};

/// What an indexed job may have at most.
const MOST_INDEXES: i64 = 100_000;
const MOST_OF_MANY: i64 = 10_000;

/// A Job: unless it says that it has a selector of its own, it has the generated one.
pub(in super::super) fn job(job: &Field, errors: &mut Errors) {
    generated_selector(job, errors);
    let spec = job.child("spec");
    self::spec(&spec, errors);
    selected(&spec, errors);
    name_allows_completions(job, errors);
}

/// The last pod of an indexed job has a valid name.
pub(super) fn name_allows_completions(job: &Field, errors: &mut Errors) {
    let spec = job.child("spec");
    let completions = spec.child("completions");
    if is_indexed(&spec) && completions.number() > 0 {
        let name = job.child("metadata").string("name");
        let host = format!("{}-{}", name.text(), completions.number() - 1);
        if !name_rule::dns_label(&host, false).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            errors.push(name.invalid(detail));
        }
    }
}

/// The selector of a job, and its template.
pub(super) fn selected(spec: &Field, errors: &mut Errors) {
    let wanted = spec.child("selector");
    let before = errors.len();
    if wanted.is_given() {
        selector::check(&wanted, errors);
    } else {
        errors.push(wanted.required(""));
    }
    let labels = spec.child("template").child("metadata").child("labels");
    let none = serde_json::Map::new();
    let given = labels.value().as_object().unwrap_or(&none);
    let matches = wanted.is_given() && selector::matches(wanted.value(), given);
    let is_right = errors.len() == before || !wanted.is_given();
    if is_right && !matches {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
}

pub(super) fn is_indexed(spec: &Field) -> bool {
    spec.string("completionMode").text() == "Indexed"
}

/// The labels that only this job has.
fn generated_selector(job: &Field, errors: &mut Errors) {
    let spec = job.child("spec");
    let wanted = spec.child("selector");
    if spec.child("manualSelector").flag() || !wanted.is_given() {
        return;
    }
    let metadata = job.child("metadata");
    let (uid, name) = (metadata.string("uid").text(), metadata.string("name").text());
    let expected = [
        ("controller-uid", uid),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
    ];
    let labels = spec.child("template").child("metadata").child("labels");
    for (key, value) in expected {
        let label = labels.child(key);
        let at = labels.at().key(key);
        let detail = format!("must be '{value}'");
        if !label.is_given() {
            errors.push(FieldError::required(&at, detail));
        } else if label.text() != value {
            errors.push(FieldError::invalid(&at, labels.value(), detail));
        }
    }
    let known = json!({
        "controller-uid": uid, "job-name": name,
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
    });
    let known = known.as_object().cloned().unwrap_or_default();
    if is_selector(wanted.value()) && !selector::matches(wanted.value(), &known) {
        let shown = selector::print(wanted.value());
        errors.push(wanted.invalid_as(shown, "`selector` not auto-generated"));
    }
}

fn is_selector(value: &serde_json::Value) -> bool {
    let mut errors = Errors::new();
    selector::check(&Field::new(value, &FieldPath::root()), &mut errors);
    errors.is_empty()
}

/// The specification of a job, also in the template of a cron job.
pub(super) fn spec(spec: &Field, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        spec.integer(field).is_not_negative(errors);
        let per_index = spec.child("backoffLimitPerIndex");
        if field == "maxFailedIndexes" && spec.given(field).is_some() && !per_index.is_given() {
            errors.push(per_index.required("when maxFailedIndexes is specified"));
        }
    }
    if let Some(manager) = spec.given("managedBy") {
        name::domain_prefixed(&manager, errors);
        if manager.text().len() > 63 {
            errors.push(manager.too_long(63));
        }
    }
    completion_mode(spec, errors);
    if spec.given("podFailurePolicy").is_some() {
        failure_policy::check(spec, errors);
    }
    if let Some(policy) = spec.given("successPolicy") {
        if is_indexed(spec) {
            success_policy::check(spec, errors);
        } else {
            let print = shown::go("batch.SuccessPolicy", policy.value());
            errors.push(policy.invalid_as(print, "requires indexed completion mode"));
        }
    }
    replacement(spec, errors);
    pod::template(&spec.child("template"), errors);
    restart(spec, errors);
}

fn completion_mode(spec: &Field, errors: &mut Errors) {
    let mode = spec.child("completionMode");
    if mode.is_given() {
        mode.is_one_of(&["NonIndexed", "Indexed"], errors);
    }
    if mode.text() == "Indexed" {
        indexed(spec, errors);
    }
    if !mode.is_given() || mode.text() == "NonIndexed" {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(given) = spec.given(field) {
                errors.push(given.invalid("requires indexed completion mode"));
            }
        }
    }
}

fn indexed(spec: &Field, errors: &mut Errors) {
    let [completions, parallelism, failed] =
        ["completions", "parallelism", "maxFailedIndexes"].map(|name| spec.child(name));
    completions.is_required("when completion mode is Indexed", errors);
    let at_most = |field: &Field, most: i64, when: &str, errors: &mut Errors| {
        if field.number() > most {
            errors.push(field.invalid(format!("must be less than or equal to {most}{when}")));
        }
    };
    at_most(&parallelism, MOST_INDEXES, " when completion mode is Indexed", errors);
    if completions.is_given() && failed.is_given() && failed.number() > completions.number() {
        errors.push(failed.invalid("must be less than or equal to completions"));
    }
    at_most(&failed, MOST_INDEXES, "", errors);
    let is_many = completions.number() > MOST_INDEXES;
    if is_many && spec.given("backoffLimitPerIndex").is_some() {
        let detail = format!("must be specified when completions is above {MOST_INDEXES}");
        failed.is_required(&detail, errors);
        let when = format!(
            " when completions are above {MOST_INDEXES} and used with backoff limit per index"
        );
        at_most(&parallelism, MOST_OF_MANY, &when, errors);
        at_most(&failed, MOST_OF_MANY, &when, errors);
    }
}

/// When a pod is replaced.
fn replacement(spec: &Field, errors: &mut Errors) {
    let Some(policy) = spec.given("podReplacementPolicy") else { return };
    if spec.given("podFailurePolicy").is_some() {
        policy.is_one_of(&["Failed"], errors);
    } else {
        policy.is_one_of(&["Failed", "TerminatingOrFailed"], errors);
    }
}

/// The pods of a job end.
fn restart(spec: &Field, errors: &mut Errors) {
    let policy = spec.child("template").child("spec").string("restartPolicy");
    match policy.text() {
        "" | "Always" => {
            errors.push(policy.required(r#"valid values: "OnFailure", "Never""#));
        }
        "OnFailure" if spec.given("podFailurePolicy").is_some() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(policy.invalid(detail));
        }
        "OnFailure" | "Never" => {}
        _ => errors.push(policy.not_supported(&["OnFailure", "Never"])),
    }
}
