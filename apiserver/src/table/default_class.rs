//! The storage class that a list marks as the default: the newest of those that say so. A class alone is not marked.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::resource::Resource;

/// The annotations of which one says so.
const ANNOTATIONS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// Whether lists of the type mark one.
pub(crate) fn has_default(resource: &Resource) -> bool {
    !resource.is_custom() && resource.id.plural == "storageclasses"
}

/// The name of the default among the classes of a list.
pub(crate) fn default_class(classes: impl Iterator<Item = Value>) -> Option<String> {
    let says_so = |class: &Value| {
        ANNOTATIONS.iter().any(|name| class["metadata"]["annotations"][*name] == "true")
    };
    let text = |class: &Value, field: &str| class["metadata"][field].as_str().map(str::to_owned);
    let newest = |class: &Value| (text(class, "creationTimestamp"), Reverse(text(class, "name")));
    classes.filter(says_so).max_by_key(newest).and_then(|class| text(&class, "name"))
}

/// Marks the class of a row.
pub(crate) fn mark_default(row: &mut Value) {
    let name = row["cells"][0].as_str().unwrap_or_default();
    row["cells"][0] = json!(format!("{name} (default)"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, created: &str, is_default: bool) -> Value {
        let annotations = json!({ANNOTATIONS[0]: is_default.to_string()});
        json!({"metadata": {"name": name, "creationTimestamp": created, "annotations": annotations}})
    }

    #[test]
    fn the_newest_class_that_says_so_is_the_default_then_the_first_by_name() {
        let default_of = |classes: &[Value]| default_class(classes.iter().cloned());
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        assert_eq!(default_of(&[class("a", new, false)]), None);
        let classes = [class("a", old, true), class("c", new, true), class("b", new, true)];
        assert_eq!(default_of(&classes).as_deref(), Some("b"));
    }

    #[test]
    fn a_marked_row_says_that_it_is_the_default() {
        let mut row = json!({"cells": ["fast", "x"]});
        mark_default(&mut row);
        assert_eq!(row["cells"], json!(["fast (default)", "x"]));
    }
}
