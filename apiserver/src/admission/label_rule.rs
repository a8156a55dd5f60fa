//! A label selector as objects have it: `matchLabels` and `matchExpressions`.

use serde_json::Value;

use crate::selector::LabelSelector;

/// A compiled selector.
#[derive(Debug, Default)]
pub(super) struct LabelRule(Option<LabelSelector>);

impl LabelRule {
    /// Compiles a selector; an absent or empty one selects everything.
    pub(super) fn of(selector: &Value) -> Self {
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let mut parts: Vec<String> = labels
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        parts.extend(selector["matchExpressions"].as_array().into_iter().flatten().map(part));
        if parts.is_empty() {
            return Self(None);
        }
        // Validation has refused what cannot be parsed.
        Self(LabelSelector::parse(&parts.join(",")).ok())
    }

    /// Whether everything is selected.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether an object with these labels is selected.
    pub(super) fn matches(&self, labels: &Value) -> bool {
        self.0.as_ref().is_none_or(|selector| selector.matches_json(Some(labels)))
    }
}

fn part(expression: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = text(&expression["key"]);
    let values: Vec<String> =
        expression["values"].as_array().into_iter().flatten().map(text).collect();
    let values = values.join(",");
    match expression["operator"].as_str() {
        Some("In") => format!("{key} in ({values})"),
        Some("NotIn") => format!("{key} notin ({values})"),
        Some("DoesNotExist") => format!("!{key}"),
        _ => key,
    }
}
