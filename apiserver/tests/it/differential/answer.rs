//! An answer without what two servers need not have in common: uids, versions, times, addresses.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) media: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Value,
}

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
/// Versions in sentences.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?i)(resourceVersion[^0-9]{1,40}|in object meta: )([0-9]+)").unwrap()
});
/// Times of this run; those in requests are older.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"20(2[6-9]|[3-9][0-9])-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z").unwrap()
});
/// Names from the prefixes of the generator.
static RANDOM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("\\b(made-|g-)[bcdfghjklmnpqrstvwxz2456789]{5}\\b").unwrap());
/// Addresses and ports that a server allocated.
static ALLOCATED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(10\.0\.\d+\.\d+|3[0-2]\d{3})\b").unwrap());
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-9]+m?s$").unwrap());

/// An object that a message repeats.
static ECHO: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""\{(?:[^"\\]|\\.)*\}""#).unwrap());

/// The body of an answer, masked.
///
/// The YAML of both servers has one meaning and two styles: they fold lines and quote texts differently.
pub(crate) fn masked(media: &str, body: &[u8], namespace: &str) -> Value {
    let text = String::from_utf8_lossy(body).replace(namespace, "$ns");
    let parsed = match media {
        "application/yaml" => serde_yaml_ng::from_str(&text).ok(),
        _ => serde_json::from_str(&text).ok(),
    };
    let mut value = parsed.unwrap_or(Value::String(text));
    mask(&mut value);
    value
}

pub(crate) fn mask(value: &mut Value) {
    match value {
        Value::String(text) => *text = masked_text(text),
        Value::Array(list) => list.iter_mut().for_each(mask),
        Value::Object(fields) => {
            for (name, inner) in fields.iter_mut() {
                mask_field(name, inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_field(name: &str, value: &mut Value) {
    match (name, &mut *value) {
        ("resourceVersion", Value::String(text)) if text.parse::<u64>().is_ok() && text != "0" => {
            "<version>".clone_into(text);
        }
        // They are ordered by time first, in seconds.
        ("managedFields", Value::Array(managers)) => {
            managers.iter_mut().for_each(mask);
            managers.sort_by_key(|it| {
                let key = ["manager", "operation", "subresource", "apiVersion"];
                key.map(|field| it[field].to_string())
            });
        }
        // They come from a Go map.
        ("causes", Value::Array(causes))
            if causes.iter().all(|it| it["reason"] == "FieldManagerConflict") =>
        {
            causes.sort_by_key(ToString::to_string);
        }
        // Objects are ordered by their names, which may be random.
        ("items" | "rows", Value::Array(list))
            if list.iter().any(|it| RANDOM.is_match(&it.to_string())) =>
        {
            list.iter_mut().for_each(mask);
            list.sort_by_key(ToString::to_string);
        }
        ("continue", Value::String(text)) if !text.is_empty() => "<token>".clone_into(text),
        ("clusterIP", Value::String(text)) if text.starts_with("10.") => {
            "<address>".clone_into(text);
        }
        ("clusterIPs", Value::Array(list)) => {
            let allocated = |it: &&mut Value| it.as_str().is_some_and(|it| it.starts_with("10."));
            list.iter_mut().filter(allocated).for_each(|it| *it = "<address>".into());
        }
        ("nodePort" | "healthCheckNodePort", Value::Number(_)) => *value = "<port>".into(),
        // They are the documentation of Kubernetes, which the embedded server does not repeat.
        ("columnDefinitions", Value::Array(columns)) => {
            for column in columns {
                column["description"] = Value::Null;
            }
        }
        _ => mask(value),
    }
}

fn masked_text(text: &str) -> String {
    // Go writes what a patch has not touched in the order of its structs, the rest by name.
    let sorted = |echo: &Captures<'_>| {
        let echoed = serde_json::from_str::<String>(&echo[0]).ok();
        let object = echoed.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        object.map_or(echo[0].to_owned(), |object| Value::from(object.to_string()).to_string())
    };
    let text = ECHO.replace_all(text, sorted);
    let text = UID.replace_all(&text, "<uid>");
    let text = TIME.replace_all(&text, "<time>");
    let text = VERSION.replace_all(&text, |it: &Captures<'_>| format!("{}<version>", &it[1]));
    let text = RANDOM.replace_all(&text, "$1<random>");
    let text = ALLOCATED.replace_all(&text, "<allocated>");
    AGE.replace(&text, "<age>").into_owned()
}
