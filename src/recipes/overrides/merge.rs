//! Merges the override into the object, field by field and item by item.

use serde_json::{Map, Value};

use super::{
    error::OverrideError,
    list_keys::{Items, ListKeys},
};
use crate::diff::path::{Path, Segment};

/// No object of Kubernetes is nested deeper; more would overflow the stack.
const MAX_DEPTH: usize = 100;
const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";

/// The object after the override.
pub(super) fn merged(
    lists: ListKeys,
    object: &Value,
    overriding: &Value,
) -> Result<Value, OverrideError> {
    let mut merge = Merge { lists, path: Path::default(), fields: Vec::new(), depth: 0 };
    if !object.is_object() {
        return Err(merge.other_type(object, overriding));
    }
    merge.value(object, overriding)
}

struct Merge<'a> {
    lists: ListKeys,
    path: Path<'a>,
    /// The names of the fields of the path.
    fields: Vec<&'a str>,
    depth: usize,
}

impl<'a> Merge<'a> {
    fn value(&mut self, own: &Value, theirs: &'a Value) -> Result<Value, OverrideError> {
        match (own, theirs) {
            (Value::Object(own), Value::Object(theirs)) => {
                Ok(Value::Object(self.object(own, theirs)?))
            }
            (Value::Array(own), Value::Array(theirs)) => Ok(Value::Array(self.list(own, theirs)?)),
            (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => {
                Err(self.other_type(own, theirs))
            }
            // A port may be a number or a name.
            (_, theirs) => Ok(theirs.clone()),
        }
    }

    fn object(
        &mut self,
        own: &Map<String, Value>,
        theirs: &'a Map<String, Value>,
    ) -> Result<Map<String, Value>, OverrideError> {
        let mut merged = match self.patch_of(theirs)? {
            Some(Patch::Delete) => return Ok(Map::new()),
            Some(Patch::Replace) => Map::new(),
            None => own.clone(),
        };
        if let Some(kept) = theirs.get(RETAIN_KEYS) {
            let kept = kept.as_array().ok_or_else(|| self.directive(RETAIN_KEYS))?;
            merged.retain(|name, _| kept.iter().any(|it| it == name));
        }
        for (name, value) in
            theirs.iter().filter(|(name, _)| *name != PATCH && *name != RETAIN_KEYS)
        {
            if name.starts_with('$') {
                return Err(self.directive(name));
            }
            let after = self.at_field(name, |this| this.field(merged.get(name), value))?;
            match after {
                Some(value) => drop(merged.insert(name.clone(), value)),
                None => drop(merged.remove(name)),
            }
        }
        Ok(merged)
    }

    fn field(
        &mut self,
        own: Option<&Value>,
        theirs: &'a Value,
    ) -> Result<Option<Value>, OverrideError> {
        match (own, theirs) {
            (_, Value::Null) => Ok(None),
            (Some(own), theirs) if !own.is_null() => self.value(own, theirs).map(Some),
            // Without nulls and words for what is not there.
            (_, Value::Object(theirs)) => {
                let is_deletion = self.patch_of(theirs)? == Some(Patch::Delete);
                let merged = self.object(&Map::new(), theirs)?;
                Ok((!is_deletion).then_some(Value::Object(merged)))
            }
            (_, Value::Array(theirs)) => Ok(Some(Value::Array(self.list(&[], theirs)?))),
            (_, theirs) => Ok(Some(theirs.clone())),
        }
    }

    fn list(&mut self, own: &[Value], theirs: &'a [Value]) -> Result<Vec<Value>, OverrideError> {
        match self.lists.of(&self.fields) {
            None => Ok(theirs.to_vec()),
            Some(Items::Set) => {
                let added = theirs.iter().filter(|value| !own.contains(value));
                Ok(own.iter().chain(added).cloned().collect())
            }
            Some(Items::Keyed { key, further }) => self.keyed(own, theirs, key, further),
        }
    }

    fn keyed(
        &mut self,
        own: &[Value],
        theirs: &'a [Value],
        key: &'static str,
        further: Option<(&'static str, &'static str)>,
    ) -> Result<Vec<Value>, OverrideError> {
        let mut replaces = false;
        for item in theirs.iter().filter_map(Value::as_object) {
            replaces |= self.patch_of(item)? == Some(Patch::Replace);
        }
        let mut merged = if replaces { Vec::new() } else { own.to_vec() };
        for item in theirs {
            let item = item
                .as_object()
                .ok_or_else(|| self.other_type(&Value::Object(Map::new()), item))?;
            self.item(&mut merged, item, key, further)?;
        }
        Ok(merged)
    }

    fn item(
        &mut self,
        merged: &mut Vec<Value>,
        item: &'a Map<String, Value>,
        key: &'static str,
        further: Option<(&'static str, &'static str)>,
    ) -> Result<(), OverrideError> {
        let patch = self.patch_of(item)?;
        if patch == Some(Patch::Replace) {
            return Ok(());
        }
        let Some(value) = item.get(key).filter(|value| !value.is_null()) else {
            return Err(OverrideError::NoKey { path: self.shown(), key });
        };
        let is_same =
            |other: &Value| other.get(key) == Some(value) && is_same_further(other, item, further);
        if patch == Some(Patch::Delete) {
            merged.retain(|other| !is_same(other));
            return Ok(());
        }
        let keys = Map::from_iter([(key.to_owned(), value.clone())]);
        let at = merged.iter().position(is_same);
        let own = at.and_then(|at| merged[at].as_object().cloned()).unwrap_or_default();
        let after = self.at(Segment::item(keys, 0), |this| this.object(&own, item))?;
        match at {
            Some(at) => merged[at] = Value::Object(after),
            None => merged.push(Value::Object(after)),
        }
        Ok(())
    }

    fn patch_of(&self, fields: &Map<String, Value>) -> Result<Option<Patch>, OverrideError> {
        let Some(word) = fields.get(PATCH) else { return Ok(None) };
        match word.as_str() {
            Some("delete") => Ok(Some(Patch::Delete)),
            Some("replace") => Ok(Some(Patch::Replace)),
            Some(word) => Err(self.directive(&format!("{PATCH}: {word}"))),
            None => Err(self.directive(PATCH)),
        }
    }

    fn at_field<T>(
        &mut self,
        name: &'a str,
        inside: impl FnOnce(&mut Self) -> Result<T, OverrideError>,
    ) -> Result<T, OverrideError> {
        self.fields.push(name);
        let result = self.at(Segment::Field(name), inside);
        self.fields.pop();
        result
    }

    fn at<T>(
        &mut self,
        segment: Segment<'a>,
        inside: impl FnOnce(&mut Self) -> Result<T, OverrideError>,
    ) -> Result<T, OverrideError> {
        if self.depth == MAX_DEPTH {
            return Err(OverrideError::TooDeep(MAX_DEPTH));
        }
        self.depth += 1;
        self.path.enter(segment);
        let result = inside(self);
        self.path.leave();
        self.depth -= 1;
        result
    }

    /// The path for users; `.` is the root.
    fn shown(&self) -> String {
        let path = self.path.render();
        if path.is_empty() { ".".to_owned() } else { path }
    }

    fn directive(&self, directive: &str) -> OverrideError {
        OverrideError::Directive { path: self.shown(), directive: directive.to_owned() }
    }

    fn other_type(&self, own: &Value, theirs: &Value) -> OverrideError {
        let (own, overriding) = (name_of(own), name_of(theirs));
        OverrideError::OtherType { path: self.shown(), own, overriding }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patch {
    Delete,
    Replace,
}

/// Whether an item has the further key of one of the override, if that has it.
fn is_same_further(
    own: &Value,
    theirs: &Map<String, Value>,
    further: Option<(&'static str, &'static str)>,
) -> bool {
    let Some((key, default)) = further else { return true };
    theirs.get(key).is_none_or(|value| own.get(key).map_or(value == default, |own| own == value))
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
