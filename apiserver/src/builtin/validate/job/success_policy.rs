//! When an indexed job has succeeded although not all of its indexes have.

use super::{
    super::field::{Errors, Field},
    index,
};

/// The rules of the success policy of a job.
pub(super) fn check(spec: &Field, errors: &mut Errors) {
    let completions = spec.child("completions");
    let rules = spec.child("successPolicy").child("rules");
    let detail = "at least one rules must be specified when the successPolicy is specified";
    rules.is_required(detail, errors);
    if rules.len() > 20 {
        errors.push(rules.too_many(20));
    }
    for rule in rules.items() {
        one(&rule, completions.number(), errors);
    }
}

fn one(rule: &Field, completions: i64, errors: &mut Errors) {
    let (indexes, count) = (rule.child("succeededIndexes"), rule.child("succeededCount"));
    if !indexes.is_given() && !count.is_given() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(rule.required(detail));
    }
    let mut total = 0;
    if indexes.is_given() {
        if indexes.text().len() > 64 << 10 {
            errors.push(indexes.too_long(64 << 10));
        }
        match index::count(indexes.text(), completions) {
            Ok(found) => total = found,
            Err(why) => {
                errors.push(indexes.invalid(format!("error parsing succeededIndexes: {why}")));
            }
        }
    }
    if !count.is_given() {
        return;
    }
    count.is_not_negative(errors);
    if count.number() > completions {
        let detail = format!(
            "must be less than or equal to {completions} (the number of specified completions)"
        );
        errors.push(count.invalid(detail));
    }
    if indexes.is_given() && count.number() > total {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified \
             succeededIndexes field)"
        );
        errors.push(count.invalid(detail));
    }
}
