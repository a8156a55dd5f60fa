//! The errors of JSON Schema with the messages of kube-apiserver.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind, paths::Location};
use serde_json::Value;

use super::{combine, factor, number, pattern, translate, walk::step};
use crate::schema::{FieldError, FieldPath, go_value};

/// The errors of a value at `base`, found by a schema compiled from `root`.
pub(super) fn field_errors(
    errors: &[ValidationError<'_>],
    root: &Value,
    base: &FieldPath,
) -> Vec<FieldError> {
    let mut wording = Wording { root, base, errors: Vec::new() };
    wording.all(errors, "");
    wording.errors
}

/// Translates errors into messages without repetition.
struct Wording<'a> {
    root: &'a Value,
    base: &'a FieldPath,
    errors: Vec<FieldError>,
}

impl Wording<'_> {
    /// Translates all errors of the schema at `above`, and the failed `allOf` below it.
    fn all(&mut self, errors: &[ValidationError<'_>], above: &str) {
        let mut errors: Vec<_> = errors.iter().filter(|error| is_judged(error)).collect();
        for bounds in errors.chunk_by_mut(|one, next| are_bounds_of_one(one, next)) {
            bounds.sort_by_key(|error| bound_rank(error.kind()));
        }
        for error in &errors {
            self.one(error);
        }
        for (path, none) in combine::failed_all_ofs(self.root, &errors, above) {
            let none = if none { ". None validated" } else { "" };
            self.plain(format!(
                "{} must validate all the schemas (allOf){none}",
                go_value::quote(&path)
            ));
        }
    }

    /// An error that kube-apiserver attributes to no field.
    fn plain(&mut self, detail: String) {
        self.push(FieldError::invalid(self.base, &Value::from(""), detail));
    }

    fn push(&mut self, error: FieldError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn one(&mut self, error: &ValidationError<'_>) {
        let name = path_of(error.instance_path());
        let path = if name.is_empty() { self.base.clone() } else { self.base.child(&name) };
        let value = error.instance();
        match error.kind() {
            Kind::Type { .. } => self.wrong_type(error, &name, &path),
            Kind::Required { property } => {
                let property = property.as_str().unwrap_or_default();
                self.push(FieldError::required(&path.child(property), ""));
            }
            Kind::Enum { options } => self.push(unsupported(&path, value, options)),
            Kind::Format { format } => {
                let value_text = go_value::print(value);
                let detail = format!("{name} in body must be of type {format}: {value_text}");
                self.push(FieldError::type_invalid(&path, value, detail));
            }
            Kind::MaxLength { limit } => self.push(FieldError::too_long(&path, *limit)),
            Kind::MaxItems { limit } | Kind::MaxProperties { limit } => {
                self.push(FieldError::too_many(&path, count(value), *limit));
            }
            Kind::Custom { message, .. } if message == pattern::KEYWORD => {
                let pattern = self.root.pointer(error.schema_path().as_str());
                let pattern = pattern.and_then(Value::as_str).unwrap_or_default();
                let detail = format!("{name} in body should match '{pattern}'");
                self.push(FieldError::invalid(&path, value, detail));
            }
            Kind::Custom { message, .. } if message == factor::KEYWORD => {
                self.not_multiple(error, &name, &path);
            }
            Kind::Custom { message, .. } => self.number(error, message, &name, &path),
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } | Kind::OneOfMultipleValid { .. } => {
                self.combined(error, &name);
            }
            Kind::Not { .. } => {
                let name = go_value::quote(&name);
                self.plain(format!("{name} must not validate the schema (not)"));
            }
            kind => {
                let (value, rule) = rule_of(kind, value);
                let detail = format!("{name} in body {rule}");
                self.push(FieldError::invalid(&path, &value, detail));
            }
        }
    }

    /// The error of `anyOf` or `oneOf`, and the errors of the reported branch.
    fn combined(&mut self, error: &ValidationError<'_>, name: &str) {
        self.plain(combine::sentence(error.kind(), name));
        if let Some(branch) = combine::best_branch(self.root, error) {
            self.all(branch, error.schema_path().as_str());
        }
    }

    /// With a format the error is about the format, and lists pass for strings.
    fn wrong_type(&mut self, error: &ValidationError<'_>, name: &str, path: &FieldPath) {
        let value = error.instance();
        let node = self.node_of(error);
        let expected = translate::type_names(node);
        let format = node.get("format").and_then(Value::as_str);
        let (expected, actual) = match (format, value.as_ref()) {
            (Some(_), Value::Array(_)) if expected == "string" => return,
            (Some(format), Value::Number(number)) => {
                (format.to_owned(), if number.is_i64() { "int64" } else { "float64" })
            }
            (Some(format), Value::Bool(_) | Value::Object(_)) => (format.to_owned(), ""),
            _ => (expected, type_of(value)),
        };
        let actual = Value::from(actual);
        let shown = go_value::print(&actual);
        let detail = format!("{name} in body must be of type {expected}: {shown}");
        self.push(FieldError::type_invalid(path, &actual, detail));
    }

    fn not_multiple(&mut self, error: &ValidationError<'_>, name: &str, path: &FieldPath) {
        let value = error.instance();
        let declared = self.root.pointer(error.schema_path().as_str()).and_then(Value::as_f64);
        let factor = factor::for_number(declared.unwrap_or_default(), value);
        let shown = go_value::print_float(factor);
        let error = if factor > 0.0 {
            let detail = format!("{name} in body should be a multiple of {shown}");
            FieldError::invalid(path, value, detail)
        } else {
            let detail = format!("factor MultipleOf declared for {name} must be positive: {shown}");
            FieldError::invalid(path, &Value::from(factor), detail)
        };
        self.push(error);
    }

    fn number(&mut self, error: &ValidationError<'_>, rule: &str, name: &str, path: &FieldPath) {
        if rule != number::OUT_OF_RANGE {
            self.wrong_type(error, name, path);
        }
        let node = self.node_of(error);
        let ty = translate::type_names(node);
        let is_single = !ty.contains(',');
        if rule != number::NOT_AN_INTEGER && is_single {
            let format = match node["format"].as_str() {
                Some(format) => format!("with format {format}"),
                None => "(default format)".to_owned(),
            };
            self.plain(format!("Checked value must be of type {ty} {format} in {name}"));
        }
    }

    /// The schema of an error.
    fn node_of(&self, error: &ValidationError<'_>) -> &Value {
        let keyword = error.schema_path().as_str();
        let node = keyword.rsplit_once('/').map_or("", |(node, _)| node);
        self.root.pointer(node).unwrap_or(&Value::Null)
    }
}

/// For a `null` only type and enum are validated.
fn is_judged(error: &ValidationError<'_>) -> bool {
    !error.instance().is_null() || matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. })
}

/// Whether both are about the bounds of one number.
fn are_bounds_of_one(one: &ValidationError<'_>, next: &ValidationError<'_>) -> bool {
    let are_bounds = [one, next].iter().all(|error| bound_rank(error.kind()).is_some());
    are_bounds && one.instance_path() == next.instance_path()
}

/// kube-apiserver tests the bounds of a number in this order.
fn bound_rank(kind: &Kind) -> Option<u8> {
    match kind {
        Kind::Custom { message, .. } if message == factor::KEYWORD => Some(0),
        Kind::Maximum { .. } | Kind::ExclusiveMaximum { .. } => Some(1),
        Kind::Minimum { .. } | Kind::ExclusiveMinimum { .. } => Some(2),
        _ => None,
    }
}

/// `spec.ports[0].name`
fn path_of(location: &Location) -> String {
    location.segments().fold(FieldPath::default(), |path, segment| step(&path, &segment)).to_plain()
}

fn unsupported(path: &FieldPath, value: &Value, options: &Value) -> FieldError {
    let options: Vec<_> = options.as_array().into_iter().flatten().map(go_value::bare).collect();
    FieldError::not_supported(path, value, options.iter().map(String::as_str))
}

/// The value that is shown and what it should have been.
fn rule_of(kind: &Kind, value: &Value) -> (Value, String) {
    let limit = |limit: &Value| limit_text(limit, value);
    let rule = match kind {
        Kind::Minimum { limit: l } => format!("should be greater than or equal to {}", limit(l)),
        Kind::Maximum { limit: l } => format!("should be less than or equal to {}", limit(l)),
        Kind::ExclusiveMinimum { limit: l } => format!("should be greater than {}", limit(l)),
        Kind::ExclusiveMaximum { limit: l } => format!("should be less than {}", limit(l)),
        Kind::MinLength { limit } => format!("should be at least {limit} chars long"),
        Kind::MinItems { limit } => {
            return (count(value).into(), format!("should have at least {limit} items"));
        }
        Kind::MinProperties { limit } => {
            return (count(value).into(), format!("should have at least {limit} properties"));
        }
        Kind::UniqueItems => return (Value::from(""), "shouldn't contain duplicates".to_owned()),
        other => format!("does not satisfy {}", other.keyword()),
    };
    (value.clone(), rule)
}

/// A limit on an integer is printed as an integer.
fn limit_text(limit: &Value, value: &Value) -> String {
    match limit.as_f64().filter(|_| value.is_i64()) {
        Some(limit) => go_value::print_float(limit.trunc()),
        None => go_value::print(limit),
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
