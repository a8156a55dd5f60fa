//! The parameters of a request, by name.

use crate::{
    schema::{FieldError, FieldErrorKind},
    status::StatusError,
    write::{FieldValidation, WriteOptions},
};

/// The longest manager name that is kept.
const MANAGER_LIMIT: usize = 128;

/// The parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query string.
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The value of a parameter, unless it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty())
    }

    /// Whether a switch is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.choice(name).unwrap_or_default()
    }

    /// Whether a switch is on or off, if it is given.
    pub(super) fn choice(&self, name: &str) -> Option<bool> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, v)| !matches!(v.as_str(), "false" | "0"))
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, StatusError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let wrong = |_| StatusError::bad_request(format!("invalid {name}: {text:?}"));
        text.parse().map(Some).map_err(wrong)
    }

    /// A resource version; zero is a version here.
    pub(super) fn resource_version(&self) -> Result<Option<u64>, StatusError> {
        let Some(text) = self.text("resourceVersion") else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            StatusError::bad_request(format!(
                "invalid resource version: resourceVersion: Invalid value: \"{text}\": \
                 strconv.ParseUint: parsing \"{text}\": invalid syntax"
            ))
        })
    }

    /// The options of a write.
    pub(super) fn write_options(&self, user_agent: &str) -> Result<WriteOptions, StatusError> {
        Ok(WriteOptions {
            manager: self.manager(user_agent)?,
            dry_run: self.dry_run()?,
            validation: self.field_validation()?,
            patched: false,
        })
    }

    fn manager(&self, user_agent: &str) -> Result<String, StatusError> {
        match self.text("fieldManager") {
            Some(manager) if manager.len() > MANAGER_LIMIT => {
                let detail = format!("may not be more than {MANAGER_LIMIT} bytes");
                Err(invalid_option("fieldManager", FieldErrorKind::TooLong, None, detail))
            }
            Some(manager) => Ok(manager.to_owned()),
            None => Ok(manager_of(user_agent)),
        }
    }

    /// Whether it is a dry run.
    pub(super) fn dry_run(&self) -> Result<bool, StatusError> {
        match self.text("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => {
                let value = Some(format!("\"{other}\""));
                let detail = "supported values: \"All\"".to_owned();
                Err(invalid_option("dryRun", FieldErrorKind::NotSupported, value, detail))
            }
        }
    }

    fn field_validation(&self) -> Result<FieldValidation, StatusError> {
        match self.text("fieldValidation") {
            None | Some("Warn") => Ok(FieldValidation::Warn),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some(other) => {
                let value = Some(format!("\"{other}\""));
                let detail = "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"".to_owned();
                Err(invalid_option("fieldValidation", FieldErrorKind::NotSupported, value, detail))
            }
        }
    }
}

/// The default field manager of a client: the beginning of its user agent.
fn manager_of(user_agent: &str) -> String {
    let name = user_agent.split('/').next().unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(MANAGER_LIMIT).collect()
}

fn invalid_option(
    field: &str,
    kind: FieldErrorKind,
    value: Option<String>,
    detail: String,
) -> StatusError {
    let error = FieldError { path: field.to_owned(), kind, value, detail };
    StatusError::invalid("meta.k8s.io", "PatchOptions", "", &[error])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_no_manager_is_known_by_its_user_agent() {
        let options = Query::parse("").write_options("kubectl/v1.36.2 (linux/amd64)").unwrap();
        assert_eq!(options.manager, "kubectl");
        let options = Query::parse("fieldManager=op").write_options("kubectl/v1").unwrap();
        assert_eq!(options.manager, "op");
    }
}
