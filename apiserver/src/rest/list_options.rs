//! What is checked of the parameters of a list, a watch, or a deletion of a collection, before anything is read.

use serde_json::json;

use super::{
    call::{Call, Verb},
    fields::Fields,
    selection,
};
use crate::{
    query::Query,
    schema::{FieldError, FieldPath},
    selector::FieldSelector,
    status::StatusError,
};

/// How a version is matched by a list; the empty word is among them.
const MATCHES: [&str; 3] = ["Exact", "NotOlderThan", ""];

/// Refuses parameters in the order in which they are read: numbers, selectors, their combination, fields, shard.
pub(super) fn check(call: &Call<'_>) -> Result<(), StatusError> {
    let fields = selected_fields(call.query)?;
    Fields::of(call.resource, fields.clone())?;
    check_name(call, &fields)?;
    // A deletion reads its own options before it lists.
    let reads_now = call.verb != Verb::DeleteCollection;
    if reads_now { selection::shard(call.query).map(drop) } else { Ok(()) }
}

/// The same for a list of any type; whether the type supports the fields is asked afterwards.
pub(super) fn selected_fields(query: &Query) -> Result<FieldSelector, StatusError> {
    query.check_numbers(&["timeoutSeconds", "limit"])?;
    let (_, fields) = selection::selectors(query)?;
    let errors = if query.flag("watch") { watch_errors(query) } else { list_errors(query) };
    if errors.is_empty() {
        return Ok(fields);
    }
    Err(StatusError::invalid("meta.k8s.io", "ListOptions", "", &errors))
}

/// The path of a watch may name the only object that it is about.
fn check_name(call: &Call<'_>, fields: &FieldSelector) -> Result<(), StatusError> {
    let name = call.path.name.as_deref();
    if name.is_none() || fields.is_empty() || fields.exact("metadata.name") == name {
        return Ok(());
    }
    let message = "fieldSelector metadata.name doesn't match requested name";
    Err(StatusError::bad_request(message))
}

fn list_errors(query: &Query) -> Vec<FieldError> {
    let path = FieldPath::new("resourceVersionMatch");
    let forbidden = |detail: &str| FieldError::forbidden(&path, detail);
    let mut errors = Vec::new();
    if let Some(given) = query.text("resourceVersionMatch") {
        let version = query.text("resourceVersion");
        if version.is_none() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if query.text("continue").is_some() {
            errors.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
        }
        if !MATCHES.contains(&given) {
            errors.push(FieldError::not_supported(&path, &json!(given), MATCHES));
        }
        if (given, version) == ("Exact", Some("0")) {
            let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(forbidden(detail));
        }
    }
    if query.choice("sendInitialEvents").is_some() {
        let path = FieldPath::new("sendInitialEvents");
        errors.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
    }
    errors
}

fn watch_errors(query: &Query) -> Vec<FieldError> {
    const ONLY: &str = "NotOlderThan";
    let path = FieldPath::new("resourceVersionMatch");
    let forbidden = |detail: &str| FieldError::forbidden(&path, detail);
    let given = query.text("resourceVersionMatch");
    let says_initial = query.choice("sendInitialEvents").is_some();
    let is_from_start = matches!(query.text("resourceVersion"), None | Some("0"));
    // A watch from the start is one with initial events.
    let implied = (!says_initial && given.is_none() && is_from_start).then_some(ONLY);
    let mut errors = Vec::new();
    if says_initial && given != Some(ONLY) {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(forbidden(detail));
    }
    if let Some(given) = given.or(implied) {
        if !says_initial && implied.is_none() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if given != ONLY {
            errors.push(FieldError::not_supported(&path, &json!(given), [ONLY]));
        }
        if query.text("continue").is_some() {
            errors.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_the_order_of_the_real_server() {
        let said = |errors: fn(&Query) -> Vec<FieldError>, query: &str| {
            let errors = errors(&Query::parse(query));
            errors.iter().map(|it| format!("{}: {}", it.path, it.message())).collect::<Vec<_>>()
        };
        assert_eq!(said(list_errors, "limit=1&resourceVersion=0"), [""; 0]);
        assert_eq!(
            said(list_errors, "resourceVersionMatch=x&continue=y&sendInitialEvents="),
            [
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
                "resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            ]
        );
        assert_eq!(
            said(watch_errors, "continue=y"),
            [
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"
            ]
        );
        assert_eq!(said(watch_errors, "continue=y&resourceVersion=7"), [""; 0]);
        assert_eq!(
            said(watch_errors, "sendInitialEvents=true&resourceVersionMatch=Exact"),
            [
                "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"",
            ]
        );
    }
}
