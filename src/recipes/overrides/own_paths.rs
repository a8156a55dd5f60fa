//! The paths that a handler keeps, and whether an override changes them.

use serde_json::{Map, Value};

use super::error::OverrideError;
use crate::diff::path::keys;

/// A path from the root of an object to one value.
#[derive(Debug, Clone)]
pub(super) struct OwnPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Field(String),
    /// The item of a list that has these fields.
    Item(Map<String, Value>),
}

/// A value of more bytes is not shown as a whole.
const MAX_SHOWN: usize = 200;

impl OwnPath {
    /// A path of this crate: only fields.
    pub(super) fn known(text: &str) -> Self {
        let fields = text.split('.').skip(1);
        Self {
            text: text.to_owned(),
            steps: fields.map(|name| Step::Field(name.to_owned())).collect(),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, OverrideError> {
        let invalid = || OverrideError::InvalidPath(text.to_owned());
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(invalid)?;
            steps.push(step);
            rest = after;
        }
        if steps.is_empty() { Err(invalid()) } else { Ok(Self { text: text.to_owned(), steps }) }
    }

    /// The value at the path.
    pub(super) fn value<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        let step = |value: &'v Value, step: &Step| match step {
            Step::Field(name) => value.get(name),
            Step::Item(keys) => {
                let has =
                    |item: &&Value| keys.iter().all(|(name, key)| item.get(name) == Some(key));
                value.as_array()?.iter().find(has)
            }
        };
        self.steps.iter().try_fold(object, step).filter(|value| !value.is_null())
    }

    /// What to report where both differ.
    pub(super) fn conflict(&self, own: &Value, merged: &Value, is_secret: bool) -> OverrideError {
        let shown = |object| match self.value(object) {
            None => "nothing".to_owned(),
            Some(_) if is_secret => "a value that is not shown".to_owned(),
            Some(value) => shortened(value.to_string()),
        };
        OverrideError::Conflict {
            path: self.text.clone(),
            own: shown(own),
            overriding: shown(merged),
        }
    }
}

/// The first step of a path, and what follows.
fn step(path: &str) -> Option<(Step, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        return (!name.is_empty()).then(|| (Step::Field(name.to_owned()), rest));
    }
    if let Some((keys, rest)) = keys(path) {
        return Some((Step::Item(keys), rest));
    }
    let quoted = path.strip_prefix('[')?;
    let mut values = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
    let name = values.next()?.ok()?;
    let rest = quoted[values.byte_offset()..].strip_prefix(']')?;
    Some((Step::Field(name), rest))
}

fn shortened(mut text: String) -> String {
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_through_fields_and_items() {
        let object = json!({"spec": {
            "a/b.c": 1, "none": null, "ports": [{"port": 80, "protocol": "UDP"}, {"port": 80, "protocol": "TCP", "x": 2}],
        }});
        for (path, expected) in [
            (".spec[\"a/b.c\"]", Some(json!(1))),
            (".spec.ports[port=80,protocol=\"TCP\"].x", Some(json!(2))),
            (".spec.ports[port=81]", None),
            (".spec.none", None),
            (".spec.other.deeper", None),
        ] {
            assert_eq!(OwnPath::parse(path).unwrap().value(&object).cloned(), expected, "{path}");
        }
        for path in ["", "spec", ".", ".spec.", ".spec[", ".spec[0]", ".spec[name=x]", ".a[\"b\""] {
            assert!(OwnPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_long_value_is_cut_and_one_of_a_secret_is_not_shown() {
        let path = OwnPath::known(".data");
        let [one, other] = ["ä", "ö"].map(|text| json!({"data": text.repeat(200)}));
        let shown = path.conflict(&one, &other, false).to_string();
        assert!(shown.contains("ää...") && shown.len() < 700, "{shown}");
        let hidden = path.conflict(&one, &other, true).to_string();
        assert!(!hidden.contains('ä') && hidden.contains("`.data`"), "{hidden}");
    }
}
