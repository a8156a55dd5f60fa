//! Validates the printer columns of a definition.
//!
//! Of a path only its beginning is looked at, as on the real server: a table leaves out the columns whose paths it cannot
//! parse.

use serde_json::{Value, json};

use super::form::Part;
use crate::schema::{FieldError, FieldPath};

const TYPES: &str = "must be one of boolean,date,integer,number,string";
const FORMATS: &str = "must be one of byte,date,date-time,double,float,int32,int64,password";

/// The errors of columns.
pub(super) fn errors(columns: &Part<'_>) -> Vec<FieldError> {
    let numbered = columns.value.as_array().into_iter().flatten().enumerate();
    numbered.flat_map(|(at, column)| of_column(column, &columns.path.index(at))).collect()
}

fn of_column(column: &Value, path: &FieldPath) -> Vec<FieldError> {
    let text = |field: &str| column[field].as_str().unwrap_or_default();
    let (kind, format, json_path) = (text("type"), text("format"), text("jsonPath"));
    let invalid = |field: &str, given: &str, detail: &str| {
        Some(FieldError::invalid(&path.child(field), &json!(given), detail))
    };
    let required =
        |field: &str, detail: &str| Some(FieldError::required(&path.child(field), detail));
    let is_listed = |list: &str, given: &str| {
        list.rsplit(' ').next().is_some_and(|names| names.split(',').any(|name| name == given))
    };
    let name = if text("name").is_empty() { required("name", "") } else { None };
    let kind = match kind {
        "" => required("type", TYPES),
        _ if is_listed(TYPES, kind) => None,
        _ => invalid("type", kind, TYPES),
    };
    let format = match format {
        "" => None,
        _ if is_listed(FORMATS, format) => None,
        _ => invalid("format", format, FORMATS),
    };
    let json_path = match json_path {
        "" => required("JSONPath", ""),
        _ if json_path.starts_with('.') => None,
        _ => invalid("JSONPath", json_path, "must be a simple json path starting with ."),
    };
    [name, kind, format, json_path].into_iter().flatten().collect()
}
