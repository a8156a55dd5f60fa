//! Waiting until operators are done with a parent.

use kube::{
    Api, Resource,
    api::{GetParams, Request},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::eventually;

/// Waits until the operator of a parent is done with it as it is now, and returns it: its condition
/// `Ready` is `True`, and about its present generation. That is what
/// `kubectl wait --for=condition=Ready` waits for but for the generation.
///
/// On any cluster; of a type whose status declares `conditions` and is the operator's own
/// (`docs/status.md`): in one that it shares, `Ready` says nothing of the operator. Where the CRD
/// declares no `observedGeneration` of a condition, that of the status counts; where it declares neither,
/// nothing tells which generation `Ready` is about, and `True` is enough, be it from before a change.
///
/// # Panics
/// After a minute, with what was seen last; or if what is ready is no `K`.
pub async fn until_ready<K>(parents: &Api<K>, name: &str) -> K
where
    K: Resource + Clone + DeserializeOwned,
{
    // As it is: a Rust type may leave out what tells.
    let look = || read(parents, name);
    let is_right = |parent: &kube::Result<Value>| parent.as_ref().is_ok_and(is_ready);
    let ready = eventually(&format!("{name} ready"), look, is_right).await.expect("is ready");
    serde_json::from_value(ready).expect("the type of the API reads it")
}

async fn read<K>(parents: &Api<K>, name: &str) -> kube::Result<Value>
where
    K: Resource + Clone,
{
    let request = Request::new(parents.resource_url()).get(name, &GetParams::default());
    let request = request.map_err(kube::Error::BuildRequest)?;
    parents.clone().into_client().request(request).await
}

fn is_ready(parent: &Value) -> bool {
    let conditions = parent.pointer("/status/conditions").and_then(Value::as_array);
    let generation = parent.pointer("/metadata/generation");
    let of_status = parent.pointer("/status/observedGeneration");
    let is_present = |condition: &Value| {
        let observed = condition.get("observedGeneration").or(of_status);
        observed.is_none_or(|observed| Some(observed) == generation)
    };
    let is_it = |condition: &Value| {
        condition["type"] == "Ready" && condition["status"] == "True" && is_present(condition)
    };
    conditions.is_some_and(|conditions| conditions.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_present_generation_counts() {
        let parent = |status: &str, observed: i64| {
            let ready = json!({"type": "Ready", "status": status, "observedGeneration": observed});
            let other = json!({"type": "Paused", "status": "True", "observedGeneration": 2});
            json!({"metadata": {"generation": 2}, "status": {"conditions": [other, ready]}})
        };
        assert!(is_ready(&parent("True", 2)));
        assert!(!is_ready(&parent("True", 1)), "that was before the change");
        assert!(!is_ready(&parent("False", 2)));
        assert!(!is_ready(&json!({"metadata": {"generation": 1}})));
    }
    /// A field that the CRD does not declare is not there to wait for.
    #[test]
    fn where_a_condition_names_no_generation_that_of_the_status_counts_if_there_is_one() {
        let parent = |observed: Option<i64>| {
            let mut status = json!({"conditions": [{"type": "Ready", "status": "True"}]});
            if let Some(observed) = observed {
                status["observedGeneration"] = observed.into();
            }
            json!({"metadata": {"generation": 2}, "status": status})
        };
        assert!(is_ready(&parent(Some(2))));
        assert!(!is_ready(&parent(Some(1))), "that was before the change");
        assert!(is_ready(&parent(None)));
    }
}
