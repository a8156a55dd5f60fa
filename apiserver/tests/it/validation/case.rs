//! The cases: a valid object, and one place of it that is different.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A valid object, where it is created, and a valid status of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Base {
    pub(crate) path: String,
    pub(crate) object: Value,
    #[serde(default)]
    pub(crate) status: Value,
}

/// A change of one place, and the answer to it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Case {
    pub(crate) of: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) at: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) is: Option<Value>,
    pub(crate) code: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) says: String,
}

fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

impl Case {
    pub(crate) fn name(&self) -> String {
        let is = self.is.as_ref().map(|value| format!("={value}")).unwrap_or_default();
        format!("{} {}{is}", self.of, self.at)
    }

    /// Whether an object has the place, or what is around it.
    pub(crate) fn fits(&self, object: &Value) -> bool {
        self.at.rsplit_once('/').is_none_or(|(parent, _)| {
            object.pointer(parent).is_some_and(|around| !around.is_null())
        })
    }

    pub(crate) fn applied_to(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let Some((parent, last)) = self.at.rsplit_once('/') else { return object };
        let last = last.replace("~1", "/").replace("~0", "~");
        match (object.pointer_mut(parent), &self.is) {
            (Some(Value::Object(fields)), Some(value)) => {
                fields.insert(last, value.clone());
            }
            (Some(Value::Object(fields)), None) => {
                fields.remove(&last);
            }
            (Some(Value::Array(items)), value) => {
                let index: usize = last.parse().unwrap();
                match value {
                    Some(value) => items[index] = value.clone(),
                    None => drop(items.remove(index)),
                }
            }
            (other, _) => panic!("{} leads to {other:?}", self.at),
        }
        object
    }
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/validation")
}

pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

pub(crate) fn bases() -> BTreeMap<String, Base> {
    serde_json::from_str(&text("objects.json")).unwrap()
}

pub(crate) fn cases(file: &str) -> Vec<Case> {
    text(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
