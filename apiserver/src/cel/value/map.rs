//! Maps and objects: of an object in the server, or of an expression.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    data::of_data,
    equal::equal,
    val::{Failure, Outcome, Text, Val, error, no_overload},
};
use crate::{
    cel::{
        declared::is_map,
        escape::{escape, unescape},
    },
    schema::Schema,
};

/// A map or an object.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Map<'a> {
    /// Fields of an object and their schema.
    Data(&'a serde_json::Map<String, Value>, &'a Schema),
    Own(Arc<BTreeMap<Key<'a>, Val<'a>>>),
}

/// A key.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Key<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Text<'a>),
}

impl<'a> Key<'a> {
    /// The key that a value stands for; whole numbers are the same in every type.
    pub(in crate::cel) fn of(value: &Val<'a>) -> Option<Self> {
        Some(match value {
            Val::Bool(value) => Self::Bool(*value),
            Val::Int(value) => Self::Int(*value),
            Val::Uint(value) => Self::Uint(*value),
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction")]
            Val::Double(value) if value.fract() == 0.0 => Self::Int(*value as i64),
            Val::String(value) => Self::String(value.clone()),
            _ => return None,
        })
    }

    pub(in crate::cel) fn value(&self) -> Val<'a> {
        match self {
            Self::Bool(value) => Val::Bool(*value),
            Self::Int(value) => Val::Int(*value),
            Self::Uint(value) => Val::Uint(*value),
            Self::String(value) => Val::String(value.clone()),
        }
    }

    fn order(&self) -> (u8, i128, &str) {
        match self {
            Self::Bool(value) => (0, i128::from(*value), ""),
            Self::Int(value) => (1, i128::from(*value), ""),
            Self::Uint(value) => (1, i128::from(*value), ""),
            Self::String(value) => (2, 0, value),
        }
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Key<'_> {}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl<'a> Map<'a> {
    pub(in crate::cel) fn own(entries: BTreeMap<Key<'a>, Val<'a>>) -> Self {
        Self::Own(Arc::new(entries))
    }

    pub(in crate::cel) fn len(&self) -> usize {
        match self {
            Self::Data(fields, _) => fields.len(),
            Self::Own(entries) => entries.len(),
        }
    }

    /// The value of a key, if there is one.
    pub(in crate::cel) fn find(&self, key: &Val<'a>) -> Result<Option<Val<'a>>, Failure> {
        match self {
            Self::Own(entries) => Ok(Key::of(key).and_then(|key| entries.get(&key).cloned())),
            Self::Data(fields, schema) => {
                let Val::String(text) = key else { return no_overload() };
                find_field(fields, schema, text)
            }
        }
    }

    /// The value of a key.
    pub(in crate::cel) fn get(&self, key: &Val<'a>) -> Outcome<'a> {
        match self.find(key)? {
            Some(value) => Ok(value),
            None => error(format!("no such key: {key}")),
        }
    }

    /// The field as it is in the object, without a schema.
    pub(in crate::cel) fn raw(&self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Data(fields, _) => fields.get(name),
            Self::Own(_) => None,
        }
    }

    /// The keys in order.
    pub(in crate::cel) fn keys(&self) -> Vec<Val<'a>> {
        match self {
            Self::Own(entries) => entries.keys().map(Key::value).collect(),
            Self::Data(fields, schema) if is_map(schema) => {
                fields.keys().map(|key| Val::String(Text::Borrowed(key))).collect()
            }
            Self::Data(fields, schema) => {
                let declared = fields.keys().filter(|key| schema.properties.contains_key(*key));
                declared.map(|key| Val::text(escape(key).unwrap_or_else(|| key.clone()))).collect()
            }
        }
    }

    /// This map with another entry.
    pub(in crate::cel) fn inserted(
        mut self,
        key: &Val<'a>,
        value: Val<'a>,
    ) -> Result<Self, Failure> {
        let Self::Own(entries) = &mut self else {
            let mut entries = BTreeMap::new();
            for key in self.keys() {
                let value = self.get(&key)?;
                Key::of(&key).map(|key| entries.insert(key, value));
            }
            return Self::own(entries).inserted(key, value);
        };
        let Some(known) = Key::of(key) else {
            return error(format!("unsupported key type: {}", key.type_name()));
        };
        if entries.contains_key(&known) {
            return error(format!("insert failed: key {key} already exists"));
        }
        Arc::make_mut(entries).insert(known, value);
        Ok(self)
    }

    /// Whether both have equal entries.
    pub(in crate::cel) fn equals(&self, other: &Self) -> Result<bool, Failure> {
        if self.len() != other.len() {
            return Ok(false);
        }
        if let (Self::Data(mine, schema), Self::Data(others, _)) = (self, other) {
            let undeclared = mine.iter().filter(|(key, _)| field_schema(schema, key).is_none());
            for (key, value) in undeclared {
                if others.get(key).is_some_and(|other| other != value) {
                    return Ok(false);
                }
            }
        }
        for key in self.keys() {
            match (self.find(&key)?, other.find(&key)?) {
                (Some(mine), Some(other)) if !equal(&mine, &other)? => return Ok(false),
                (Some(_), None) | (None, Some(_)) => return Ok(false),
                _ => {}
            }
        }
        Ok(true)
    }
}

fn find_field<'a>(
    fields: &'a serde_json::Map<String, Value>,
    schema: &'a Schema,
    identifier: &str,
) -> Result<Option<Val<'a>>, Failure> {
    let is_object = !schema.properties.is_empty();
    let unescaped = if is_object { unescape(identifier) } else { None };
    if is_object && unescaped.is_none() {
        return Ok(None);
    }
    let name = unescaped.as_deref().unwrap_or(identifier);
    let Some(value) = fields.get(name) else { return Ok(None) };
    if is_object && value.is_null() {
        return Ok(None);
    }
    let Some(schema) = field_schema(schema, name) else { return Ok(None) };
    of_data(value, schema).map(Some)
}

fn field_schema<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
    if !schema.properties.is_empty() {
        return schema.properties.get(name).map(|schema| &**schema);
    }
    schema.additional_properties.as_deref().filter(|values| **values != Schema::default())
}
