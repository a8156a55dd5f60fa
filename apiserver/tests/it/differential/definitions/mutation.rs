//! Changes of a definition in one place. `mutations.jsonl` has one for each rule, and for values that no rule minds.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::differential::random::Random;

/// What is merged into one node of a definition.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Mutation {
    /// `definition`, `version`, `versions` (all of them), or the kind of a field of the specification, whose schema it
    /// is, or `root`, the schema of whole objects.
    pub(crate) at: String,
    pub(crate) merge: Value,
}

impl Mutation {
    pub(crate) fn all() -> Vec<Self> {
        include_str!("mutations.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.at, self.merge)
    }

    /// The definition with the change: in one version, or in all that have the same.
    pub(crate) fn applied_to(&self, definition: &Value, seed: u64) -> Value {
        let mut changed = definition.clone();
        let mut random = Random::new(seed);
        if self.at == "definition" {
            merge(&mut changed, &self.merge);
            return changed;
        }
        let versions = changed["spec"]["versions"].as_array_mut().unwrap();
        let all = self.at == "versions" || random.one_in(2);
        let only = random.below(versions.len());
        for (at, version) in versions.iter_mut().enumerate() {
            if all || at == only {
                merge(self.node(version), &self.merge);
            }
        }
        changed
    }

    fn node<'a>(&self, version: &'a mut Value) -> &'a mut Value {
        match self.at.as_str() {
            "version" | "versions" => version,
            "root" => &mut version["schema"]["openAPIV3Schema"],
            kind => {
                let root = &mut version["schema"]["openAPIV3Schema"]["properties"];
                &mut root["spec"]["properties"][kind]
            }
        }
    }
}

/// A merge patch in which `"$null"` is `null`.
fn merge(target: &mut Value, patch: &Value) {
    match patch {
        Value::Object(fields) => {
            if !target.is_object() {
                *target = Value::Object(serde_json::Map::new());
            }
            for (name, inner) in fields {
                if inner.is_null() {
                    target.as_object_mut().unwrap().remove(name);
                } else {
                    merge(&mut target[name.as_str()], inner);
                }
            }
        }
        Value::String(text) if text == "$null" => *target = Value::Null,
        other => *target = other.clone(),
    }
}
