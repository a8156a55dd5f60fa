//! What a field manager owns of an object: `fieldsV1`, parsed once, to be compared with values.
//!
//! `f:name` is a field, `k:{..}` an item of a list by its keys, `v:..` an item of a set, `.` the
//! value itself; what has nothing inside is owned as a whole. The format is that of
//! [structured-merge-diff](https://github.com/kubernetes-sigs/structured-merge-diff), `fieldpath`.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{Uid, json::BorrowedText};

/// Replaces the uid of the object's controller in a text; no key of a list contains it.
pub(super) const CONTROLLER: &str = "\0";

/// Which parts of a value a field manager owns. Cheap to clone: the same fields of many objects are
/// parsed once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FieldSet(Option<Arc<Members>>);

#[derive(Debug, Default, PartialEq)]
struct Members {
    /// By name, sorted.
    fields: Vec<(Box<str>, FieldSet)>,
    items: Vec<FieldItem>,
    values: Vec<Value>,
    /// Whether [`CONTROLLER`] occurs anywhere in it.
    names_controller: bool,
}

/// What is owned of an item of a list with keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldItem {
    /// The fields that identify the item.
    pub keys: Map<String, Value>,
    /// What is owned of it.
    pub owned: FieldSet,
}

impl FieldSet {
    /// Reads `fieldsV1`.
    ///
    /// # Errors
    /// It is not JSON, or holds something else than objects.
    pub(crate) fn parse(text: &str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Reading.deserialize(&mut deserializer)
    }

    /// The same for an object with this controller: its uid replaces [`CONTROLLER`].
    pub(super) fn of(&self, controller: &Uid) -> Self {
        if !self.names_controller() {
            return self.clone();
        }
        self.with(&controller.to_string().into())
    }

    fn with(&self, controller: &Value) -> Self {
        match &self.0 {
            Some(members) if members.names_controller => {
                Self(Some(Arc::new(members.with(controller))))
            }
            _ => self.clone(),
        }
    }

    /// Whether nothing inside is listed: then the value is owned as a whole.
    pub(crate) fn is_leaf(&self) -> bool {
        self.0.is_none()
    }

    /// What is owned of a field; `None` if nothing is.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let fields = &self.0.as_ref()?.fields;
        let at = fields.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
        Some(&fields[at].1)
    }

    /// The fields of which something is owned, by name.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = self.0.iter().flat_map(|members| &members.fields);
        fields.map(|(name, inner)| (&**name, inner))
    }

    /// The items of a list with keys of which something is owned.
    pub(crate) fn items(&self) -> &[FieldItem] {
        self.0.as_ref().map_or(&[], |members| &members.items)
    }

    /// The owned items of a set.
    pub(crate) fn values(&self) -> &[Value] {
        self.0.as_ref().map_or(&[], |members| &members.values)
    }

    fn names_controller(&self) -> bool {
        self.0.as_ref().is_some_and(|members| members.names_controller)
    }
}

impl Members {
    fn add(&mut self, member: &str, owned: FieldSet) {
        self.names_controller |= member.contains(CONTROLLER) || owned.names_controller();
        match member.split_at_checked(2) {
            Some(("f:", name)) => self.fields.push((name.into(), owned)),
            Some(("k:", keys)) => {
                let keys = serde_json::from_str(&escaped(keys)).ok();
                self.items.extend(keys.map(|keys| FieldItem { keys, owned }));
            }
            Some(("v:", value)) => {
                self.values.extend(serde_json::from_str::<Value>(&escaped(value)));
            }
            Some(_) | None => {}
        }
    }

    /// With the uid of the controller in place of [`CONTROLLER`].
    fn with(&self, controller: &Value) -> Self {
        let inner = |owned: &FieldSet| owned.with(controller);
        let whole = |value: &Value| if value == CONTROLLER { controller } else { value }.clone();
        let item = |FieldItem { keys, owned }: &FieldItem| FieldItem {
            keys: keys.iter().map(|(name, key)| (name.clone(), whole(key))).collect(),
            owned: inner(owned),
        };
        Self {
            fields: self.fields.iter().map(|(name, owned)| (name.clone(), inner(owned))).collect(),
            items: self.items.iter().map(item).collect(),
            values: self.values.iter().map(whole).collect(),
            names_controller: false,
        }
    }
}

/// JSON does not allow that character in a text.
fn escaped(text: &str) -> Cow<'_, str> {
    if text.contains(CONTROLLER) { text.replace(CONTROLLER, "\\u0000").into() } else { text.into() }
}

/// Reads a [`FieldSet`].
#[derive(Clone, Copy)]
struct Reading;

impl<'de> DeserializeSeed<'de> for Reading {
    type Value = FieldSet;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading {
    type Value = FieldSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the members of fieldsV1")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = None;
        while let Some(BorrowedText(member)) = map.next_key()? {
            let owned = map.next_value_seed(self)?;
            members.get_or_insert_with(Members::default).add(&member, owned);
        }
        if let Some(Members { fields, .. }) = &mut members
            // They are: the server sorts them.
            && !fields.is_sorted_by(|(a, _), (b, _)| a <= b)
        {
            fields.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(FieldSet(members.map(Arc::new)))
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
    fn the_uid_of_the_controller_is_restored() {
        let text = r#"{"f:a":{"k:{\"uid\":\"\u0000\"}":{"f:y":{}}},"f:b":{"v:\"\u0000\"":{}},"f:x":{"f:y":{}}}"#;
        let shared = FieldSet::parse(text).unwrap();
        for uid in ["0a1b", "2c3d"] {
            let set = shared.of(&Uid::new(uid));
            let whole = FieldSet::parse(&text.replace("\\u0000", uid)).unwrap();
            assert_eq!((set.field("a"), set.field("b")), (whole.field("a"), whole.field("b")));
            assert_eq!(set.field("a").unwrap().items()[0].keys["uid"], uid);
        }
    }

    #[test]
    fn any_text_is_a_field_set_or_refused() {
        const TOKENS: [&str; 18] = [
            "{",
            "}",
            "\"f:a\":",
            "\"k:{\\\"a\\\":1}\":",
            "\"v:1\":",
            "\"i:0\":",
            "\".\":",
            "{}",
            ",",
            ":",
            "\"",
            "\\",
            "\\u0000",
            "\"f:",
            "k:",
            "null",
            " ",
            "[",
        ];
        let parser = |text: &str| {
            drop(FieldSet::parse(text));
            drop(FieldSet::parse(&format!("{{{text}}}")));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
