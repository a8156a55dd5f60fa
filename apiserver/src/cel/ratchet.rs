//! Which values of an object are as they were before an update: errors of those are not reported.

use serde_json::Value;

use crate::schema::{ListType, Schema};

/// A value and the one that it replaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
    pub(super) schema: &'a Schema,
}

/// What is known of a place in the object before the update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratchet<'a> {
    current: Option<Pair<'a>>,
    /// The nearest value around that can be found in both.
    around: Option<Pair<'a>>,
}

impl<'a> Ratchet<'a> {
    pub(super) fn new(current: Option<Pair<'a>>) -> Self {
        Self { current, around: None }
    }

    /// A field or the value of a key.
    pub(super) fn key(self, name: &str) -> Self {
        match self.current {
            None => self,
            Some(_) if self.around.is_none() && matches!(name, "apiVersion" | "kind") => {
                Self::new(None)
            }
            Some(pair) => Self { current: pair.key(name), around: Some(pair) },
        }
    }

    /// An element.
    pub(super) fn index(self, at: usize) -> Self {
        match self.current {
            None => self,
            Some(pair) => Self { current: pair.index(at), around: Some(pair) },
        }
    }

    /// Whether the value, or what is around it, is as before.
    pub(super) fn is_unchanged(self) -> bool {
        self.current.or(self.around).is_some_and(Pair::is_equal)
    }
}

impl Pair<'_> {
    fn key(self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        let values = || {
            let values = self.schema.additional_properties.as_ref();
            values.filter(|values| ***values != Schema::default())
        };
        let schema = self.schema.properties.get(name).or_else(values)?;
        Some(Self { new, old, schema })
    }

    fn index(self, at: usize) -> Option<Self> {
        let ListType::Map(keys) = &self.schema.list_type else { return None };
        let new = self.new.as_array()?.get(at)?;
        let old = correlated(self.old.as_array()?, new, keys)?;
        Some(Self { new, old, schema: self.schema.items.as_deref()? })
    }

    fn is_equal(self) -> bool {
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
pub(super) fn correlated<'a>(
    olds: &'a [Value],
    element: &Value,
    keys: &[String],
) -> Option<&'a Value> {
    element.as_object()?;
    let has_same_keys =
        |old: &&Value| old.is_object() && keys.iter().all(|key| old.get(key) == element.get(key));
    olds.iter().rfind(has_same_keys)
}
