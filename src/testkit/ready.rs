//! Waits until operators have reconciled a parent.

use kube::{
    Api, Resource,
    api::{GetParams, Request},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::eventually;

/// Waits until a parent is ready in its current generation, and returns it: its condition `Ready` is
/// `True` for that generation, so its children are up to date and ready. `kubectl wait
/// --for=condition=Ready` waits for the same, without the generation.
///
/// The embedded server runs no controllers: there a Deployment or a Pod gets ready when the test
/// writes its status. Until then wait with [`until_synced`].
///
/// Works on any cluster, for types whose status declares `conditions` and belongs to the operator
/// (`docs/status.md`): in a shared status conditions are not about the operator. If the CRD declares no
/// `observedGeneration` for conditions, that of the status counts; if it declares neither, `True`
/// is enough, even from before a change.
///
/// # Panics
/// After a minute, with the last result; or if the parent does not fit `K`.
pub async fn until_ready<K>(parents: &Api<K>, name: &str) -> K
where
    K: Resource + Clone + DeserializeOwned,
{
    until(parents, name, "Ready").await
}

/// The same for the condition `Synced`: the children are up to date, whether they are ready or not.
///
/// # Panics
/// As [`until_ready`].
pub async fn until_synced<K>(parents: &Api<K>, name: &str) -> K
where
    K: Resource + Clone + DeserializeOwned,
{
    until(parents, name, "Synced").await
}

async fn until<K>(parents: &Api<K>, name: &str, ty: &str) -> K
where
    K: Resource + Clone + DeserializeOwned,
{
    // As JSON: a Rust type may lack the fields that are compared.
    let look = || read(parents, name);
    let is_right =
        |parent: &kube::Result<Value>| parent.as_ref().is_ok_and(|parent| is(parent, ty));
    let what = format!("{name}: {ty}");
    let parent = eventually(&what, look, is_right).await.expect("was read");
    serde_json::from_value(parent).expect("the type of the API reads it")
}

async fn read<K>(parents: &Api<K>, name: &str) -> kube::Result<Value>
where
    K: Resource + Clone,
{
    let request = Request::new(parents.resource_url()).get(name, &GetParams::default());
    let request = request.map_err(kube::Error::BuildRequest)?;
    parents.clone().into_client().request(request).await
}

fn is(parent: &Value, ty: &str) -> bool {
    let conditions = parent.pointer("/status/conditions").and_then(Value::as_array);
    let generation = parent.pointer("/metadata/generation");
    let of_status = parent.pointer("/status/observedGeneration");
    let is_current = |condition: &Value| {
        let observed = condition.get("observedGeneration").or(of_status);
        observed.is_none_or(|observed| Some(observed) == generation)
    };
    let is_it = |condition: &Value| {
        condition["type"] == ty && condition["status"] == "True" && is_current(condition)
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
            let other = json!({"type": "Synced", "status": "True", "observedGeneration": 2});
            json!({"metadata": {"generation": 2}, "status": {"conditions": [other, ready]}})
        };
        assert!(is(&parent("True", 2), "Ready"));
        assert!(!is(&parent("True", 1), "Ready"), "that was before the change");
        assert!(!is(&parent("False", 2), "Ready") && is(&parent("False", 2), "Synced"));
        assert!(!is(&json!({"metadata": {"generation": 1}}), "Ready"));
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
        assert!(is(&parent(Some(2)), "Ready"));
        assert!(!is(&parent(Some(1)), "Ready"), "that was before the change");
        assert!(is(&parent(None), "Ready"));
    }
}
