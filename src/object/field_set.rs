//! What a field manager owns of an object: `fieldsV1`, read once, to be walked beside values.
//!
//! `f:name` is a field, `k:{..}` an item of a list by its keys, `v:..` an item of a set, `.` the
//! value itself; what has nothing inside is owned as a whole. The format is that of
//! [structured-merge-diff](https://github.com/kubernetes-sigs/structured-merge-diff), `fieldpath`.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{Uid, json::BorrowedText};

/// Stands in a text for the uid of the object's controller; no key of a list is written with it.
pub(super) const CONTROLLER: char = '\0';

/// Which parts of a value a field manager owns. Borrows the names from the object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldSet<'a> {
    /// By name, sorted.
    fields: Vec<(Cow<'a, str>, FieldSet<'a>)>,
    items: Vec<FieldItem<'a>>,
    values: Vec<Value>,
    has_members: bool,
}

/// What is owned of an item of a list with keys.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldItem<'a> {
    /// The fields that tell the item from the others.
    pub keys: Map<String, Value>,
    /// What is owned of it.
    pub owned: FieldSet<'a>,
}

impl<'a> FieldSet<'a> {
    /// Reads `fieldsV1`.
    ///
    /// # Errors
    /// It is not JSON, or holds something else than objects.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        Self::parse_of(None, text)
    }

    /// Reads it from a text that may have [`CONTROLLER`] for the uid of the controller.
    pub(super) fn parse_of(controller: Option<&Uid>, text: &'a str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Reading { controller }.deserialize(&mut deserializer)
    }

    /// Whether nothing is said of what is inside: then the value is owned as a whole.
    pub fn is_leaf(&self) -> bool {
        !self.has_members
    }

    /// What is owned of a field; `None` if nothing is.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let at = self.fields.binary_search_by(|(other, _)| other.as_ref().cmp(name)).ok()?;
        Some(&self.fields[at].1)
    }

    /// The fields of which something is owned, by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields.iter().map(|(name, inner)| (name.as_ref(), inner))
    }

    /// The items of a list with keys of which something is owned.
    pub fn items(&self) -> &[FieldItem<'a>] {
        &self.items
    }

    /// The owned items of a set.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    fn add(&mut self, member: Cow<'a, str>, owned: Self) {
        self.has_members = true;
        match member.split_at_checked(2) {
            Some(("f:", _)) => self.fields.push((without_prefix(member), owned)),
            Some(("k:", keys)) => {
                let keys = serde_json::from_str(keys).ok();
                self.items.extend(keys.map(|keys| FieldItem { keys, owned }));
            }
            Some(("v:", value)) => self.values.extend(serde_json::from_str::<Value>(value)),
            Some(_) | None => {}
        }
    }
}

fn without_prefix(member: Cow<'_, str>) -> Cow<'_, str> {
    match member {
        Cow::Borrowed(member) => Cow::Borrowed(&member[2..]),
        Cow::Owned(mut member) => {
            member.drain(..2);
            Cow::Owned(member)
        }
    }
}

/// Reads a [`FieldSet`] of an object with this controller.
#[derive(Clone, Copy)]
struct Reading<'c> {
    controller: Option<&'c Uid>,
}

impl Reading<'_> {
    fn whole(self, member: Cow<'_, str>) -> Cow<'_, str> {
        match self.controller {
            Some(uid) if member.contains(CONTROLLER) => {
                Cow::Owned(member.replace(CONTROLLER, &uid.to_string()))
            }
            _ => member,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = FieldSet<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = FieldSet<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the members of fieldsV1")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut set = FieldSet::default();
        while let Some(BorrowedText(member)) = map.next_key()? {
            let owned = map.next_value_seed(self)?;
            set.add(self.whole(member), owned);
        }
        // They are: the server sorts them.
        if !set.fields.is_sorted_by(|(a, _), (b, _)| a <= b) {
            set.fields.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_member_is_found_where_it_belongs() {
        let text = json!({
            "f:z": {}, "f:a": {".": {}, "f:b/c": {}}, "v:\"x\"": {}, "v:1": {}, ".": {}, "i:0": {},
            "k:{\"port\":80}": {"f:port": {}}, "k:broken": {},
        });
        let text = text.to_string();
        let set = FieldSet::parse(&text).unwrap();
        let names: Vec<_> = set.fields().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "z"]);
        let inner = set.field("a").unwrap();
        assert!(!inner.is_leaf() && inner.field("b/c").unwrap().is_leaf());
        assert!(set.field("z").unwrap().is_leaf() && set.field("b").is_none());
        assert_eq!(set.values(), [json!("x"), json!(1)]);
        let [FieldItem { keys, owned }] = set.items() else { panic!("{set:?}") };
        assert_eq!(keys["port"], 80);
        assert!(owned.field("port").is_some());
        assert!(FieldSet::parse("{}").unwrap().is_leaf());
        for broken in ["[]", "{\"f:a\":null}", "{"] {
            assert!(FieldSet::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn fields_are_found_in_whatever_order_they_were_written() {
        let set = FieldSet::parse(r#"{"f:c":{},"f:a":{},"f:\u0062":{}}"#).unwrap();
        assert!(["a", "b", "c"].iter().all(|name| set.field(name).is_some()));
    }

    #[test]
    fn the_uid_of_the_controller_is_put_back_in() {
        let uid = Uid::new("0a1b");
        let text = r#"{"k:{\"uid\":\"\u0000\"}":{},"f:x":{}}"#;
        let set = FieldSet::parse_of(Some(&uid), text).unwrap();
        assert_eq!(set.items()[0].keys["uid"], "0a1b");
    }
}
