//! What the API server would store, or why it would refuse it. Nothing is written.

use http::Method;
use serde_json::{Map, Value, json};

use super::{Cluster, api::ApiRequest, write::patch};
use crate::{
    object::{K8sType, Object},
    reply::ApiError,
};

/// What is written of the metadata by whoever applies an object.
const OF_AUTHOR: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

impl Cluster {
    /// The object as it would be stored, with the defaults of its type. `live` is what it replaces.
    ///
    /// As with `kubectl apply`, fields that the type does not have are refused.
    pub(crate) async fn would_store(
        &self,
        object: &Object,
        live: Option<&Object>,
    ) -> Result<Value, ApiError> {
        let (ty, desired) = (object.ty(), object.to_value());
        let request = match live.map(Object::to_value) {
            None => creation(ty, object.namespace(), &desired),
            Some(live) => {
                let operations = operations(&live, &desired);
                patch(ty, ty.object_path(object.key()), "application/json-patch+json", &operations)
            }
        };
        let request = request.with_query("dryRun", "All").with_query("fieldValidation", "Strict");
        let name = request.name();
        let answer = self.send(request).await?;
        serde_json::from_slice(&answer).map_err(|error| ApiError::malformed(name, &error))
    }
}

fn creation<'a>(ty: &'a K8sType, namespace: Option<&str>, object: &Value) -> ApiRequest<'a> {
    let mut body = object.clone();
    if let Some(metadata) = body["metadata"].as_object_mut() {
        let is_given =
            |name: &str| OF_AUTHOR.contains(&name) || ["name", "namespace"].contains(&name);
        metadata.retain(|name, _| is_given(name));
    }
    let mut request = ApiRequest::get("create", ty, ty.collection_path(namespace));
    request.method = Method::POST;
    request.body = body.to_string().into_bytes();
    request
}

/// The JSON patch (RFC 6902) that leads from one to the other, but for what the server alone writes. It needs the
/// permission to patch, which operators have.
fn operations(live: &Value, desired: &Value) -> Value {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let of_author = |object: &Value| {
        let mut metadata = fields(&object["metadata"]);
        metadata.retain(|name, _| OF_AUTHOR.contains(&name.as_str()));
        metadata
    };
    let of_type = |object: &Value| {
        let mut root = fields(object);
        root.retain(|name, _| {
            !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str())
        });
        root
    };
    let mut operations = changes("", &of_type(live), &of_type(desired));
    operations.extend(changes("/metadata", &of_author(live), &of_author(desired)));
    Value::Array(operations)
}

fn changes(prefix: &str, live: &Map<String, Value>, desired: &Map<String, Value>) -> Vec<Value> {
    let path = |name: &str| {
        let name = name.replace('~', "~0").replace('/', "~1");
        format!("{prefix}/{name}")
    };
    let removed = live.keys().filter(|name| !desired.contains_key(*name));
    let removed = removed.map(|name| json!({"op": "remove", "path": path(name)}));
    let changed = desired.iter().filter(|(name, value)| live.get(*name) != Some(value));
    let changed =
        changed.map(|(name, value)| json!({"op": "add", "path": path(name), "value": value}));
    removed.chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_leads_to_what_is_desired_and_leaves_what_the_server_writes() {
        let live = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "uid": "u", "labels": {"a": "1"}, "annotations": {"b": "2"}},
            "data": {"k": "v"}, "binaryData": {"x": "eA=="}, "a/b~": 1, "status": {"s": 1},
        });
        let desired = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "uid": "u", "labels": {"a": "3"}, "annotations": {"b": "2"}},
            "data": {"k": "w"}, "a/b~": 2, "status": {"s": 1},
        });
        let expected = json!([
            {"op": "remove", "path": "/binaryData"},
            {"op": "add", "path": "/a~1b~0", "value": 2},
            {"op": "add", "path": "/data", "value": {"k": "w"}},
            {"op": "add", "path": "/metadata/labels", "value": {"a": "3"}},
        ]);
        assert_eq!(operations(&live, &desired), expected);
        assert_eq!(operations(&live, &live), json!([]));
    }
}
