//! The parameters of a request, by name.

use std::num::IntErrorKind;

use crate::{schema::go_value, status::StatusError};

/// The parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query string. What cannot be read is left out, as by Go.
    pub(crate) fn parse(text: &str) -> Self {
        let readable = text.split('&').filter(|pair| !pair.contains(';') && is_unescapable(pair));
        let pairs = readable.flat_map(|pair| form_urlencoded::parse(pair.as_bytes()).into_owned());
        Self(pairs.collect())
    }

    /// The other parameters.
    #[must_use]
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(key, _)| key != name);
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

    /// A number; nothing is none.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, StatusError> {
        let Some((_, text)) = self.0.iter().find(|(key, _)| key == name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
            let why = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            StatusError::bad_request(format!(
                "strconv.ParseInt: parsing {}: {why}",
                go_value::quote(text)
            ))
        })
    }

    /// Checks the numbers that requests of all kinds may have.
    pub(crate) fn check_numbers(&self, names: &[&str]) -> Result<(), StatusError> {
        names.iter().try_for_each(|name| self.number(name).map(drop))
    }

    /// The resource version of a list.
    pub(crate) fn version_of_list(&self) -> Result<Option<u64>, StatusError> {
        self.resource_version().map_err(|error| {
            StatusError::bad_request(format!("invalid resource version: {}", error.message))
        })
    }

    /// A resource version; zero is a version here.
    pub(crate) fn resource_version(&self) -> Result<Option<u64>, StatusError> {
        let Some(text) = self.text("resourceVersion") else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let shown = go_value::quote(text);
            StatusError::internal(format!(
                "resourceVersion: Invalid value: {shown}: \
                 strconv.ParseUint: parsing {shown}: invalid syntax"
            ))
        })
    }
}

/// Whether each percent sign begins an escape.
fn is_unescapable(pair: &str) -> bool {
    let mut rest = pair.split('%').skip(1);
    rest.all(|it| it.len() >= 2 && it.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::*;

    #[test]
    fn what_go_cannot_read_is_left_out() {
        let query = Query::parse("a=1&a=2&%6c=x%20y+z&b=%zz&c=%4&d;e=1&=f&&g");
        let pairs: Vec<_> = query.0.iter().map(|(k, v)| format!("{k}:{v}")).collect();
        assert_eq!(pairs, ["a:1", "a:2", "l:x y z", ":f", "g:"]);
        let error = Query::parse("limit=").number("limit").unwrap_err();
        assert_eq!(error.message, "strconv.ParseInt: parsing \"\": invalid syntax");
    }

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
