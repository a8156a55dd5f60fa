//! The options of a write, refused with everything that is wrong with them.

use serde_json::{Value, json};

use super::{
    call::{Call, Verb},
    decode,
    delete_options::dry_run_error,
};
use crate::{
    query::Query,
    schema::{FieldError, FieldErrorKind, FieldPath},
    status::StatusError,
    write::{FieldValidation, WriteOptions},
};

/// The longest manager name that is kept.
const MANAGER_LIMIT: usize = 128;
/// The values of `fieldValidation`.
const VALIDATIONS: [&str; 4] = ["", "Ignore", "Strict", "Warn"];

impl Call<'_> {
    /// The options of a write.
    pub(super) fn write_options(&self) -> Result<WriteOptions, StatusError> {
        let manager = self.query.text("fieldManager").unwrap_or_default();
        let of_patch = (self.verb == Verb::Patch).then(|| self.patch_option_error(manager));
        let validation = checked(self.query, self.options_kind(), of_patch.flatten())?;
        Ok(WriteOptions {
            manager: match manager {
                "" => manager_of(self.user_agent()),
                given => given.to_owned(),
            },
            dry_run: self.query.text("dryRun").is_some(),
            validation,
            admission: self.admission(),
        })
    }

    fn patch_option_error(&self, manager: &str) -> Option<FieldError> {
        let is_apply = decode::media_type(self.content_type()) == "application/apply-patch+yaml";
        if is_apply && manager.is_empty() {
            let path = FieldPath::new("fieldManager");
            return Some(FieldError::required(&path, "is required for apply patch"));
        }
        let forbidden = !is_apply && self.query.choice("force").is_some();
        forbidden.then(|| FieldError {
            path: "force".to_owned(),
            kind: FieldErrorKind::Forbidden,
            value: None,
            detail: "may not be specified for non-apply patch".to_owned(),
        })
    }

    fn options_kind(&self) -> &'static str {
        match self.verb {
            Verb::Create => "CreateOptions",
            Verb::Update => "UpdateOptions",
            _ => "PatchOptions",
        }
    }
}

/// How the body of a write is validated, unless an option is wrong; `first` is what is said before the others.
pub(super) fn checked(
    query: &Query,
    kind: &str,
    first: Option<FieldError>,
) -> Result<FieldValidation, StatusError> {
    let text = |name| query.text(name).unwrap_or_default();
    let validation = text("fieldValidation");
    let mut errors: Vec<FieldError> = first.into_iter().collect();
    errors.extend(manager_errors(text("fieldManager")));
    let stages: Vec<Value> = query.texts("dryRun").into_iter().map(Value::from).collect();
    errors.extend(dry_run_error(&stages));
    if !VALIDATIONS.contains(&validation) {
        let path = FieldPath::new("fieldValidation");
        errors.push(FieldError::not_supported(&path, &json!(validation), VALIDATIONS));
    }
    match validation {
        _ if !errors.is_empty() => Err(StatusError::invalid("meta.k8s.io", kind, "", &errors)),
        "Ignore" => Ok(FieldValidation::Ignore),
        "Strict" => Ok(FieldValidation::Strict),
        _ => Ok(FieldValidation::Warn),
    }
}

fn manager_errors(manager: &str) -> Vec<FieldError> {
    let path = FieldPath::new("fieldManager");
    let mut errors = Vec::new();
    if manager.len() > MANAGER_LIMIT {
        let detail = format!("may not be more than {MANAGER_LIMIT} bytes");
        let (path, kind) = ("fieldManager".to_owned(), FieldErrorKind::TooLong);
        errors.push(FieldError { path, kind, value: None, detail });
    }
    let unprintable = manager.char_indices().filter(|(_, c)| !is_printable(*c));
    errors.extend(unprintable.map(|(at, c)| {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
        FieldError::invalid(&path, &Value::from(manager), detail)
    }));
    errors
}

/// As Go understands it; of all spaces only the common one is.
fn is_printable(c: char) -> bool {
    // A combining mark is printable behind a letter.
    let text = format!("x{c}");
    matches!(c, '"' | '\'' | '\\') || text.escape_debug().eq(text.chars())
}

/// The default field manager of a client: the beginning of its user agent.
fn manager_of(user_agent: &str) -> String {
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut kept: String = name.chars().filter(|c| is_printable(*c)).collect();
    while kept.len() > MANAGER_LIMIT {
        kept.pop();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_no_manager_is_known_by_its_user_agent() {
        assert_eq!(manager_of("kubectl/v1.37.2 (linux/amd64)"), "kubectl");
        assert_eq!(manager_of(&"x".repeat(200)).len(), MANAGER_LIMIT);
    }

    #[test]
    fn managers_are_printable() {
        for good in ["op", "é e\u{301}", "a\"b\\c'd"] {
            assert_eq!(manager_errors(good), [], "{good:?}");
        }
        let errors = manager_errors("a\u{1}b\u{a0}");
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[0],
            "fieldManager: Invalid value: \"a\\x01b\\u00a0\": invalid character U+0001 (at position 1)"
        );
        assert_eq!(lines.len(), 2);
    }
}
