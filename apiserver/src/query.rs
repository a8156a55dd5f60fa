//! The parameters of a request, by name.

use std::num::IntErrorKind;

use crate::status::StatusError;

/// The parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query string.
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The parameters of a watch, of one object if it has a name.
    pub(crate) fn watching(mut self, name: Option<&str>) -> Self {
        self.0.retain(|(key, _)| key != "watch");
        self.0.push(("watch".to_owned(), "true".to_owned()));
        if let Some(name) = name {
            self.0.retain(|(key, _)| key != "fieldSelector");
            self.0.push(("fieldSelector".to_owned(), format!("metadata.name={name}")));
        }
        self
    }

    /// The value of a parameter, unless it is empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty())
    }

    /// All values of a parameter.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Whether a switch is on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.choice(name).unwrap_or_default()
    }

    /// Whether a switch is on or off, if it is given.
    pub(crate) fn choice(&self, name: &str) -> Option<bool> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, v)| !(v == "0" || v.eq_ignore_ascii_case("false")))
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, StatusError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
            let why = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            StatusError::bad_request(format!("strconv.ParseInt: parsing \"{text}\": {why}"))
        })
    }

    /// Checks the numbers that requests of all kinds may have.
    pub(crate) fn check_numbers(&self, names: &[&str]) -> Result<(), StatusError> {
        names.iter().try_for_each(|name| self.number(name).map(drop))
    }

    /// A resource version; zero is a version here.
    pub(crate) fn resource_version(&self) -> Result<Option<u64>, StatusError> {
        let Some(text) = self.text("resourceVersion") else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            StatusError::bad_request(format!(
                "invalid resource version: resourceVersion: Invalid value: \"{text}\": \
                 strconv.ParseUint: parsing \"{text}\": invalid syntax"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::*;

    #[test]
    fn any_text_is_a_query() {
        const TOKENS: [&str; 14] = [
            "limit",
            "=",
            "&",
            "1",
            "%41",
            "%",
            "%ff",
            "+",
            ";",
            "resourceVersion=",
            "watch=true",
            "-",
            "0",
            "dryRun=All",
        ];
        let parser = |text: &str| {
            let query = Query::parse(text);
            assert!(query.0.len() <= text.len());
            let _ = (query.number("limit"), query.resource_version(), query.flag("watch"));
            let _ = query.texts("dryRun");
        };
        random::texts(&TOKENS, parser);
        random::long_texts(&TOKENS, parser);
    }
}
