//! What is checked of the parameters of a log before the Pod is looked for.

use jiff::Timestamp;
use serde_json::json;

use crate::{
    query::Query,
    schema::{FieldError, FieldPath, go_value},
    status::StatusError,
};

/// Refuses parameters that are wrong for the log of any Pod; `name` is that of the Pod.
pub(super) fn check(query: &Query, name: &str) -> Result<(), StatusError> {
    let since = query.number("sinceSeconds")?;
    check_time(query.text("sinceTime").unwrap_or_default())?;
    let (lines, bytes) = (query.number("tailLines")?, query.number("limitBytes")?);
    let too_small = |field: &str, number: Option<i64>, least: i64, detail: &str| {
        let number = number.filter(|number| *number < least)?;
        Some(FieldError::invalid(&FieldPath::new(field), &json!(number), detail))
    };
    let last = if since.is_some() && query.text("sinceTime").is_some() {
        let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
        Some(FieldError::forbidden(&FieldPath::new("[]"), detail))
    } else {
        too_small("sinceSeconds", since, 1, "must be greater than 0")
    };
    let errors: Vec<FieldError> = [
        too_small("tailLines", lines, 0, "must be greater than or equal to 0"),
        too_small("limitBytes", bytes, 1, "must be greater than 0"),
        last,
    ]
    .into_iter()
    .flatten()
    .collect();
    if errors.is_empty() {
        return Ok(());
    }
    Err(StatusError::invalid("", "PodLogOptions", name, &errors))
}

/// Refuses what is no time, in the words of Go for a text that does not begin with a year.
fn check_time(text: &str) -> Result<(), StatusError> {
    if matches!(text, "" | "null") || text.parse::<Timestamp>().is_ok() {
        return Ok(());
    }
    let shown = go_value::quote(text);
    Err(StatusError::bad_request(format!(
        "parsing time {shown} as \"2006-01-02T15:04:05Z07:00\": cannot parse {shown} as \"2006\""
    )))
}
