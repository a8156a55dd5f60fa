//! A value of an object and the one that it replaces: what did not change is not judged again.

use serde_json::Value;

use super::{ListType, Schema};

/// A value and the one that it replaces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) new: &'a Value,
    pub(crate) old: &'a Value,
    pub(crate) schema: &'a Schema,
}

impl Pair<'_> {
    /// The values of a field, if both have it.
    pub(crate) fn key(self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        let values = || {
            let values = self.schema.additional_properties.as_ref();
            values.filter(|values| ***values != Schema::default())
        };
        let schema = self.schema.properties.get(name).or_else(values)?;
        Some(Self { new, old, schema })
    }

    /// The element and the one with the same keys.
    pub(crate) fn index(self, at: usize) -> Option<Self> {
        let ListType::Map(keys) = &self.schema.list_type else { return None };
        let new = self.new.as_array()?.get(at)?;
        let old = correlated(self.old.as_array()?, new, keys)?;
        Some(Self { new, old, schema: self.schema.items.as_deref()? })
    }

    /// Whether the value is as before, as far as its schema declares it.
    pub(crate) fn is_equal(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if !matches!(self.schema.list_type, ListType::Map(_)) {
                    return new == old;
                }
                let is_equal = |at| self.index(at).is_some_and(Self::is_equal);
                new.len() == old.len() && (0..new.len()).all(is_equal)
            }
            (Value::Object(new), Value::Object(old)) => {
                let is_equal = |name: &String| self.key(name).is_some_and(Self::is_equal);
                new.len() == old.len() && new.keys().all(is_equal)
            }
            (new, old) => new == old,
        }
    }
}

/// The element with the same keys.
pub(crate) fn correlated<'a>(
    olds: &'a [Value],
    element: &Value,
    keys: &[String],
) -> Option<&'a Value> {
    element.as_object()?;
    let has_same_keys =
        |old: &&Value| old.is_object() && keys.iter().all(|key| old.get(key) == element.get(key));
    olds.iter().rfind(has_same_keys)
}
