//! Hides what differs between any two servers.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
        (r"20\d\d-\d\d-\d\dT[0-9:]{8}(\.\d+)?Z", "<time>"),
        (r#"("resourceVersion": ?)"[1-9]\d*""#, r#"$1"<version>""#),
        (r#"("continue": ?)"[^"]+""#, r#"$1"<token>""#),
        (r#""\d+s""#, r#""<age>""#),
        (r"(in record \()\d+", "${1}<version>"),
        (r#"(resourceVersion\\+":\\+")\d+"#, "${1}<version>"),
        (r"ResourceVersion: \d+", "ResourceVersion: <version>"),
        (r"in object meta: \d+", "in object meta: <version>"),
        (r"10\.0\.\d+\.\d+", "<address>"),
        (r#"("nodePort": ?)3\d{4}\b"#, "${1}<port>"),
    ];
    rules.map(|(pattern, to)| (Regex::new(pattern).unwrap(), to)).into()
});

/// JSON is compared without the order of its fields, and whether it comes in lines.
pub(crate) fn masked(text: &str) -> String {
    let one = |mut value: Value| {
        drop_managers(&mut value);
        format!("{value}\n")
    };
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let text = match (serde_json::from_str(text), lines) {
        (Ok(value), _) if text.trim_end().contains('\n') => format!("(in lines)\n{}", one(value)),
        (Ok(value), _) => one(value),
        (Err(_), Ok(values)) => values.into_iter().map(one).collect(),
        (Err(_), Err(_)) => text.to_owned(),
    };
    RULES.iter().fold(text, |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
}

/// Managers are compared elsewhere.
fn drop_managers(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("managedFields");
            map.values_mut().for_each(drop_managers);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_managers),
        _ => {}
    }
}
