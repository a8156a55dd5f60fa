//! Jobs that had finished when their TTL removed them: a reconcile that only sees that one is gone would run it again.

use std::collections::VecDeque;

use crate::object::{Object, ObjectKey};

/// How many are remembered: more than end between two plans of their parents.
const MAX: usize = 256;

/// The last versions of the latest of them.
#[derive(Debug, Default)]
pub(super) struct EndedJobs(VecDeque<Object>);

impl EndedJobs {
    /// An object goes. Only a finished Job with a TTL is kept.
    pub(super) fn keep(&mut self, gone: &Object) {
        if gone.has_succeeded_with_ttl().is_none() {
            return;
        }
        if self.0.len() == MAX {
            self.0.pop_front();
        }
        self.0.push_back(gone.clone());
    }

    /// Those whose key no other object has taken.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Object> {
        self.0.iter()
    }

    /// An object with this key exists.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if !self.0.is_empty() {
            self.0.retain(|job| job.key() != key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use k8s_openapi::api::batch::v1::Job;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Uid},
        store::Store,
    };

    fn job(name: &str, version: u64, spec: &Value, condition: &str) -> Object {
        let value = json!({
            "metadata": {
                "name": name, "namespace": "ns", "uid": format!("uid of {name}"),
                "resourceVersion": version.to_string(), "labels": {"by": "parent"},
            },
            "spec": spec, "status": {"conditions": [{"type": condition, "status": "True"}]},
        });
        Object::from_value(&K8sType::of::<Job>(), &value, &KeptManagers::default()).unwrap()
    }

    fn ended(store: &Store, parent: &str) -> Vec<String> {
        let (reader, parent) = (store.reader(), Uid::new(parent));
        let contents = reader.read();
        contents.ended_jobs(&parent).map(|job| job.name().to_owned()).collect()
    }

    #[test]
    fn the_latest_jobs_that_had_finished_with_a_ttl_are_known_until_their_names_are_taken() {
        let store = Store::new(K8sType::of::<Job>(), BTreeSet::from(["by".to_owned()]));
        let scope = store.add_scope(None);
        let (ttl, none) = (json!({"ttlSecondsAfterFinished": 0}), json!({}));
        let runs_and_goes = |name: &str, spec: &Value, condition: &str| {
            let job = job(name, 1, spec, condition);
            store.observe(scope, job.clone());
            store.observe_deletion(scope, &job);
        };
        runs_and_goes("succeeded", &ttl, "Complete");
        runs_and_goes("failed", &ttl, "Failed");
        runs_and_goes("running", &ttl, "Suspended");
        runs_and_goes("kept", &none, "Complete");
        assert_eq!(ended(&store, "parent"), ["succeeded", "failed"]);
        assert!(ended(&store, "other").is_empty());
        store.observe(scope, job("failed", 2, &ttl, "Suspended"));
        assert_eq!(ended(&store, "parent"), ["succeeded"]);
        for number in 0..MAX {
            runs_and_goes(&number.to_string(), &ttl, "Complete");
        }
        let ended = ended(&store, "parent");
        assert_eq!((ended.len(), &*ended[0]), (MAX, "0"));
    }
}
