//! Who else writes an object, read from all of its `managedFields`.

use serde_json::{Map, Value};

/// The manager, not `ours`, that owns one of these paths; otherwise the last writer, if it wrote after
/// us. Without paths the last writer of the subresource. `None` when there is no other
/// manager.
pub(crate) fn rival(
    object: &Value,
    paths: &[String],
    ours: &str,
    subresource: Option<&str>,
) -> Option<String> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    // Writes through `scale` change the object itself.
    let is_here = |entry: &&Value| match subresource {
        Some(name) => entry["subresource"] == name,
        None => entry["subresource"] != "status",
    };
    let (our, others): (Vec<_>, Vec<_>) =
        entries.iter().filter(is_here).partition(|entry| entry["manager"] == ours);
    let time = |entry: &&Value| entry["time"].as_str().unwrap_or_default().to_owned();
    let owns = |entry: &&&Value| paths.iter().any(|path| owns(&entry["fieldsV1"], path));
    let owner = others.iter().filter(owns).max_by_key(|entry| time(entry));
    let our_last = our.iter().map(time).max().unwrap_or_default();
    let last = || others.iter().filter(|it| time(it) >= our_last).max_by_key(|entry| time(entry));
    Some(owner.or_else(last)?["manager"].as_str()?.to_owned())
}

/// Whether the value at a path, as [`Path`](super::path::Path) renders it, or something in it or
/// around it as a whole, is in `fieldsV1`. Any item of a list will do: its position does not
/// matter.
fn owns(fields: &Value, path: &str) -> bool {
    let Some(node) = fields.as_object() else { return false };
    match next(path) {
        None => true,
        Some((Step::Field(name), rest)) => {
            node.get(&format!("f:{name}")).is_some_and(|inner| is_leaf(inner) || owns(inner, rest))
        }
        Some((Step::Item, rest)) => {
            let mut items = node.iter().filter(|(name, _)| !name.starts_with("f:"));
            items.any(|(_, inner)| is_leaf(inner) || owns(inner, rest))
        }
    }
}

fn is_leaf(node: &Value) -> bool {
    node.as_object().is_some_and(Map::is_empty)
}

enum Step {
    Field(String),
    Item,
}

/// The first step of a path and what follows.
fn next(path: &str) -> Option<(Step, &str)> {
    if let Some(path) = path.strip_prefix('.') {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        return Some((Step::Field(path[..end].to_owned()), &path[end..]));
    }
    let inside = path.strip_prefix('[')?;
    let mut texts = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    if let Some(Ok(name)) = texts.next() {
        let rest = &inside[texts.byte_offset()..];
        return Some((Step::Field(name), rest.strip_prefix(']').unwrap_or(rest)));
    }
    let end = inside.find(']').map_or(inside.len(), |end| end + 1);
    Some((Step::Item, &inside[end..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, time: u8, fields: &Value) -> Value {
        let time = format!("2026-01-01T00:00:{time:02}Z");
        json!({"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields})
    }

    fn object(entries: &[Value]) -> Value {
        json!({"metadata": {"managedFields": entries}})
    }

    #[test]
    fn the_owner_of_a_path_is_found_or_else_the_last_writer() {
        let fields = |name: &str| json!({"f:data": {format!("f:{name}"): {}}});
        let mut status = entry("kubelet", 59, &json!({"f:status": {"f:taste": {}}}));
        status["subresource"] = json!("status");
        let entries = [
            entry("op", 20, &fields("a")),
            entry("owner", 10, &fields("b/c")),
            entry("late", 30, &fields("d")),
            status,
        ];
        let find = |paths: &[&str], entries: &[Value], subresource| {
            let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
            rival(&object(entries), &paths, "op", subresource)
        };
        for (paths, expected) in [
            (vec![".data[\"b/c\"]"], "owner"),
            (vec![".data.x", ".data.d"], "late"),
            (vec![".data.x"], "late"),
            (vec![], "late"),
        ] {
            assert_eq!(find(&paths, &entries, None).as_deref(), Some(expected), "{paths:?}");
        }
        assert_eq!(find(&[".data.x"], &entries[..2], None), None, "it wrote before us");
        assert_eq!(find(&[], &entries, Some("status")).as_deref(), Some("kubelet"));
        let mut scaled = entry("hpa", 10, &json!({"f:spec": {"f:replicas": {}}}));
        scaled["subresource"] = json!("scale");
        let scaled = [entry("op", 5, &fields("a")), entry("late", 30, &fields("d")), scaled];
        assert_eq!(find(&[".spec.replicas"], &scaled, None).as_deref(), Some("hpa"));
        assert_eq!(find(&[], &[], None), None);
    }

    #[test]
    fn a_path_through_a_list_or_an_atomic_value_is_owned() {
        let fields = json!({"f:spec": {
            "f:selector": {},
            "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}},
            "f:finalizers": {"v:\"x\"": {}},
        }});
        for (path, is_owned) in [
            (".spec.ports[0].name", true),
            (".spec.ports[port=80,protocol=\"TCP\"]", true),
            (".spec.ports[0].port", false),
            (".spec.selector[\"a.b/c\"]", true),
            (".spec.finalizers[0]", true),
            (".spec.type", false),
            (".spec", true),
        ] {
            assert_eq!(owns(&fields, path), is_owned, "{path}");
        }
    }
}
