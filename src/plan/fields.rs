//! Reading `fieldsV1`: which paths of an object a field manager owns.
//!
//! `f:name` is a field, `k:{..}` an item of a list by its keys, `v:..` an item of a set, `.` the
//! value itself; a node without members is a value that is owned as a whole.

use serde_json::{Map, Value};

/// What is owned of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owned<'a> {
    /// Nothing.
    Nothing,
    /// All of it, as part of an atomic value.
    Whole,
    /// What the members say; all of it where there are none.
    Node(&'a Map<String, Value>),
}

impl<'a> Owned<'a> {
    /// What is owned of an object whose `fieldsV1` these are.
    pub(super) fn root(fields: Option<&'a Value>) -> Self {
        match fields.and_then(Value::as_object) {
            Some(node) if !node.is_empty() => Self::Node(node),
            Some(_) | None => Self::Nothing,
        }
    }

    /// Whether the value is owned as a whole.
    pub(super) fn is_whole(self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Whole => true,
            Self::Node(node) => node.is_empty(),
        }
    }

    /// Whether the value, or something in it, is owned.
    pub(super) fn is_something(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// What is owned of a field of the value.
    pub(super) fn field(self, name: &str) -> Self {
        match self {
            Self::Node(node) if !node.is_empty() => node
                .get(&format!("f:{name}"))
                .and_then(Value::as_object)
                .map_or(Self::Nothing, Self::Node),
            other if other.is_whole() => Self::Whole,
            _ => Self::Nothing,
        }
    }

    /// What is owned of the items of the list, if the list has keys.
    pub(super) fn keyed(self) -> Option<Vec<Item<'a>>> {
        let items: Vec<_> = self.members().filter_map(|(name, node)| item(name, node)).collect();
        (!items.is_empty()).then_some(items)
    }

    /// The owned items of the list, if it is a set.
    pub(super) fn set(self) -> Option<Vec<Value>> {
        let value = |(name, _): (&str, _)| serde_json::from_str(name.strip_prefix("v:")?).ok();
        let values: Vec<Value> = self.members().filter_map(value).collect();
        (!values.is_empty()).then_some(values)
    }

    /// The members of the node.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let node = match self {
            Self::Node(node) => Some(node),
            Self::Nothing | Self::Whole => None,
        };
        let inner = |value: &'a Value| value.as_object().map_or(Self::Nothing, Self::Node);
        node.into_iter().flatten().map(move |(name, value)| (name.as_str(), inner(value)))
    }
}

/// An item of a list with keys.
#[derive(Debug, Clone)]
pub(super) struct Item<'a> {
    /// The fields that tell it from the others.
    pub(super) keys: Map<String, Value>,
    /// What is owned of it.
    pub(super) owned: Owned<'a>,
}

impl Item<'_> {
    /// Whether a complete item of the list is this one.
    pub(super) fn is(&self, value: &Value) -> bool {
        self.keys.iter().all(|(name, key)| value.get(name) == Some(key))
    }
}

fn item<'a>(name: &str, owned: Owned<'a>) -> Option<Item<'a>> {
    let keys = serde_json::from_str(name.strip_prefix("k:")?).ok()?;
    Some(Item { keys, owned })
}

/// Finds for each desired item of a list with keys the target with the same keys. A desired item
/// may lack a key that the server defaults (the protocol of a port): it gets what is left over.
pub(super) fn pair(desired: &[Value], targets: &[Map<String, Value>]) -> Vec<Option<usize>> {
    let mut paired = vec![None; desired.len()];
    let mut taken = vec![false; targets.len()];
    for fits in [has_keys, has_no_other_keys] {
        for (item, pair) in desired.iter().zip(&mut paired).filter(|(_, pair)| pair.is_none()) {
            let free = |at: &usize| !taken[*at] && fits(item, &targets[*at]);
            *pair = (0..targets.len()).find(free);
            if let Some(at) = *pair {
                taken[at] = true;
            }
        }
    }
    paired
}

fn has_keys(item: &Value, keys: &Map<String, Value>) -> bool {
    keys.iter().all(|(name, key)| item.get(name) == Some(key))
}

fn has_no_other_keys(item: &Value, keys: &Map<String, Value>) -> bool {
    let mut named = keys.iter().filter_map(|(name, key)| Some((item.get(name)?, key))).peekable();
    named.peek().is_some() && named.all(|(value, key)| value == key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(values: &Value) -> Vec<Map<String, Value>> {
        values.as_array().unwrap().iter().map(|keys| keys.as_object().unwrap().clone()).collect()
    }

    #[test]
    fn items_are_paired_by_their_keys_and_defaulted_keys_get_what_is_left() {
        let targets = keys(&json!([
            {"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"},
        ]));
        let desired = [json!({"port": 53}), json!({"port": 53, "protocol": "TCP"})];
        assert_eq!(pair(&desired, &targets), [Some(1), Some(0)]);
        let desired = [json!({"port": 54}), json!({"protocol": "UDP", "port": 53}), json!({})];
        assert_eq!(pair(&desired, &targets), [None, Some(1), None]);
    }

    #[test]
    fn what_is_inside_of_a_leaf_is_owned_as_a_whole() {
        let fields = json!({"f:a": {}, "f:b": {".": {}, "f:c": {}}});
        let root = Owned::root(Some(&fields));
        assert!(root.field("a").field("x").field("y").is_whole());
        assert!(root.field("b").field("c").is_whole() && !root.field("b").is_whole());
        assert!(!root.field("b").field("d").is_something());
        assert!(!Owned::root(Some(&json!({}))).is_something());
    }
}
