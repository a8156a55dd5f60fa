//! What our field manager owns of a value within an object.

use serde_json::{Map, Value};

use crate::object::{FieldItem, FieldSet};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Owned<'a> {
    Nothing,
    /// All of it, as part of an atomic value.
    Whole,
    /// What the members list; all of it where there are none.
    Node(&'a FieldSet),
}

impl<'a> Owned<'a> {
    /// What is owned of an object whose `fieldsV1` these are.
    pub(crate) fn root(fields: Option<&'a FieldSet>) -> Self {
        fields.filter(|node| !node.is_leaf()).map_or(Self::Nothing, Self::Node)
    }

    pub(crate) fn is_whole(self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Whole => true,
            Self::Node(node) => node.is_leaf(),
        }
    }

    /// Whether the value, or something in it, is owned.
    pub(crate) fn is_something(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub(crate) fn field(self, name: &str) -> Self {
        match self {
            Self::Node(node) if !node.is_leaf() => {
                node.field(name).map_or(Self::Nothing, Self::Node)
            }
            other if other.is_whole() => Self::Whole,
            _ => Self::Nothing,
        }
    }

    /// What is owned of the items of the list, if the list has keys.
    pub(crate) fn keyed(self) -> Option<&'a [FieldItem]> {
        self.node().map(FieldSet::items).filter(|items| !items.is_empty())
    }

    /// The owned items of the list, if it is a set.
    pub(crate) fn set(self) -> Option<&'a [Value]> {
        self.node().map(FieldSet::values).filter(|values| !values.is_empty())
    }

    /// The fields of which something is owned.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'a str, Self)> {
        let fields = self.node().into_iter().flat_map(FieldSet::fields);
        fields.map(|(name, inner)| (name, Self::Node(inner)))
    }

    fn node(self) -> Option<&'a FieldSet> {
        match self {
            Self::Node(node) => Some(node),
            Self::Nothing | Self::Whole => None,
        }
    }
}

/// The keys of an item of a list, as far as it has them.
pub(crate) fn keys_of<'n>(
    item: &Value,
    names: impl IntoIterator<Item = &'n String>,
) -> Map<String, Value> {
    let key = |name: &String| Some((name.clone(), item.get(name)?.clone()));
    names.into_iter().filter_map(key).collect()
}

pub(crate) fn has_keys(item: &Value, keys: &Map<String, Value>) -> bool {
    keys.iter().all(|(name, key)| item.get(name) == Some(key))
}

/// Finds for each desired item of a list with keys the target with the same keys. A desired item
/// may lack a key that the server defaults (the protocol of a port): it gets a remaining target.
pub(crate) fn pair<'k>(
    desired: &[Value],
    targets: impl IntoIterator<Item = &'k Map<String, Value>>,
) -> Vec<Option<usize>> {
    let targets: Vec<_> = targets.into_iter().collect();
    let mut paired = vec![None; desired.len()];
    let mut taken = vec![false; targets.len()];
    for fits in [has_keys, has_no_other_keys] {
        for (item, pair) in desired.iter().zip(&mut paired).filter(|(_, pair)| pair.is_none()) {
            let free = |at: &usize| !taken[*at] && fits(item, targets[*at]);
            *pair = (0..targets.len()).find(free);
            if let Some(at) = *pair {
                taken[at] = true;
            }
        }
    }
    paired
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
    fn items_are_paired_by_their_keys_and_those_with_defaulted_keys_get_the_rest() {
        let targets = keys(&json!([
            {"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"},
        ]));
        let desired = [json!({"port": 53}), json!({"port": 53, "protocol": "TCP"})];
        assert_eq!(pair(&desired, &targets), [Some(1), Some(0)]);
        let desired = [json!({"port": 54}), json!({"protocol": "UDP", "port": 53}), json!({})];
        assert_eq!(pair(&desired, &targets), [None, Some(1), None]);
    }

    #[test]
    fn the_content_of_a_leaf_is_owned_as_a_whole() {
        let fields = FieldSet::parse(r#"{"f:a": {}, "f:b": {".": {}, "f:c": {}}}"#).unwrap();
        let root = Owned::root(Some(&fields));
        assert!(root.field("a").field("x").field("y").is_whole());
        assert!(root.field("b").field("c").is_whole() && !root.field("b").is_whole());
        assert!(!root.field("b").field("d").is_something());
        assert!(!Owned::root(Some(&FieldSet::default())).is_something());
    }
}
