//! Waits until operators have reconciled a parent.

use kube::{
    Api, Resource,
    api::{GetParams, Request},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::eventually;

/// Waits until the operator has reconciled a parent in its current generation, and returns it: its
/// condition `Ready` is `True` for that generation. `kubectl wait --for=condition=Ready` waits for
/// the same, without the generation.
///
/// Works on any cluster, for types whose status declares `conditions` and belongs to the operator
/// (`docs/status.md`): in a shared status `Ready` is not about the operator. If the CRD declares no
/// `observedGeneration` for conditions, that of the status counts; if it declares neither, `True`
/// is enough, even from before a change.
///
/// # Panics
/// After a minute, with the last result; or if the parent does not fit `K`.
pub async fn until_ready<K>(parents: &Api<K>, name: &str) -> K
where
    K: Resource + Clone + DeserializeOwned,
{
    // As JSON: a Rust type may lack the fields that are compared.
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
    let is_current = |condition: &Value| {
        let observed = condition.get("observedGeneration").or(of_status);
        observed.is_none_or(|observed| Some(observed) == generation)
    };
    let is_it = |condition: &Value| {
        condition["type"] == "Ready" && condition["status"] == "True" && is_current(condition)
    };
    conditions.is_some_and(|conditions| conditions.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_current_generation_counts() {
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
    /// A field that the CRD does not declare cannot be waited for.
    #[test]
    fn without_a_generation_in_the_condition_that_of_the_status_counts() {
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
