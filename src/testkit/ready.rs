//! Waits until operators have reconciled a parent.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use kube::{
    Api, Resource,
    api::{GetParams, Request},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    conditions::{Condition, Seen, current},
    eventually,
};

/// Before that, the operator may not have seen a change that ends it.
const STALLED_FOR: Duration = Duration::from_secs(5);

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
/// After a minute, with the conditions; after five seconds in which the parent was `Stalled` in its current
/// generation, with the reason; or if the parent does not fit `K`.
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
    let (look, stalled_since) = (async || Seen(read(parents, name).await), Mutex::new(None));
    let has_ended = |parent: &Value| {
        let mut since = stalled_since.lock().unwrap_or_else(PoisonError::into_inner);
        *since = stalled(parent).map(|_| since.unwrap_or_else(Instant::now));
        is(parent, ty) || since.is_some_and(|since| since.elapsed() >= STALLED_FOR)
    };
    let is_right = |seen: &Seen| seen.0.as_ref().is_ok_and(has_ended);
    let what = format!("{name}: {ty}");
    let parent = eventually(&what, look, is_right).await.0.expect("was read");
    let why = stalled(&parent).filter(|_| !is(&parent, ty)).map(|it| Condition(it).to_string());
    assert!(why.is_none(), "{name} is not {ty} until somebody changes something: {why:?}");
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

fn stalled(parent: &Value) -> Option<&Value> {
    let of_status = parent.pointer("/status/observedGeneration");
    // Without a generation it may be from before a change.
    let is_dated = |it: &&Value| it.get("observedGeneration").or(of_status).is_some();
    current(parent, "Stalled").filter(is_dated)
}

fn is(parent: &Value, ty: &str) -> bool {
    current(parent, ty).is_some()
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
