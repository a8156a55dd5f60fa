//! Changes of objects and patches, so that the same can be done to the live objects of both servers.

use serde_json::{Map, Value, json};

/// One change. Positions count the values below metadata that the server sets.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    /// Sets the value at a pointer, and creates the objects on the way.
    Set(String, Value),
    Remove(usize),
    Replace(usize, Value),
    /// Adds a field that no type has to an object.
    Unknown(usize),
    /// Repeats the first entry of a list.
    Repeat(usize),
}

impl Mutation {
    pub(crate) fn apply(&self, object: &mut Value) {
        match self {
            Self::Set(pointer, value) => set(object, pointer, value.clone()),
            Self::Remove(at) => {
                if let Some(pointer) = nth(object, *at, |_| true) {
                    remove(object, &pointer);
                }
            }
            Self::Replace(at, value) => {
                if let Some(pointer) = nth(object, *at, |_| true) {
                    set(object, &pointer, value.clone());
                }
            }
            Self::Unknown(at) => {
                if let Some(pointer) = nth(object, *at, Value::is_object) {
                    set(object, &format!("{pointer}/noSuchField"), json!("x"));
                }
            }
            Self::Repeat(at) => {
                let filled = |it: &Value| it.as_array().is_some_and(|list| !list.is_empty());
                if let Some(pointer) = nth(object, *at, filled)
                    && let Some(Value::Array(list)) = object.pointer_mut(&pointer)
                {
                    list.push(list[0].clone());
                }
            }
        }
    }
}

/// Metadata that the server sets; `managedFields` alone would be most of an object.
const OF_THE_SERVER: [&str; 5] =
    ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"];

/// The pointer of the n-th such value, counted around.
fn nth(object: &Value, at: usize, which: impl Fn(&Value) -> bool) -> Option<String> {
    let mut found = Vec::new();
    walk(object, "", &mut |pointer, value| {
        if which(value) && !pointer.is_empty() {
            found.push(pointer.to_owned());
        }
    });
    (!found.is_empty()).then(|| found.swap_remove(at % found.len()))
}

fn walk(value: &Value, pointer: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(pointer, value);
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if pointer == "/metadata" && OF_THE_SERVER.contains(&name.as_str()) {
                    continue;
                }
                let name = name.replace('~', "~0").replace('/', "~1");
                walk(inner, &format!("{pointer}/{name}"), visit);
            }
        }
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                walk(inner, &format!("{pointer}/{at}"), visit);
            }
        }
        _ => {}
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut target = object;
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        target = match target {
            Value::Array(list) => {
                let at = name.parse::<usize>().unwrap_or(0).min(list.len());
                if at == list.len() {
                    list.push(Value::Null);
                }
                &mut list[at]
            }
            other => {
                if !other.is_object() {
                    *other = Value::Object(Map::new());
                }
                other.as_object_mut().unwrap().entry(name).or_insert(Value::Null)
            }
        };
    }
    *target = value;
}

fn remove(object: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match object.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(list)) => {
            list.remove(name.parse().unwrap());
        }
        _ => {}
    }
}
