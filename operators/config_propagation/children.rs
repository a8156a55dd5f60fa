//! The children of a `Propagation`: a copy of its source in each selected namespace.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Namespace;
use operetta::object::Object;
use serde_json::{Value, json};

use super::PropagationSpec;

/// The annotation of a copy with the source, as namespace/name.
pub(super) const COPIED_FROM: &str = "operetta.dev/copied-from";

/// What is copied of a `ConfigMap` or a Secret. Labels and annotations are not: they may tie the source to
/// the tool that made it. `immutable` is not: copies follow their source.
const COPIED: [&str; 3] = ["type", "data", "binaryData"];

/// The namespaces that get a copy: the selected ones, without excluded ones, the namespace of the source, and
/// terminating ones, in which nothing can be created.
pub(super) fn namespaces<'a>(
    spec: &PropagationSpec,
    selected: impl IntoIterator<Item = &'a Namespace>,
) -> BTreeSet<String> {
    let is_target =
        |name: &String| *name != spec.source.namespace && !spec.namespaces.exclude.contains(name);
    let staying = selected.into_iter().filter(|it| it.metadata.deletion_timestamp.is_none());
    staying.filter_map(|it| it.metadata.name.clone()).filter(is_target).collect()
}

/// A copy of the source in a namespace.
pub(super) fn copy(source: &Object, namespace: &str) -> Value {
    copy_as(source, namespace, &source.key().to_string())
}

/// A copy as it is.
pub(super) fn kept(copy: &Object) -> Value {
    let from = copy.annotations().get(COPIED_FROM).cloned().unwrap_or_default();
    copy_as(copy, copy.namespace().unwrap_or_default(), &from)
}

fn copy_as(of: &Object, namespace: &str, from: &str) -> Value {
    let metadata = json!({
        "name": of.name(), "namespace": namespace, "annotations": {COPIED_FROM: from},
    });
    let mut copy = json!({"apiVersion": "v1", "kind": of.ty().kind(), "metadata": metadata});
    for field in COPIED {
        if let Some(value) = of.field(field) {
            copy[field] = value;
        }
    }
    copy
}

/// Why an object is not copied; `None` if it is.
pub(super) fn refusal(source: &Object) -> Option<&'static str> {
    let ty = source.field("type")?;
    (ty == "kubernetes.io/service-account-token")
        .then_some("it is the token of a ServiceAccount, which is valid only beside that account")
}
