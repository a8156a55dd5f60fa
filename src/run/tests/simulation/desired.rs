//! What the handler returns: the spec of the parent lists the children and their order. Pure.

use std::time::Duration;

use serde_json::{Value, json};

use super::kinds::{self, NAMES};
use crate::{
    object::Object,
    operator::{Prerequisite, SyncResponse},
    plan::ChildId,
    schedule::rng::SeededRng,
};

/// A child that the handler returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) id: ChildId,
    pub(super) value: String,
    pub(super) stage: u64,
    /// The names of other children that it waits for.
    pub(super) after: Vec<String>,
}

/// A spec with random children in random order and stages. `stages` is how many stages there may be; with
/// more than one, children may wait for single others too.
pub(super) fn random_spec(stages: usize, rng: &mut SeededRng) -> Value {
    let mut names = NAMES.to_vec();
    let (mut children, mut known, mut stage) = (Vec::new(), Vec::new(), 0);
    while !names.is_empty() {
        let name = names.swap_remove(rng.below(names.len()));
        if rng.once_in(3) {
            continue;
        }
        if stage + 1 < stages && rng.once_in(3) {
            // A stage may be empty.
            stage += 1 + rng.below(stages - stage - 1);
        }
        let edge = (stages > 1 && !known.is_empty() && rng.once_in(3)).then(|| rng.pick(&known));
        let after: Vec<_> = edge.into_iter().collect();
        children.push(json!({"name": name, "value": value(rng), "stage": stage, "after": after}));
        known.push(name);
    }
    json!({"children": children})
}

/// The same children, most with another value.
pub(super) fn changed_spec(spec: &Value, rng: &mut SeededRng) -> Value {
    let mut spec = spec.clone();
    for child in spec["children"].as_array_mut().into_iter().flatten() {
        if !rng.once_in(4) {
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
    spec["children"].as_array().into_iter().flatten().map(of_child).collect()
}

fn of_child(child: &Value) -> Wanted {
    let name = child["name"].as_str().unwrap().to_owned();
    let after = child["after"].as_array().into_iter().flatten();
    Wanted {
        id: kinds::id(&name),
        value: child["value"].as_str().unwrap().to_owned(),
        stage: child["stage"].as_u64().unwrap(),
        after: after.map(|name| name.as_str().unwrap().to_owned()).collect(),
        name,
    }
}

pub(super) fn spec(parent: &Object) -> Value {
    parent.field("spec").unwrap_or_default()
}

/// The children stage by stage.
pub(super) fn response(wanted: &[Wanted]) -> SyncResponse {
    let mut response = SyncResponse::status(json!({"phase": wanted.len().to_string()}));
    let mut stage = 0;
    for child in wanted {
        while stage < child.stage {
            response = response.ready_within(Duration::from_mins(1)).then();
            stage += 1;
        }
        response = response.child(kinds::body(&child.name, &child.value));
        for name in &child.after {
            let other = kinds::id(name);
            response = response.after_child(Prerequisite::new(&other.ty, &*other.key.name));
        }
    }
    response
}
