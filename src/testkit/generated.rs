//! Objects made from the schema of a version, as the API server would store them.

use std::{collections::BTreeSet, sync::Arc};

use operetta_apiserver::{
    SchemaRules,
    schema::{Schema, Validator, default, prune},
};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::{BoxedStrategy, Just, Strategy, any},
    sample::select,
    string::string_regex,
};
use serde_json::{Map, Value, json};

/// How many elements a list or a map has at most, unless its schema wants more.
const ELEMENTS: usize = 3;
/// Deeper fields without a type are left out.
const DEPTH: usize = 24;
/// How often a field that may be absent is present.
const PRESENT: f64 = 0.6;
/// What rules often want a text to be: a quantity, a number, a duration, a network.
const TYPICAL: [&str; 6] = ["1Gi", "20Gi", "250m", "3", "1h30m", "10.0.0.0/8"];
/// The letters of a text without a pattern; some need to be escaped in JSON.
const LETTERS: &str = "[a-zA-Z0-9 ä\"\\\\./-]";

/// Objects of a version whose `OpenAPI` schema this is: valid, with their defaults, and without unknown fields.
///
/// # Panics
/// If the schema has a pattern or a CEL rule that cannot be compiled.
pub(super) fn objects(api_version: &str, kind: &str, schema: &Value) -> BoxedStrategy<Value> {
    let validator = Validator::new(Schema::from_open_api(schema));
    let validator = validator.expect("the schema has patterns and rules that can be compiled");
    let head = json!({"apiVersion": api_version, "kind": kind});
    let rules = SchemaRules::new(validator.schema(), true);
    (metadata(), object(schema, 0))
        .prop_map(move |(metadata, mut object)| {
            let Value::Object(fields) = &mut object else { return object };
            fields.extend(head.as_object().cloned().unwrap_or_default());
            fields.insert("metadata".to_owned(), metadata);
            object
        })
        .prop_filter_map("the schema refuses the object", move |mut object| {
            prune(validator.schema(), &mut object);
            default(validator.schema(), &mut object);
            let is_valid = validator.validate(&object, None).is_empty() && rules.accept(&object);
            is_valid.then_some(object)
        })
        .boxed()
}

/// As of a stored object: with fields that a Rust type may not know.
fn metadata() -> impl Strategy<Value = Value> {
    let words = btree_map("[a-z]{1,8}", "[a-z]{0,8}", 0..=ELEMENTS);
    (words.clone(), words, any::<u32>()).prop_map(|(labels, annotations, version)| {
        json!({
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": version.to_string(),
            "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": labels, "annotations": annotations,
            "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1"}],
        })
    })
}

/// A value that the rules of its schema accept. Only what they refuse is made again, and not the whole object.
fn value(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let made = of_type(schema, depth);
    if schema["x-kubernetes-validations"].is_null() {
        return made;
    }
    let structural = Schema::from_open_api(schema);
    let rules = Arc::new(SchemaRules::new(&structural, false));
    made.prop_filter_map("a rule refuses it", move |mut value| {
        default(&structural, &mut value);
        rules.accept(&value).then_some(value)
    })
    .boxed()
}

fn of_type(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<Value> = values.iter().filter(|it| !it.is_null()).cloned().collect();
        return select(values).boxed();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        let text = string_regex("[1-9][0-9]?%").expect("it is a regular expression");
        return proptest::prop_oneof![
            (0..1000_i32).prop_map(Value::from),
            text.prop_map(Value::from),
        ]
        .boxed();
    }
    match schema["type"].as_str() {
        Some("string") => text(schema),
        Some("integer") => integer(schema),
        Some("number") => integer(schema).prop_map(halved).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("array") => list(schema, depth),
        Some("object") => object(schema, depth),
        _ => anything(depth),
    }
}

// === texts and numbers ===

fn text(schema: &Value) -> BoxedStrategy<Value> {
    let fixed = |text: &str| Just(Value::from(text)).boxed();
    match schema["format"].as_str() {
        Some("date-time") => return fixed("2026-01-01T12:00:00Z"),
        Some("date") => return fixed("2026-01-01"),
        Some("duration") => return fixed("1m30s"),
        Some("byte") => return fixed("YWJj"),
        Some("uuid") => return fixed("3e2c4d0a-5b1f-4c6d-8e7f-0a1b2c3d4e5f"),
        Some("ipv4" | "ip") => return fixed("192.0.2.1"),
        Some("ipv6") => return fixed("2001:db8::1"),
        Some("uri") => return fixed("https://example.com/a"),
        Some("hostname") => return fixed("a.example.com"),
        _ => {}
    }
    let least = count(&schema["minLength"]).unwrap_or(0);
    let most = count(&schema["maxLength"]).unwrap_or(least + 12).min(least + 12);
    let pattern = schema["pattern"].as_str().map(unanchored);
    let matching = pattern.and_then(|pattern| string_regex(pattern).ok());
    let plain = || {
        let text = string_regex(&format!("{LETTERS}{{{least},{most}}}"));
        text.expect("the letters are a regular expression")
    };
    let typical = TYPICAL.into_iter().filter(|text| (least..=most).contains(&text.len()));
    let typical: Vec<String> = typical.map(str::to_owned).collect();
    let text = match matching {
        Some(matching) => matching.boxed(),
        None if typical.is_empty() => plain().boxed(),
        None => proptest::prop_oneof![plain(), select(typical)].boxed(),
    };
    text.prop_map(Value::from).boxed()
}

/// Generated texts match a pattern as a whole.
fn unanchored(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    pattern.strip_suffix('$').unwrap_or(pattern)
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds of fields are small")]
fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |name: &str| schema[name].as_f64().map(|bound| bound as i64);
    let least = bound("minimum").unwrap_or_else(|| bound("maximum").map_or(0, |it| it.min(0)));
    let most = bound("maximum").unwrap_or_else(|| least.saturating_add(100_000));
    let step = schema["multipleOf"].as_f64().map_or(1, |step| (step as i64).max(1));
    (least..=most.max(least)).prop_map(move |number| Value::from(number / step * step)).boxed()
}

fn halved(number: Value) -> Value {
    number.as_f64().map_or(number, |number| Value::from(number / 2.0))
}

// === lists and objects ===

fn list(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let least = count(&schema["minItems"]).unwrap_or(0);
    let most = count(&schema["maxItems"]).unwrap_or(least + ELEMENTS).min(least + ELEMENTS);
    let keys = keys_of(schema);
    vec(value(&schema["items"], depth + 1), least..=most)
        .prop_map(move |items| Value::Array(distinct(items, keys.as_deref())))
        .boxed()
}

/// The fields by which elements differ; none of a list whose elements may be equal, and no field where they differ as a
/// whole.
fn keys_of(schema: &Value) -> Option<Vec<String>> {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => Some(Vec::new()),
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array()?.iter();
            Some(keys.filter_map(|key| key.as_str().map(str::to_owned)).collect())
        }
        _ => None,
    }
}

fn distinct(mut items: Vec<Value>, keys: Option<&[String]>) -> Vec<Value> {
    let Some(keys) = keys else { return items };
    let mut seen = BTreeSet::new();
    items.retain(|item| {
        let key = match keys {
            [] => item.to_string(),
            keys => keys.iter().map(|key| item[key].to_string()).collect::<Vec<_>>().join("/"),
        };
        seen.insert(key)
    });
    items
}

fn object(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let Some(properties) = schema["properties"].as_object() else { return map(schema, depth) };
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let empty = Just(Map::new()).boxed();
    let is_own = |name: &str| depth > 0 || !matches!(name, "apiVersion" | "kind" | "metadata");
    let fields = properties.iter().filter(|(name, _)| is_own(name));
    let all = fields.fold(empty, |others, (name, field)| {
        let (name, field) = (name.clone(), value(field, depth + 1));
        let field = if is_required(&name) {
            field.prop_map(Some).boxed()
        } else {
            option::weighted(PRESENT, field).boxed()
        };
        (others, field)
            .prop_map(move |(mut others, field)| {
                others.extend(field.map(|field| (name.clone(), field)));
                others
            })
            .boxed()
    });
    all.prop_map(Value::Object).boxed()
}

fn map(schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let of = &schema["additionalProperties"];
    let element = if of.is_object() { value(of, depth + 1) } else { anything(depth + 1) };
    let is_open = of.is_object() || schema["x-kubernetes-preserve-unknown-fields"] == true;
    let most = if is_open { ELEMENTS } else { 0 };
    let entries = btree_map("[a-z][a-z0-9-]{0,7}", element, 0..=most);
    entries.prop_map(|entries| Value::Object(entries.into_iter().collect())).boxed()
}

/// A field without a type.
fn anything(depth: usize) -> BoxedStrategy<Value> {
    let leaf = proptest::prop_oneof![
        (0..1000_i32).prop_map(Value::from),
        "[a-z]{0,8}".prop_map(Value::from),
        any::<bool>().prop_map(Value::Bool),
    ];
    if depth > DEPTH {
        return leaf.boxed();
    }
    let nested = leaf.clone();
    let object = btree_map("[a-z]{1,6}", nested, 0..=ELEMENTS)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()));
    proptest::prop_oneof![leaf, object].boxed()
}

fn count(bound: &Value) -> Option<usize> {
    bound.as_u64().and_then(|bound| usize::try_from(bound).ok())
}
