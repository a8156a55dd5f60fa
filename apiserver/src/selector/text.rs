//! A selector in an object as the text that a query has.

use serde_json::Value;

/// The text of `matchLabels` and `matchExpressions`.
pub(crate) fn of_label_selector(labels: &Value, expressions: &Value) -> String {
    let pairs = labels.as_object().into_iter().flatten().map(|(key, value)| {
        (key.as_str(), format!("{key}={}", value.as_str().unwrap_or_default()))
    });
    let expressions = expressions.as_array().into_iter().flatten().map(|expression| {
        let key = expression["key"].as_str().unwrap_or_default();
        (key, of_expression(key, expression))
    });
    let mut requirements: Vec<(&str, String)> = pairs.chain(expressions).collect();
    requirements.sort_by_key(|(key, _)| *key);
    requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

fn of_expression(key: &str, expression: &Value) -> String {
    let values = expression["values"].as_array().into_iter().flatten();
    let mut values: Vec<&str> = values.filter_map(Value::as_str).collect();
    values.sort_unstable();
    let values = values.join(",");
    match expression["operator"].as_str().unwrap_or_default() {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "DoesNotExist" => format!("!{key}"),
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requirements_are_in_the_order_of_their_keys() {
        let labels = json!({ "b": "1" });
        let expressions = json!([
            { "key": "c", "operator": "Exists" },
            { "key": "a", "operator": "NotIn", "values": ["y", "x"] },
            { "key": "d", "operator": "DoesNotExist" },
        ]);
        assert_eq!(of_label_selector(&labels, &expressions), "a notin (x,y),b=1,c,!d");
    }
}
