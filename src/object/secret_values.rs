//! Secret values, and how they are hidden where a text or another object quotes them: plain, as JSON, YAML, base64 and
//! URLs write them, also within a longer text in these, and each long line of a value with several.

mod forms;

use std::{borrow::Cow, cmp::Reverse, collections::BTreeSet, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(crate) use self::forms::REDACTED;
use self::forms::{forms, hide_encoded, hide_short};

/// Values that must not be shown. `Debug` shows how many.
#[derive(Clone, Default)]
pub(crate) struct SecretValues {
    /// Hidden where one is the whole text.
    whole: BTreeSet<String>,
    /// Hidden wherever one occurs, the longest first, so that no rest of it is left.
    parts: BTreeSet<(Reverse<usize>, String)>,
    /// Hidden where one is quoted.
    short: BTreeSet<String>,
    is_overfull: bool,
}

/// A shorter value is part of many words: it is hidden only where it is the whole text, or quoted.
const MIN_PART: usize = 4;
/// A shorter line of a value may be a line of any text.
const MIN_LINE: usize = 8;
/// Beyond so many forms of values everything is hidden, instead of searching for each of them.
const MAX_FORMS: usize = 20_000;

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

    /// Adds the values of a Secret.
    pub(crate) fn add_secret(&mut self, secret: &Value) {
        self.add_encoded(&secret["data"]);
        self.add(&secret["stringData"]);
    }

    /// Adds the values of a Secret, and of Secrets within an object.
    pub(super) fn add_secrets_of(&mut self, object: &Value) {
        each_secret(object, &mut |secret| self.add_secret(secret));
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
        for short in &self.short {
            shown = replaced(shown, |shown| hide_short(shown, short));
        }
        if self.parts.is_empty() {
            return shown;
        }
        replaced(shown, |shown| hide_encoded(shown, |decoded| self.quotes(decoded)))
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

    fn quotes(&self, text: &str) -> bool {
        self.parts.iter().any(|(_, part)| text.contains(part.as_str()))
    }

    fn add_encoded(&mut self, value: &Value) {
        match value {
            // Binary data can only be quoted in base64.
            Value::String(encoded) => {
                let clear = STANDARD.decode(encoded).ok().and_then(|it| String::from_utf8(it).ok());
                self.add_text(clear.as_deref().unwrap_or(encoded));
            }
            Value::Object(entries) => entries.values().for_each(|value| self.add_encoded(value)),
            value => self.add(value),
        }
    }

    /// Adds a value; one that ends with a line break is quoted without it, too.
    fn add_text(&mut self, text: &str) {
        for text in BTreeSet::from([text, text.trim()]) {
            self.add_exactly(text);
        }
    }

    fn add_exactly(&mut self, text: &str) {
        if text.trim().is_empty() || self.is_overfull {
            return;
        }
        if text.len() < MIN_PART {
            self.short.insert(text.to_owned());
        }
        for form in forms(text) {
            if text.len() >= MIN_PART {
                self.parts.insert((Reverse(form.len()), form.clone()));
            }
            self.whole.insert(form);
        }
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE);
        self.parts.extend(lines.map(|line| (Reverse(line.len()), line.to_owned())));
        self.is_overfull = self.whole.len() + self.parts.len() > MAX_FORMS;
    }
}

fn replaced(text: Cow<'_, str>, replace: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    replace(&text).map_or(text, Cow::Owned)
}

/// The Secret that a value is, and those within it, also as the JSON text of an annotation.
fn each_secret(value: &Value, found: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(fields) => {
            if is_secret(value) {
                found(value);
            }
            fields.values().for_each(|field| each_secret(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| each_secret(item, found)),
        Value::String(text) => {
            if let Some(copy) = copy_of_secrets(text) {
                each_secret(&copy, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(value: &Value) -> bool {
    value["kind"] == "Secret" && value["apiVersion"] == "v1"
}

/// The value of a JSON text that may have a copy of a Secret.
fn copy_of_secrets(text: &str) -> Option<Value> {
    let is_one = text.contains("Secret") && text.trim_start().starts_with(['{', '[']);
    is_one.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Hides the values of a Secret. Their keys stay: users need them when a Pod cannot start.
pub(crate) fn hide_secret(secret: &mut Value) {
    for field in ["data", "stringData"] {
        match secret.get_mut(field) {
            Some(Value::Object(entries)) => {
                entries.values_mut().for_each(|value| *value = REDACTED.into());
            }
            Some(Value::Null) | None => {}
            Some(odd) => *odd = REDACTED.into(),
        }
    }
}

/// Hides the values of the Secrets in a value.
pub(crate) fn hide_secrets(value: &mut Value) {
    if is_secret(value) {
        hide_secret(value);
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(hide_secrets),
        Value::Array(items) => items.iter_mut().for_each(hide_secrets),
        Value::String(text) => {
            let mut has_some = false;
            let copy = copy_of_secrets(text);
            if let Some(copy) = &copy {
                each_secret(copy, &mut |_| has_some = true);
            }
            if has_some {
                *value = REDACTED.into();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValues({})", self.whole.len())
    }
}

#[cfg(test)]
mod tests;
