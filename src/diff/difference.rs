//! Where the desired and the live object differ, with both values, to be shown to users. What to do
//! about it is decided elsewhere, by the same comparison.

use serde_json::Value;

use super::{
    Difference, contained,
    fields::pair,
    owned::{self, Ownership},
    path::{Segment, keys, render},
};
use crate::{
    object::{FieldSet, K8sType},
    reply::Defaults,
};

/// At most so many are shown of one object.
const MAX_DIFFERENCES: usize = 50;

/// Where they differ; `fields` is what our manager owns of the live object.
pub(crate) fn compare<'a>(
    ty: &K8sType,
    desired: &'a Value,
    live: &'a Value,
    fields: Option<&FieldSet>,
    defaults: &'a Defaults,
) -> Vec<Difference<'a>> {
    let mut found = contained::compared(ty, desired, live, (fields, defaults), MAX_DIFFERENCES);
    let Some(fields) = fields else { return found };
    let Ownership { beyond, lost } = owned::ownership(fields, desired);
    let difference = |path: String| {
        let (desired, live) = (at(desired, &path), at(live, &path));
        Difference { path, desired, live }
    };
    found.extend(beyond.into_iter().map(difference));
    if found.is_empty() {
        found.extend(lost.into_iter().map(difference));
    }
    found
}

/// The value at a path; an item of a list is found by its keys alone.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    if let Value::Array(items) = value {
        let (keys, rest) = keys(path)?;
        let index = pair(items, [&keys]).iter().position(Option::is_some)?;
        return at(&items[index], rest);
    }
    let fields = value.as_object()?.iter();
    let mut inner = fields.filter_map(|(name, field)| {
        let rest = path.strip_prefix(&render(&Segment::Field(name)))?;
        let ends = rest.is_empty() || rest.starts_with(['.', '[']);
        ends.then(|| at(field, rest))?
    });
    inner.next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_by_its_path_and_not_by_the_beginning_of_a_name() {
        let ports =
            json!([{"port": 53, "name": "t"}, {"port": 53, "protocol": "UDP", "name": "u"}]);
        let value = json!({"a": {"b/c": 1, "b": {"d": 2}, "bb": 3}, "list": [1], "ports": ports});
        for (path, found) in [
            (".a[\"b/c\"]", Some(json!(1))),
            (".a.b.d", Some(json!(2))),
            (".a.bb", Some(json!(3))),
            (".a.x", None),
            (".list[0]", None),
            (".ports[port=53,protocol=\"UDP\"].name", Some(json!("u"))),
            (".ports[port=53,protocol=\"TCP\"].name", Some(json!("t"))),
            (".ports[port=54,protocol=\"TCP\"]", None),
        ] {
            assert_eq!(at(&value, path), found.as_ref(), "{path}");
        }
    }
}
