//! The keys of answers that are made here, in the order in which Go writes the fields of its structs: discovery, tables,
//! and lists of what has no struct. Of metadata and of other kinds, such as `Status`, the data have the structs.

use serde_json::{Map, Value};

use crate::builtin;

/// The fields of a whole answer.
const TOP: &str = "kind apiVersion name groupVersion metadata columnDefinitions rows groups versions preferredVersion \
     serverAddressByClientCIDRs resources items issuer jwks_uri response_types_supported subject_types_supported \
     id_token_signing_alg_values_supported";
/// The fields of all others, whose orders agree.
const OTHER: &str = "cells object groupVersion resource subresource name singularName namespaced group version kind apiVersion \
     metadata type status message error format description priority responseKind acceptedTypes scope singularResource \
     verbs shortNames categories storageVersionHash subresources resources freshness versions preferredVersion clientCIDR \
     serverAddress use kty kid crv alg";

/// An answer as JSON.
pub(super) fn text(answer: &Value) -> String {
    let mut text = String::new();
    write(answer, TOP, &mut text);
    text
}

/// A part of an answer as JSON.
pub(super) fn part(answer: &Value) -> String {
    let mut text = String::new();
    write(answer, OTHER, &mut text);
    text
}

fn write(value: &Value, order: &str, text: &mut String) {
    match value {
        Value::Object(_) if builtin::has_order(value) => text.push_str(&builtin::json(value)),
        Value::Object(fields) => write_fields(fields, order, text),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                write(item, order, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn write_fields(fields: &Map<String, Value>, order: &str, text: &mut String) {
    let known = order.split(' ').filter_map(|name| fields.get_key_value(name));
    let is_known = |name: &str| order.split(' ').any(|known| known == name);
    let others = fields.iter().filter(|(name, _)| !is_known(name));
    text.push('{');
    for (at, (name, value)) in known.chain(others).enumerate() {
        text.push_str(if at == 0 { "" } else { "," });
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        match name.as_str() {
            "metadata" => text.push_str(&builtin::metadata_json(value)),
            // What is in a cell is not known.
            "cells" if order == OTHER => text.push_str(&value.to_string()),
            _ => write(value, OTHER, text),
        }
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_written_as_the_real_server_writes_them() {
        for real in [
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"a\" not found","reason":"NotFound","details":{"name":"a","group":"g","kind":"configmaps","causes":[{"reason":"r","message":"m","field":"f"}]},"code":404}"#,
            r#"{"issuer":"i","jwks_uri":"j","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}"#,
            r#"{"keys":[{"use":"sig","kty":"EC","kid":"k","crv":"P-256","alg":"ES256","x":"x","y":"y"}]}"#,
            r#"{"kind":"ComponentStatusList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"etcd-0"},"conditions":[{"type":"Healthy","status":"True","message":"ok"}]}]}"#,
            r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:1"}]}"#,
            r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}"#,
            r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"],"categories":["all"],"storageVersionHash":"x"}]}"#,
            r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"d","priority":0}],"rows":[{"cells":["a",1],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"1","creationTimestamp":"t","labels":{"kind":"x","name":"y"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}],"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"t","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}}}]}}}]}"#,
        ] {
            let value: Value = serde_json::from_str(real).unwrap();
            assert_eq!(text(&value), real);
        }
    }

    #[test]
    fn nothing_is_lost() {
        let value =
            serde_json::json!({"a": {"kind": 1, "b": [{"z": null}]}, "code": 2, "name": "n"});
        assert_eq!(serde_json::from_str::<Value>(&text(&value)).unwrap(), value);
    }
}
