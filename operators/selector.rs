//! A label selector as the Kubernetes API writes it, and as the text that the framework reads.

use std::collections::BTreeMap;

use operetta::object::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The labels that an object must have. All requirements must hold.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Selector {
    /// Labels with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements on labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub match_expressions: Vec<Requirement>,
}

/// A requirement on one label.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 \
             : !has(self.values) || size(self.values) == 0",
    "message": "In and NotIn need values, Exists and DoesNotExist have none",
}]))]
pub struct Requirement {
    /// The label.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// What must hold of its value.
    pub operator: LabelOperator,
    /// The values of `In` and `NotIn`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 63)))]
    pub values: Vec<String>,
}

/// What must hold of the value of a label.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelOperator {
    /// It is one of the values.
    In,
    /// It is none of the values, or the label does not exist.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

/// A label, or a value of one, is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a label with a value")]
pub struct InvalidSelector(String);

impl Selector {
    /// The selector as text, for example `tier=gold,!legacy`; empty if it selects everything.
    ///
    /// # Errors
    /// A label or a value is not valid, or has a sign with a meaning in the text.
    pub fn text(&self) -> Result<String, InvalidSelector> {
        let labels = self
            .match_labels
            .iter()
            .map(|(key, value)| checked(&[key, value], format!("{key}={value}")));
        let expressions = self.match_expressions.iter().map(Requirement::text);
        Ok(labels.chain(expressions).collect::<Result<Vec<_>, _>>()?.join(","))
    }
}

impl Selector {
    /// Whether an object with these labels is selected; never by an invalid selector.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let selector = self.text().ok().and_then(|text| LabelSelector::parse(&text).ok());
        selector.is_some_and(|selector| selector.matches(labels))
    }
}

impl Requirement {
    fn text(&self) -> Result<String, InvalidSelector> {
        let Self { key, operator, values } = self;
        let among = values.join(",");
        let text = match operator {
            LabelOperator::In | LabelOperator::NotIn if values.is_empty() => {
                return Err(InvalidSelector(format!("{key} among no values")));
            }
            LabelOperator::In => format!("{key} in ({among})"),
            LabelOperator::NotIn => format!("{key} notin ({among})"),
            LabelOperator::Exists => key.clone(),
            LabelOperator::DoesNotExist => format!("!{key}"),
        };
        let words: Vec<&String> = [key].into_iter().chain(values).collect();
        checked(&words, text)
    }
}

/// The text, if none of its words has a sign that would make it mean something else.
fn checked(words: &[&String], text: String) -> Result<String, InvalidSelector> {
    let is_sign = |c: char| c.is_whitespace() || "!=<>,()".contains(c);
    let has_sign = words.iter().any(|word| word.contains(is_sign));
    if has_sign || LabelSelector::parse(&text).is_err() {
        Err(InvalidSelector(text))
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(selector: Value) -> Selector {
        serde_json::from_value(selector).unwrap()
    }

    #[test]
    fn every_operator_has_its_text() {
        let selector = json!({
            "matchLabels": {"team": "a", "x.io/y": ""},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["gold", "silver"]},
                {"key": "zone", "operator": "NotIn", "values": ["z"]},
                {"key": "open", "operator": "Exists"},
                {"key": "legacy", "operator": "DoesNotExist"},
            ],
        });
        let expected = "team=a,x.io/y=,tier in (gold,silver),zone notin (z),open,!legacy";
        assert_eq!(read(selector).text().unwrap(), expected);
        assert_eq!(read(json!({})).text().unwrap(), "");
    }

    #[test]
    fn a_sign_within_a_label_does_not_become_another_requirement() {
        for selector in [
            json!({"matchLabels": {"a,b": "c"}}),
            json!({"matchLabels": {"a": "c,d=e"}}),
            json!({"matchLabels": {"": "c"}}),
            json!({"matchLabels": {"a": "not ok"}}),
            json!({"matchExpressions": [{"key": "a)", "operator": "Exists"}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b),c"]}]}),
        ] {
            assert!(read(selector.clone()).text().is_err(), "{selector}");
        }
    }
}
