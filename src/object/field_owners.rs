//! Who set which field of an object, by `metadata.managedFields`: paths only, never values. Pure.

use serde_json::Value;

use super::FieldSet;

/// What a field manager owns of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldOwner {
    pub(crate) manager: String,
    /// `Apply` or `Update`.
    pub(crate) operation: String,
    /// `status`, `scale`; empty for the object itself.
    pub(crate) subresource: String,
    /// When it last wrote, as the API server writes it.
    pub(crate) time: String,
    /// The paths in the form of the API server's conflicts: `.spec.ports[port=80]`.
    pub(crate) fields: Vec<String>,
    /// How many further fields it owns.
    pub(crate) omitted: usize,
}

/// The most paths of a manager.
const MAX_FIELDS: usize = 200;

/// The owners in the order of the object.
pub(crate) fn field_owners(object: &Value) -> Vec<FieldOwner> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.map(owner).collect()
}

fn owner(entry: &Value) -> FieldOwner {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    // The server sends nothing else than it can read itself.
    let set = FieldSet::parse(&entry["fieldsV1"].to_string()).unwrap_or_default();
    let mut fields = Vec::new();
    gather(&set, String::new(), &mut fields);
    let omitted = fields.len().saturating_sub(MAX_FIELDS);
    fields.truncate(MAX_FIELDS);
    FieldOwner {
        manager: text("manager"),
        operation: text("operation"),
        subresource: text("subresource"),
        time: text("time"),
        fields,
        omitted,
    }
}

/// Adds the paths of what has nothing inside.
fn gather(set: &FieldSet, path: String, into: &mut Vec<String>) {
    let before = into.len();
    for (name, inner) in set.fields() {
        gather(inner, format!("{path}.{name}"), into);
    }
    for item in set.items() {
        let keys: Vec<_> =
            item.keys.iter().map(|(name, key)| format!("{name}={}", plain(key))).collect();
        gather(&item.owned, format!("{path}[{}]", keys.join(",")), into);
    }
    into.extend(set.values().iter().map(|value| format!("{path}[{}]", plain(value))));
    if into.len() == before && !path.is_empty() {
        into.push(path);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_manager_has_the_paths_of_its_fields() {
        let object = json!({"metadata": {"managedFields": [
            {
                "manager": "shop", "operation": "Apply", "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {
                    "f:metadata": {"f:finalizers": {".": {}, "v:\"a.dev/x\"": {}}},
                    "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}},
                                           "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}}}},
                },
            },
            {"manager": "hpa", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "odd"},
        ]}});
        let [shop, hpa, odd] = field_owners(&object).try_into().unwrap();
        let expected = [
            ".metadata.finalizers[a.dev/x]",
            ".spec.ports[port=80,protocol=TCP].name",
            ".spec.ports[port=81,protocol=TCP]",
        ];
        assert_eq!(
            (shop.fields, shop.operation.as_str(), shop.omitted),
            (expected.map(str::to_owned).into(), "Apply", 0)
        );
        assert_eq!(
            (hpa.fields, hpa.subresource.as_str()),
            (vec![".spec.replicas".to_owned()], "scale")
        );
        assert_eq!((odd.manager.as_str(), odd.fields), ("odd", Vec::new()));
        assert_eq!(field_owners(&json!({})), Vec::new());
    }

    #[test]
    fn the_paths_of_a_manager_are_limited() {
        let many: serde_json::Map<_, _> =
            (0..MAX_FIELDS + 3).map(|number| (format!("f:f{number}"), json!({}))).collect();
        let object = json!({"metadata": {"managedFields": [{"manager": "a", "fieldsV1": many}]}});
        let [owner] = field_owners(&object).try_into().unwrap();
        assert_eq!((owner.fields.len(), owner.omitted), (MAX_FIELDS, 3));
    }
}
