//! What the handler returns: the spec of the parent lists the children. Pure.

use serde_json::{Value, json};

use super::kinds::{self, NAMES};
use crate::{object::Object, operator::SyncResponse, plan::ChildId, schedule::rng::SeededRng};

/// A child that the handler returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) id: ChildId,
    pub(super) value: String,
}

/// A spec with random children in random order.
pub(super) fn random_spec(rng: &mut SeededRng) -> Value {
    let mut names = NAMES.to_vec();
    let mut children = Vec::new();
    while !names.is_empty() {
        let name = names.swap_remove(rng.below(names.len()));
        if !rng.once_in(3) {
            children.push(json!({"name": name, "value": value(rng)}));
        }
    }
    json!({"children": children})
}

/// The same children, some with another value.
pub(super) fn changed_spec(spec: &Value, rng: &mut SeededRng) -> Value {
    let mut spec = spec.clone();
    for child in spec["children"].as_array_mut().into_iter().flatten() {
        if rng.once_in(2) {
            child["value"] = json!(value(rng));
        }
    }
    spec
}

pub(super) fn value(rng: &mut SeededRng) -> String {
    rng.below(4).to_string()
}

/// The children that the spec of a parent lists.
pub(super) fn wanted(spec: &Value) -> Vec<Wanted> {
    let of_child = |child: &Value| {
        let text = |name: &str| child[name].as_str().unwrap().to_owned();
        let name = text("name");
        Wanted { id: kinds::id(&name), value: text("value"), name }
    };
    spec["children"].as_array().into_iter().flatten().map(of_child).collect()
}

pub(super) fn spec(parent: &Object) -> Value {
    parent.field("spec").unwrap_or_default()
}

pub(super) fn response(wanted: &[Wanted]) -> SyncResponse {
    let children = wanted.iter().map(|it| kinds::body(&it.name, &it.value));
    SyncResponse::status(json!({"phase": wanted.len().to_string()})).children(children)
}
