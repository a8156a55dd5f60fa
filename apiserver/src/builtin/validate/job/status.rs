//! What a job reports, and which reports follow which.
//!
//! A report that contradicts itself is refused only where it changes what contradicts.

use std::collections::BTreeSet;

use super::{
    super::field::{Errors, Field},
    index,
    spec::is_indexed,
};

/// The status of `new`, compared with that of `old`.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let change = Change { new, old, status: new.child("status"), before: old.child("status") };
    counters(&change.status, errors);
    conditions(&change, errors);
    finished(&change, errors);
    indexes(&change, errors);
    rest(&change, errors);
    transitions(&change, errors);
}

struct Change<'a> {
    new: &'a Field<'a>,
    old: &'a Field<'a>,
    status: Field<'a>,
    before: Field<'a>,
}

impl Change<'_> {
    fn of(&self, field: &str) -> bool {
        self.status.child(field).value() != self.before.child(field).value()
    }

    fn of_condition(&self, ty: &str) -> bool {
        is_true(&self.status, ty) != is_true(&self.before, ty)
    }

    fn of_end(&self) -> bool {
        is_finished(&self.status) != is_finished(&self.before)
    }
}

fn is_condition(status: &Field, ty: &str, value: &str) -> bool {
    status.child("conditions").items().iter().any(|condition| {
        condition.string("type").text() == ty && condition.string("status").text() == value
    })
}

fn is_true(status: &Field, ty: &str) -> bool {
    is_condition(status, ty, "True")
}

fn is_finished(status: &Field) -> bool {
    is_true(status, "Complete") || is_true(status, "Failed")
}

fn counters(status: &Field, errors: &mut Errors) {
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        status.integer(field).is_not_negative(errors);
    }
    let pods = status.child("uncountedTerminatedPods");
    let mut known = BTreeSet::new();
    for pod in ["succeeded", "failed"].iter().flat_map(|list| pods.child(list).items()) {
        if pod.is_empty() {
            errors.push(pod.invalid("must not be empty"));
        } else if !known.insert(pod.text()) {
            errors.push(pod.duplicate());
        }
    }
}

/// A job has succeeded or failed, not both, and says when.
fn conditions(change: &Change, errors: &mut Errors) {
    let (status, conditions) = (&change.status, change.status.child("conditions"));
    let completed = is_true(status, "Complete");
    let changed = |ty| change.of_condition(ty);
    let mut refuse = |applies: bool, detail: &str| {
        if applies {
            errors.push(conditions.wrong(detail));
        }
    };
    refuse(
        (changed("Complete") || changed("Failed")) && completed && is_true(status, "Failed"),
        "cannot set Complete=True and Failed=true conditions",
    );
    refuse(
        (changed("Complete") || changed("FailureTarget"))
            && completed
            && is_true(status, "FailureTarget"),
        "cannot set Complete=True and FailureTarget=true conditions",
    );
    times(change, completed, errors);
    let mut refuse = |applies: bool, detail: &str| {
        if applies {
            errors.push(conditions.wrong(detail));
        }
    };
    refuse(
        (changed("Failed") || change.of("failedIndexes"))
            && is_true(status, "Failed")
            && !is_true(status, "FailureTarget"),
        "cannot set Failed=True condition without the FailureTarget=true condition",
    );
    refuse(
        (changed("Complete") || changed("SuccessCriteriaMet"))
            && completed
            && !is_true(status, "SuccessCriteriaMet"),
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    );
}

fn times(change: &Change, completed: bool, errors: &mut Errors) {
    let (start, end) = (change.status.child("startTime"), change.status.child("completionTime"));
    if change.of_condition("Complete") || change.of("completionTime") {
        match (end.is_given(), completed) {
            (true, false) => {
                let detail = "cannot set completionTime when there is no Complete=True condition";
                errors.push(end.invalid(detail));
            }
            (false, true) => {
                errors.push(end.required("completionTime is required for Complete jobs"));
            }
            _ => {}
        }
    }
    let changed = change.of("startTime") || change.of("completionTime");
    // Times of one form are in order as texts are.
    if changed && start.is_given() && end.is_given() && end.text() < start.text() {
        errors.push(end.invalid("must be equal to or after `startTime`"));
    }
}

/// A finished job has no pods left.
fn finished(change: &Change, errors: &mut Errors) {
    let status = &change.status;
    if !is_finished(status) {
        return;
    }
    let active = status.integer("active");
    if (change.of_end() || change.of("active")) && active.number() > 0 {
        errors.push(active.invalid("active>0 is invalid for finished job"));
    }
    let spec = change.new.child("spec");
    let never_ran = spec.child("suspend").flag()
        && spec.given("completions").is_some_and(|completions| completions.number() == 0);
    let start = status.child("startTime");
    if (change.of_end() || change.of("startTime")) && !never_ran && !start.is_given() {
        errors.push(start.required("startTime is required for finished job"));
    }
    let pods = status.child("uncountedTerminatedPods");
    let count = pods.child("failed").len() + pods.child("succeeded").len();
    if (change.of_end() || change.of("uncountedTerminatedPods")) && count > 0 {
        let print = super::super::shown::go("batch.UncountedTerminatedPods", pods.value());
        errors.push(pods.invalid_as(print, "must be empty for finished job"));
    }
}

fn indexes(change: &Change, errors: &mut Errors) {
    let (spec, status) = (change.new.child("spec"), &change.status);
    let (done, failed) = (status.string("completedIndexes"), status.child("failedIndexes"));
    let completions = spec.child("completions");
    let per_index = spec.given("backoffLimitPerIndex").is_some();
    let (done_changed, failed_changed) =
        (change.of("completedIndexes"), change.of("failedIndexes"));
    let parsed = |field: &Field, name: &str, errors: &mut Errors| {
        if let Err(why) = index::count(field.text(), completions.number()) {
            errors.push(field.invalid(format!("error parsing {name}: {why}")));
        }
    };
    if done_changed && completions.is_given() {
        parsed(&done, "completedIndexes", errors);
    }
    if failed_changed && completions.is_given() && per_index && failed.is_given() {
        parsed(&failed, "failedIndexes", errors);
    }
    if done_changed && !done.is_empty() && !is_indexed(&spec) {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(done.invalid(detail));
    }
    if failed_changed && !per_index && failed.is_given() {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(failed.invalid(detail));
    }
    if (done_changed || failed_changed)
        && completions.is_given()
        && failed.is_given()
        && let Some(both) = index::overlap(done.text(), failed.text(), completions.number())
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {both}");
        errors.push(failed.invalid(detail));
    }
}

fn rest(change: &Change, errors: &mut Errors) {
    let (status, conditions) = (&change.status, change.status.child("conditions"));
    let terminating = status.integer("terminating");
    let is_end = change.of_end() || change.of("terminating");
    if is_end && terminating.number() > 0 && is_finished(status) {
        errors.push(terminating.invalid("terminating>0 is invalid for finished job"));
    }
    let (ready, active) = (status.child("ready"), status.integer("active"));
    let changed = change.of("ready") || change.of("active");
    if changed && ready.is_given() && ready.number() > active.number() {
        errors.push(ready.invalid("cannot set more ready pods than active"));
    }
    let met = is_true(status, "SuccessCriteriaMet");
    let mut refuse = |applies: bool, detail: &str| {
        if applies {
            errors.push(conditions.wrong(detail));
        }
    };
    refuse(
        met && is_true(status, "Failed"),
        "cannot set SuccessCriteriaMet=True and Failed=true conditions",
    );
    refuse(
        met && is_true(status, "FailureTarget"),
        "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
    );
    refuse(
        change.new.child("spec").given("successPolicy").is_some()
            && !met
            && is_true(status, "Complete"),
        "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
    );
}

/// What was reported once stays so.
fn transitions(change: &Change, errors: &mut Errors) {
    let (status, before) = (&change.status, &change.before);
    let conditions = status.child("conditions");
    for ty in ["Failed", "Complete", "FailureTarget"] {
        if is_true(before, ty) && !is_true(status, ty) {
            let detail = format!("cannot disable the terminal {ty}=True condition");
            errors.push(conditions.wrong(detail));
        }
    }
    let spec = change.new.child("spec");
    let may_shrink =
        is_indexed(&spec) && spec.child("completions").value() == spec.child("parallelism").value();
    for (field, applies) in [("failed", true), ("succeeded", !may_shrink)] {
        let counter = status.integer(field);
        if applies && counter.number() < before.integer(field).number() {
            errors.push(counter.invalid(format!("cannot decrease the {field} counter")));
        }
    }
    let (end, start) = (status.child("completionTime"), status.child("startTime"));
    if end.is_given() && before.given("completionTime").is_some() && change.of("completionTime") {
        errors.push(end.invalid("field is immutable"));
    }
    let resumes = is_true(before, "Suspended") && is_condition(status, "Suspended", "False");
    let was_started = before.given("startTime").is_some() && change.of("startTime");
    if was_started && !resumes && !spec.child("suspend").flag() {
        errors.push(start.invalid("field is immutable for unsuspended job once set"));
    }
    let met = |status| is_true(status, "SuccessCriteriaMet");
    if met(before) && !met(status) {
        errors.push(conditions.wrong("cannot disable the SuccessCriteriaMet=True condition"));
    }
    let old = change.old.child("status");
    if is_true(&old, "Complete") && !met(&old) && met(status) {
        let detail =
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.push(conditions.wrong(detail));
    }
}
