//! One error of one field, with the message of kube-apiserver.

use std::fmt;

use serde_json::Value;

use super::{FieldPath, go_value};

/// Why the value of a field was refused.
///
/// `Display` gives the line that kube-apiserver prints, for example
/// `spec.replicas: Invalid value: "x": must be an integer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Where, in the notation of kube-apiserver: `spec.containers[0].image`.
    pub path: String,
    /// What kind of error it is.
    pub kind: FieldErrorKind,
    /// The refused value as kube-apiserver prints it (already quoted); `None` where it prints none.
    pub value: Option<String>,
    /// The explanation after the value; may be empty.
    pub detail: String,
}

/// The kinds of error, with the `reason` that a `Status` carries in `details.causes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// A required field is absent.
    Required,
    /// A value is wrong.
    Invalid,
    /// A value has the wrong JSON type.
    TypeInvalid,
    /// A value is not one of those allowed.
    NotSupported,
    /// A value that must be unique occurs twice.
    Duplicate,
    /// A field must not be set or changed.
    Forbidden,
    /// A string is too long.
    TooLong,
    /// A list or map has too many elements.
    TooMany,
    /// What the field refers to does not exist.
    NotFound,
}

impl FieldErrorKind {
    /// The `reason` of a cause, for example `FieldValueRequired`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::NotFound => "FieldValueNotFound",
        }
    }

    /// Whether rules in CEL cannot be judged for a value with such an error.
    pub(crate) fn is_blocking(self) -> bool {
        matches!(
            self,
            Self::NotSupported | Self::Required | Self::TooLong | Self::TooMany | Self::TypeInvalid
        )
    }

    fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
        }
    }
}

impl FieldError {
    /// A required field is absent.
    pub fn required(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, path, None, detail)
    }

    /// The value is wrong.
    pub fn invalid(path: &FieldPath, value: &Value, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, path, Some(value), detail)
    }

    /// The value has the wrong JSON type.
    pub fn type_invalid(path: &FieldPath, value: &Value, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, path, Some(value), detail)
    }

    /// The value is none of `supported`.
    pub fn not_supported<'a>(
        path: &FieldPath,
        value: &Value,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let supported: Vec<_> = supported.into_iter().map(go_value::quote).collect();
        let detail = match supported.as_slice() {
            [] => String::new(),
            supported => format!("supported values: {}", supported.join(", ")),
        };
        Self::new(FieldErrorKind::NotSupported, path, Some(value), detail)
    }

    /// The value occurs twice where it must not.
    pub fn duplicate(path: &FieldPath, value: &Value) -> Self {
        Self::new(FieldErrorKind::Duplicate, path, Some(value), "")
    }

    /// The field must not be set, or not like this.
    pub fn forbidden(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, None, detail)
    }

    /// The value is longer than `limit`; the value itself is not shown.
    pub fn too_long(path: &FieldPath, limit: impl Into<i128>) -> Self {
        let detail = match limit.into() {
            1 => "may not be more than 1 byte".to_owned(),
            limit @ 0.. => format!("may not be more than {limit} bytes"),
            _ => "value is too long".to_owned(),
        };
        Self::new(FieldErrorKind::TooLong, path, None, detail)
    }

    /// There are `actual` elements and at most `limit` are allowed.
    pub fn too_many(path: &FieldPath, actual: usize, limit: impl Into<i128>) -> Self {
        let detail = match limit.into() {
            1 => "must have at most 1 item".to_owned(),
            limit @ 0.. => format!("must have at most {limit} items"),
            _ => "has too many items".to_owned(),
        };
        Self::new(FieldErrorKind::TooMany, path, Some(&actual.into()), detail)
    }

    fn new(
        kind: FieldErrorKind,
        path: &FieldPath,
        value: Option<&Value>,
        detail: impl Into<String>,
    ) -> Self {
        let value = value.map(go_value::print);
        Self { path: path.to_string(), kind, value, detail: detail.into() }
    }

    /// The message without the path, as `details.causes[].message` carries it.
    pub fn message(&self) -> String {
        let mut message = self.kind.title().to_owned();
        for part in [self.value.as_deref().unwrap_or_default(), &self.detail] {
            if !part.is_empty() {
                message.push_str(": ");
                message.push_str(part);
            }
        }
        message
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_kube_apiserver_prints_it() {
        let error = FieldError {
            path: "spec.serviceName".to_owned(),
            kind: FieldErrorKind::TypeInvalid,
            value: Some("\"integer\"".to_owned()),
            detail: "spec.serviceName in body must be of type string: \"integer\"".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "spec.serviceName: Invalid value: \"integer\": \
             spec.serviceName in body must be of type string: \"integer\""
        );
    }
}
