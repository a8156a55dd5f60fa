//! Items of lists that collide. Server-side apply merges some lists by keys (the ports of a Service
//! by number and protocol). When another manager changes a key of an item, an apply of the desired
//! item adds a second one, and the server refuses both if they share a value that must be unique
//! (the name of the port).

use serde_json::{Map, Value};

use super::{
    fields::has_keys,
    takeover::{hand_over, is_of_object, union},
};
use crate::{object::quoted, operator::OperatorName};

/// The items of a child that collide with desired ones, as the paths of a response with
/// `FieldValueDuplicate` name them, and that are not desired themselves.
#[derive(Debug, PartialEq)]
pub(crate) struct Collision {
    /// The JSON merge patch after which our apply owns these items, and so removes them. It carries
    /// the version of the object.
    pub(crate) patch: Value,
    /// A sentence with their lists and managers.
    pub(crate) holders: String,
}

/// `live` is the object as the server has it, with all entries of its `managedFields`. `None` when
/// no item of another manager collides.
pub(crate) fn collision(
    live: &Value,
    desired: &Value,
    paths: &[String],
    operator: &OperatorName,
) -> Option<Collision> {
    let colliding = |fields: &Value| {
        let found = paths.iter().filter_map(|path| items(fields, live, desired, &steps(path)));
        found.reduce(|a, b| union(&a, &b))
    };
    let is_others =
        |entry: &Value| is_of_object(entry, live, "Update") || is_of_object(entry, live, "Apply");
    let holders = || {
        let entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        let holding = entries.filter(|entry| {
            entry["manager"] != operator.as_str()
                && is_others(entry)
                && colliding(&entry["fieldsV1"]).is_some()
        });
        let names: Vec<_> = holding.filter_map(|it| it["manager"].as_str()).map(quoted).collect();
        let lists: Vec<_> = paths.iter().map(|path| quoted(list_of(path))).collect();
        format!("an item of {} is owned by {}", lists.join(", "), names.join(", "))
    };
    let patch = hand_over(live, operator, is_others, |fields| match colliding(fields) {
        Some(given) => {
            let left = without(fields, &given);
            (given, left)
        }
        None => (Value::Object(Map::new()), fields.clone()),
    })?;
    Some(Collision { patch, holders: holders() })
}

#[derive(Debug, Clone, PartialEq)]
enum PathStep {
    Field(String),
    Item,
}

/// The steps of `spec.ports[1].name`, as in a cause of a refusal. The index is that of an object
/// that was never stored, and is ignored.
fn steps(path: &str) -> Vec<PathStep> {
    let fields = path.split('.').flat_map(|part| {
        let (name, index) = part.split_once('[').map_or((part, false), |(name, _)| (name, true));
        let field = PathStep::Field(name.to_owned());
        std::iter::once(field).chain(index.then_some(PathStep::Item))
    });
    fields.collect()
}

/// The path of the list, for a message.
fn list_of(path: &str) -> &str {
    path.rfind('[').map_or(path, |at| &path[..at])
}

/// The owned fields of the items that collide, as `fieldsV1`.
fn items(fields: &Value, live: &Value, desired: &Value, steps: &[PathStep]) -> Option<Value> {
    let (step, rest) = steps.split_first()?;
    match step {
        PathStep::Field(name) => {
            let key = format!("f:{name}");
            let inner = items(fields.get(&key)?, live.get(name)?, desired.get(name)?, rest)?;
            Some(Value::Object(Map::from_iter([(key, inner)])))
        }
        PathStep::Item => {
            let (live, desired) = (live.as_array()?, desired.as_array()?);
            let found = fields.as_object()?.iter().filter_map(|(name, node)| {
                let keys: Map<String, Value> =
                    serde_json::from_str(name.strip_prefix("k:")?).ok()?;
                let item = live.iter().find(|item| has_keys(item, &keys))?;
                let same = desired.iter().find(|wanted| fits(wanted, &keys));
                let inner = if rest.contains(&PathStep::Item) {
                    items(node, item, same?, rest)?
                } else {
                    let is_same = |it: &&Value| value_at(it, rest) == value_at(item, rest);
                    let collides = same.is_none() && desired.iter().any(|it| is_same(&it));
                    collides.then(|| node.clone())?
                };
                Some((name.clone(), inner))
            });
            let found: Map<_, _> = found.collect();
            (!found.is_empty()).then_some(Value::Object(found))
        }
    }
}

/// Whether a desired item may have these keys. It may lack a key that the server defaults.
fn fits(desired: &Value, keys: &Map<String, Value>) -> bool {
    let mut named = keys.iter().filter_map(|(name, key)| Some((desired.get(name)?, key)));
    named.all(|(value, key)| value == key)
}

fn value_at<'v>(item: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(item, |value, step| match step {
        PathStep::Field(name) => value.get(name),
        PathStep::Item => None,
    })
}

/// The paths of `fields` that are not in `given`. An empty node is removed: it would mean the whole
/// value.
fn without(fields: &Value, given: &Value) -> Value {
    let Some(nodes) = fields.as_object() else { return fields.clone() };
    let left = nodes.iter().filter_map(|(name, node)| match given.get(name) {
        None => Some((name.clone(), node.clone())),
        Some(given) if given == node => None,
        Some(given) => {
            let left = without(node, given);
            let is_left = left.as_object().is_some_and(|left| !left.is_empty());
            is_left.then_some((name.clone(), left))
        }
    });
    Value::Object(left.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::takeover::tests::entry, *};

    fn port(number: u16) -> String {
        format!(r#"k:{{"port":{number},"protocol":"TCP"}}"#)
    }

    fn found(live_ports: &Value, desired: &Value, entries: &[Value]) -> Option<Collision> {
        let live = json!({
            "apiVersion": "v1", "spec": {"ports": live_ports},
            "metadata": {"uid": "u", "resourceVersion": "7", "managedFields": entries},
        });
        let desired = json!({"spec": {"ports": desired}});
        let paths = ["spec.ports[1].name".to_owned()];
        collision(&live, &desired, &paths, &OperatorName::new("op").unwrap())
    }

    #[test]
    fn a_colliding_item_is_transferred_and_its_managers_other_fields_stay() {
        let item = json!({".": {}, "f:name": {}, "f:port": {}});
        let fields = |port: &str| json!({"f:spec": {"f:ports": {port: item}}});
        let mut theirs = fields(&port(9000));
        theirs["f:spec"]["f:ports"][port(53)] = json!({"f:name": {}});
        theirs["f:metadata"] = json!({"f:labels": {"f:a": {}}});
        let ours = entry("op", "Apply", &json!({"f:spec": {"f:selector": {}}}));
        let live = json!([
            {"name": "http", "port": 9000, "protocol": "TCP"},
            {"name": "dns", "port": 53, "protocol": "TCP"},
        ]);
        let desired = json!([{"name": "http", "port": 80}]);
        let found = found(&live, &desired, &[ours, entry("x`", "Update", &theirs)]).unwrap();
        let united = json!({"f:spec": {"f:selector": {}, "f:ports": {port(9000): item}}});
        let left = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {"f:ports": {port(53): {"f:name": {}}}},
        });
        let managed = json!([entry("op", "Apply", &united), entry("x`", "Update", &left)]);
        assert_eq!(found.patch["metadata"]["managedFields"], managed);
        assert_eq!(found.patch["metadata"]["resourceVersion"], "7");
        assert_eq!(found.holders, "an item of `spec.ports` is owned by `x'`");
    }

    #[test]
    fn a_desired_item_or_one_without_a_shared_value_does_not_collide() {
        let fields = json!({"f:spec": {"f:ports": {port(9000): {"f:name": {}}}}});
        let entries = [entry("x", "Update", &fields)];
        let live = |name: &str| json!([{"name": name, "port": 9000, "protocol": "TCP"}]);
        let desired = |port: u16| json!([{"name": "http", "port": port}]);
        assert!(found(&live("http"), &desired(80), &entries).is_some());
        assert_eq!(found(&live("http"), &desired(9000), &entries), None, "it is desired");
        assert_eq!(found(&live("other"), &desired(80), &entries), None, "it shares no name");
        let atomic = [entry("x", "Update", &json!({"f:spec": {"f:ports": {}}}))];
        assert_eq!(found(&live("http"), &desired(80), &atomic), None, "the list is one value");
    }

    #[test]
    fn items_of_lists_within_lists_are_found_by_their_keys() {
        let path = "spec.containers[0].ports[1].hostPort";
        let fields =
            |inner: &Value| json!({"f:spec": {"f:containers": {r#"k:{"name":"b"}"#: inner}}});
        let theirs = fields(&json!({"f:ports": {r#"k:{"containerPort":2}"#: {"f:hostPort": {}}}}));
        let containers = |port: u16| {
            let b = json!({"name": "b", "ports": [{"containerPort": port, "hostPort": 8}]});
            json!({"containers": [{"name": "a"}, b]})
        };
        let found = items(
            &theirs,
            &json!({"spec": containers(2)}),
            &json!({"spec": containers(1)}),
            &steps(path),
        );
        assert_eq!(found, Some(theirs.clone()));
        assert_eq!(without(&theirs, &theirs), json!({}));
    }
}
