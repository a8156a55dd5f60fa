//! Changes of CRDs, and what each means.

mod definitions;
mod fields;

use serde_json::{Value, json};

use super::{
    Verdict::{Breaks, NeedsVersion, Safe},
    *,
};

fn version(name: &str, is_stored: bool, spec: &Value) -> Value {
    json!({
        "name": name, "served": true, "storage": is_stored, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    })
}

fn crd(versions: &[Value]) -> Value {
    json!({
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Shop", "plural": "shops", "singular": "shop", "shortNames": ["sh"]},
            "versions": versions,
        },
    })
}

/// A CRD of one version with this spec.
fn of(spec: &Value) -> Value {
    crd(&[version("v1", true, spec)])
}

/// A spec with one field.
fn with(field: &Value) -> Value {
    json!({"type": "object", "properties": {"a": field}})
}

/// Each change as `verdict path: change`.
fn brief(changes: &[CrdChange]) -> Vec<String> {
    let line = |it: &CrdChange| format!("{} {}: {}", it.verdict.as_str(), it.path, it.change);
    changes.iter().map(line).collect()
}
