//! A digest of the content of a child, which rolls Pods when a `ConfigMap` or Secret changes.
//!
//! Kubernetes restarts no Pod when an object that it mounts changes. A digest of that object in an annotation of
//! the Pod template makes the change one of the template.

use k8s_openapi::ByteString;
use serde::Serialize;
use serde_json::{Map, Value};

use super::digest;

/// A checksum cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChecksumError {
    /// The child does not become JSON.
    #[error("cannot make a checksum of a child that cannot be serialized: {0}")]
    Unserializable(String),
    /// It is a text, a number or a boolean.
    #[error("cannot make a checksum of what is no object: pass a child, or a list of children")]
    NotAnObject,
}

/// A digest of the content of a child, or of a list or tuple of children: 64 hexadecimal digits.
///
/// All fields of the object count but `apiVersion`, `kind`, `metadata` and `status`; `null` and empty fields
/// do not. The order of fields does not count. So a `ConfigMap` or Secret has the same checksum when it is returned
/// by a handler and when it is read back, with what the server and other clients wrote into its metadata. Of a type
/// whose `spec` gets defaults from the server only what a handler returns has a stable checksum.
///
/// **What it reveals.** Whoever may read the Pods reads the checksum, also where they may not read the Secret. They
/// see when the Secret changes, when it has an earlier content again, and which Secrets are the same; and they can try
/// values. A Secret whose only entry is a short password or one of few values is found that way. A random entry of 16
/// bytes or more in the same Secret, such as a [generated password](super::Password), prevents that.
///
/// ```
/// use operetta::{prelude::*, recipes::checksum_of};
/// use serde_json::{Value, json};
///
/// fn children(name: &str, greeting: &str) -> Result<[Value; 2]> {
///     let config = json!({
///         "apiVersion": "v1", "kind": "ConfigMap",
///         "metadata": {"name": name}, "data": {"greeting": greeting},
///     });
///     let deployment = json!({
///         "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
///         "spec": {"template": {"metadata": {"annotations": {
///             "example.dev/config": checksum_of(&config)?,
///         }}}},
///     });
///     Ok([config, deployment])
/// }
/// # assert_ne!(children("a", "hello")?[1], children("a", "hi")?[1]);
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
///
/// # Errors
/// It does not become a JSON object, or a list of JSON objects.
pub fn checksum_of(child: &(impl Serialize + ?Sized)) -> Result<String, ChecksumError> {
    let value = serde_json::to_value(child);
    let value = value.map_err(|error| ChecksumError::Unserializable(error.to_string()))?;
    let content = match value {
        Value::Array(children) => children.into_iter().map(content).collect::<Result<_, _>>()?,
        child => content(child)?,
    };
    Ok(digest::hex(&digest::of(&content)))
}

fn content(child: Value) -> Result<Value, ChecksumError> {
    let Value::Object(mut fields) = child else { return Err(ChecksumError::NotAnObject) };
    let is_secret = fields.get("kind").is_some_and(|kind| kind == "Secret");
    if is_secret {
        as_the_server_stores(&mut fields);
    }
    fields.retain(|name, value| {
        !["apiVersion", "kind", "metadata", "status"].contains(&&**name) && !is_empty(value)
    });
    Ok(Value::Object(fields))
}

/// The server moves `stringData` into `data`, and gives a Secret a type.
fn as_the_server_stores(secret: &mut Map<String, Value>) {
    if secret.get("type").is_some_and(|ty| ty == "Opaque") {
        secret.remove("type");
    }
    let Some(Value::Object(strings)) = secret.remove("stringData") else { return };
    let data = secret.entry("data").or_insert(Value::Null);
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    let Some(data) = data.as_object_mut() else { return };
    for (name, value) in strings {
        let bytes = value.as_str().map(|text| ByteString(text.as_bytes().to_vec()));
        data.insert(
            name,
            bytes.and_then(|bytes| serde_json::to_value(bytes).ok()).unwrap_or(value),
        );
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;

    fn of(child: &Value) -> String {
        checksum_of(child).unwrap()
    }

    #[test]
    fn what_the_server_writes_does_not_count() {
        let desired: Secret = serde_json::from_value(json!({
            "metadata": {"name": "a"}, "stringData": {"b": "x", "a": "y"},
        }))
        .unwrap();
        let stored = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "data": {"a": "eQ==", "b": "eA=="}, "status": {"seen": true},
            "metadata": {
                "name": "a", "uid": "u", "resourceVersion": "7", "managedFields": [],
                "labels": {"app.kubernetes.io/managed-by": "op"},
            },
        });
        assert_eq!(checksum_of(&desired).unwrap(), of(&stored));
        let empty = ConfigMap { data: Some(BTreeMap::new()), ..ConfigMap::default() };
        assert_eq!(checksum_of(&empty).unwrap(), checksum_of(&ConfigMap::default()).unwrap());
    }

    #[test]
    fn content_counts_also_by_its_place() {
        let child = |data: Value| json!({"kind": "ConfigMap", "data": data});
        let one = of(&child(json!({"a": "1", "b": "2"})));
        assert_eq!(one.len(), 64);
        assert_eq!(one, of(&child(json!({"b": "2", "a": "1"}))));
        for other in [json!({"a": "2", "b": "1"}), json!({"a": "1"}), json!({"a": "1", "b": ""})] {
            assert_ne!(one, of(&child(other)));
        }
        let [first, second] = [json!({"data": {"a": "1"}}), json!({"data": {"b": "1"}})];
        let pair = checksum_of(&(&first, &second)).unwrap();
        assert_ne!(pair, checksum_of(&[second, first]).unwrap());
    }

    #[test]
    fn what_is_no_object_is_refused_and_not_quoted() {
        for odd in [json!("s3cret"), json!(3), json!(["s3cret"]), json!(null)] {
            let error = checksum_of(&odd).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        let odd = BTreeMap::from([(vec![1], 2)]);
        assert!(matches!(checksum_of(&odd), Err(ChecksumError::Unserializable(_))));
    }
}
