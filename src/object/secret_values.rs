//! Secret values, and how they are hidden where a text or another object quotes them: plain,
//! escaped as in JSON, in base64, and each long line of a value with several.

use std::{borrow::Cow, cmp::Reverse, collections::BTreeSet, fmt};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use serde_json::Value;

use super::Object;

/// Values that must not be shown. `Debug` shows how many.
#[derive(Clone, Default)]
pub(crate) struct SecretValues {
    /// Hidden only where one is the whole text.
    whole: BTreeSet<String>,
    /// Hidden wherever one occurs, the longest first, so that no rest of it is left.
    parts: BTreeSet<(Reverse<usize>, String)>,
    is_overfull: bool,
}

/// Replaces a secret.
pub(crate) const REDACTED: &str = "(redacted)";

/// A shorter value is part of many words: it is hidden only where it is the whole text.
const MIN_PART: usize = 4;
/// A shorter line of a value may be a line of any text.
const MIN_LINE: usize = 8;
/// Beyond so many values everything is hidden, instead of searching for each of them.
const MAX_VALUES: usize = 10_000;

impl SecretValues {
    /// Adds a value and all values in it.
    pub(crate) fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add_text(text),
            Value::Number(number) => self.add_text(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.add(field)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Adds the data of a Secret.
    pub(crate) fn add_secret(&mut self, secret: &Object) {
        let data = secret.field("data").unwrap_or_default();
        for value in data.as_object().into_iter().flatten().filter_map(|(_, it)| it.as_str()) {
            let clear = STANDARD.decode(value).ok().and_then(|it| String::from_utf8(it).ok());
            // Binary data can only be quoted in base64.
            self.add_text(clear.as_deref().unwrap_or(value));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_empty() && !self.is_overfull
    }

    /// A text without the secrets in it.
    pub(crate) fn hidden<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_overfull || self.whole.contains(text) {
            return Cow::Borrowed(REDACTED);
        }
        let mut shown = Cow::Borrowed(text);
        for (_, part) in &self.parts {
            if shown.contains(part.as_str()) {
                shown = Cow::Owned(shown.replace(part.as_str(), REDACTED));
            }
        }
        shown
    }

    /// Hides the secrets in every text of a tree. Names of fields stay.
    pub(crate) fn hide_in(&self, tree: &mut Value) {
        match tree {
            Value::String(text) => {
                let shown = self.hidden(text);
                if *shown != **text {
                    *text = shown.into_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.hide_in(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        if text.is_empty() || self.is_overfull {
            return;
        }
        for form in forms(text) {
            if text.len() >= MIN_PART {
                self.parts.insert((Reverse(form.len()), form.clone()));
            }
            self.whole.insert(form);
        }
        self.whole.insert(padded(text));
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE);
        self.parts.extend(lines.map(|line| (Reverse(line.len()), line.to_owned())));
        self.is_overfull = self.whole.len() + self.parts.len() > MAX_VALUES;
    }
}

/// Plain, as JSON and Go quote it, and in both alphabets of base64.
fn forms(text: &str) -> BTreeSet<String> {
    let quoted = Value::from(text).to_string();
    let quoted = quoted[1..quoted.len() - 1].to_owned();
    [text.to_owned(), quoted, STANDARD_NO_PAD.encode(text), URL_SAFE_NO_PAD.encode(text)].into()
}

fn padded(text: &str) -> String {
    STANDARD.encode(text)
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValues({})", self.whole.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(of: &Value) -> SecretValues {
        let mut values = SecretValues::default();
        values.add(of);
        values
    }

    #[test]
    fn a_secret_is_hidden_in_whatever_form_a_text_quotes_it() {
        let secret = values(&json!("pass \"word\"?>1"));
        for (text, shown) in [
            ("pass \"word\"?>1", "(redacted)"),
            ("--password=pass \"word\"?>1 -v", "--password=(redacted) -v"),
            (r#"Invalid value: "pass \"word\"?>1""#, r#"Invalid value: "(redacted)""#),
            ("cGFzcyAid29yZCI/PjE=", "(redacted)"),
            ("key: cGFzcyAid29yZCI/PjE", "key: (redacted)"),
            ("?key=cGFzcyAid29yZCI_PjE", "?key=(redacted)"),
            ("a password", "a password"),
        ] {
            assert_eq!(secret.hidden(text), shown, "{text}");
        }
    }

    #[test]
    fn a_short_secret_is_hidden_only_where_it_is_the_whole_text() {
        let secret = values(&json!("a"));
        for (text, shown) in [("a", "(redacted)"), ("banana", "banana"), ("YQ==", "(redacted)")] {
            assert_eq!(secret.hidden(text), shown, "{text}");
        }
        assert_eq!(values(&json!("")).hidden(""), "", "an empty text is no secret");
    }

    #[test]
    fn the_lines_of_a_secret_are_hidden_however_they_are_indented() {
        let secret = values(&json!("-----BEGIN KEY-----\nMIIEvQIBADAN\nBg==\n"));
        let file = "tls:\n  key: |\n    -----BEGIN KEY-----\n    MIIEvQIBADAN\n    Bg==\n";
        let shown = secret.hidden(file);
        assert!(!shown.contains("MIIE"), "{shown}");
    }

    #[test]
    fn the_longest_secret_is_hidden_first_and_in_every_text_of_a_tree() {
        let secret = values(&json!(["abcd", "abcd-efgh", {"x": 123_456}]));
        let mut tree = json!({"a": ["abcd-efgh", "xabcd"], "b": {"c": "n=123456"}, "abcd": 1});
        secret.hide_in(&mut tree);
        let expected =
            json!({"a": ["(redacted)", "x(redacted)"], "b": {"c": "n=(redacted)"}, "abcd": 1});
        assert_eq!(tree, expected);
    }

    #[test]
    fn with_too_many_secrets_every_text_is_hidden() {
        let many: Vec<String> = (0..MAX_VALUES).map(|number| format!("secret-{number}")).collect();
        let secret = values(&json!(many));
        let mut tree = json!({"a": "anything"});
        secret.hide_in(&mut tree);
        assert_eq!((tree, secret.is_empty()), (json!({"a": REDACTED}), false));
        assert!(!format!("{secret:?}").contains("secret-1"));
    }
}
