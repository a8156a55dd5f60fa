//! The options of a deletion: from the body, or without one from the query, refused with everything that is wrong.

use serde_json::{Map, Value, json};

use super::{call::Call, decode};
use crate::{
    query::Query,
    schema::{FieldError, FieldPath},
    status::StatusError,
    write::{DeleteOptions, Propagation},
};

const POLICIES: [&str; 4] = ["Foreground", "Background", "Orphan", "nil"];

/// Whether only what the store cannot read is deleted.
const UNREADABLE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// The options of a request, and the status code of a deletion that finalizers hold.
pub(super) fn of(call: &Call<'_>) -> Result<DeleteOptions, StatusError> {
    let given = match decode::delete_options(call.content_type(), call.body)? {
        Some(given) => given,
        None => in_query(call.query)?,
    };
    let options = read(&given)?;
    Ok(DeleteOptions { admission: call.deletion(&given, options.dry_run), ..options })
}

/// The options that an object says.
pub(super) fn read(given: &Value) -> Result<DeleteOptions, StatusError> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (policy, orphan) = (&given["propagationPolicy"], given["orphanDependents"].as_bool());
    let stages = given["dryRun"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = policy_errors(policy, orphan.is_some());
    errors.extend(dry_run_error(stages));
    let only_unreadable = given[UNREADABLE] == true;
    if only_unreadable {
        errors.extend(unreadable_errors(given));
    }
    if !errors.is_empty() {
        return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &errors));
    }
    let policy = match (policy.as_str(), orphan) {
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Background"), _) | (_, Some(false)) => Some(Propagation::Background),
        (Some("Orphan"), _) | (_, Some(true)) => Some(Propagation::Orphan),
        _ => None,
    };
    Ok(DeleteOptions {
        uid: text(&given["preconditions"]["uid"]),
        resource_version: text(&given["preconditions"]["resourceVersion"]),
        propagation: policy,
        says_dependents_go: orphan == Some(false),
        grace: given["gracePeriodSeconds"].as_i64(),
        dry_run: !stages.is_empty(),
        only_unreadable,
        admission: None,
    })
}

/// The options that go with no deletion of what cannot be read.
fn unreadable_errors(given: &Value) -> impl Iterator<Item = FieldError> {
    let others = ["propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"];
    others.into_iter().filter(|name| !given[*name].is_null()).map(|name| {
        let detail = format!("cannot be set together with .{name}");
        FieldError::invalid(&FieldPath::new(UNREADABLE), &json!(true), detail)
    })
}

/// What is wrong with the stages of a dry run.
pub(super) fn dry_run_error(stages: &[Value]) -> Option<FieldError> {
    let is_wrong = stages.iter().any(|stage| stage != "All");
    is_wrong.then(|| {
        FieldError::not_supported(&FieldPath::new("dryRun"), &Value::from(stages), ["All"])
    })
}

/// The parameters of a request as the object that a body would be.
fn in_query(query: &Query) -> Result<Value, StatusError> {
    let mut given = Map::new();
    if let Some(seconds) = query.number("gracePeriodSeconds")? {
        given.insert("gracePeriodSeconds".to_owned(), json!(seconds));
    }
    if let Some(orphan) = query.choice("orphanDependents") {
        given.insert("orphanDependents".to_owned(), json!(orphan));
    }
    if let Some(unreadable) = query.choice(UNREADABLE) {
        given.insert(UNREADABLE.to_owned(), json!(unreadable));
    }
    if let Some(policy) = query.texts("propagationPolicy").first() {
        given.insert("propagationPolicy".to_owned(), json!(policy));
    }
    let stages = query.texts("dryRun");
    if !stages.is_empty() {
        given.insert("dryRun".to_owned(), json!(stages));
    }
    let conditions = ["uid", "resourceVersion"].into_iter();
    let conditions: Map<String, Value> =
        conditions.filter_map(|name| Some((name.to_owned(), json!(query.text(name)?)))).collect();
    if !conditions.is_empty() {
        given.insert("preconditions".to_owned(), Value::Object(conditions));
    }
    Ok(Value::Object(given))
}

fn policy_errors(policy: &Value, says_orphan: bool) -> Vec<FieldError> {
    let Some(name) = policy.as_str() else { return Vec::new() };
    let path = FieldPath::new("propagationPolicy");
    let mut errors = Vec::new();
    if says_orphan {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(FieldError::invalid(&path, policy, detail));
    }
    if !POLICIES[..3].contains(&name) {
        errors.push(FieldError::not_supported(&path, policy, POLICIES));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_the_same_as_a_body() {
        let query = "gracePeriodSeconds=5&orphanDependents=&dryRun=All&dryRun=All&uid=x&uid=y\
                     &propagationPolicy=";
        assert_eq!(
            in_query(&Query::parse(query)).unwrap(),
            json!({
                "gracePeriodSeconds": 5,
                "orphanDependents": true,
                "propagationPolicy": "",
                "dryRun": ["All", "All"],
                "preconditions": { "uid": "x" },
            })
        );
        assert!(in_query(&Query::parse("gracePeriodSeconds=")).is_err());
    }

    #[test]
    fn all_that_is_wrong_is_said() {
        let given =
            json!({ "propagationPolicy": "x", "orphanDependents": true, "dryRun": ["", "y"] });
        let said = read(&given).unwrap_err().message;
        assert_eq!(
            said,
            "DeleteOptions.meta.k8s.io \"\" is invalid: [propagationPolicy: Invalid value: \"x\": \
             orphanDependents and deletionPropagation cannot be both set, propagationPolicy: \
             Unsupported value: \"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \
             \"nil\", dryRun: Unsupported value: [\"\",\"y\"]: supported values: \"All\"]"
        );
        assert_eq!(read(&json!({ "propagationPolicy": null })).unwrap().propagation, None);
    }
}
