//! Jobs that have finished and that their TTL removes, or has removed: they are not created again for the same
//! desired state.
//!
//! The condition `JobsFinished` of the parent lists the finished Jobs, so that a restart of the process runs no Job
//! again:
//!
//! ```text
//! not created again until they change: ns/migrate succeeded (4be0f8a7c1d3e952), ns/seed failed (..)
//! ```

use std::{collections::BTreeMap, fmt, hash::Hasher};

use k8s_openapi::api::batch::v1::Job;
use serde_json::{Map, Value};

use super::{ChildId, Write, ownership::labels_of_ours};
use crate::{
    diff::hash,
    object::{K8sType, Object, ObjectKey},
    operator::Labels,
};

/// Why a parent is not ready whose Job failed.
pub(crate) const FAILED_JOB: &str = "it failed, and its TTL removed it: change it to run it again";

const BEFORE: &str = "not created again until they change: ";

/// The longest message of a condition that the Kubernetes API allows is 32,768 characters.
const LONGEST: usize = 32_000;

/// The finished Jobs of a parent that have a TTL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinishedJobs(BTreeMap<ObjectKey, FinishedJob>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedJob {
    /// A hash of the desired state of the Job. All processes compute the same hash.
    desired: u64,
    pub(crate) has_succeeded: bool,
}

impl FinishedJobs {
    /// Reads the message of the condition; what does not fit is ignored.
    pub(crate) fn parse(message: &str) -> Self {
        let jobs = message.strip_prefix(BEFORE).unwrap_or_default();
        Self(jobs.split(", ").filter_map(FinishedJob::parse).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of another list that this one lacks.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, job) in &other.0 {
            self.0.entry(key.clone()).or_insert_with(|| job.clone());
        }
    }

    /// The Job of this name; `None` for other types.
    pub(crate) fn get(&self, ty: &K8sType, key: &ObjectKey) -> Option<&FinishedJob> {
        self.0.get(key).filter(|_| ty.is_job())
    }

    /// Those that have failed.
    pub(crate) fn failed(&self) -> impl Iterator<Item = ChildId> {
        let failed = self.0.iter().filter(|(_, job)| !job.has_succeeded);
        failed.map(|(key, _)| ChildId { ty: K8sType::of::<Job>(), key: key.clone() })
    }

    pub(super) fn extend(&mut self, jobs: impl IntoIterator<Item = (ObjectKey, FinishedJob)>) {
        self.0.extend(jobs);
    }
}

impl FinishedJob {
    /// The Job of a desired state, if it has finished and has a TTL.
    pub(super) fn of(live: &Object, write: &Write, labels: &Labels) -> Option<Self> {
        let has_succeeded = live.has_succeeded_with_ttl()?;
        Some(Self { desired: stable_hash(&write.body, labels), has_succeeded })
    }

    /// Whether it finished this desired state.
    pub(super) fn is_for(&self, write: &Write, labels: &Labels) -> bool {
        self.desired == stable_hash(&write.body, labels)
    }

    fn parse(text: &str) -> Option<(ObjectKey, Self)> {
        let [key, outcome, hash] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
        let hash = hash.strip_prefix('(')?.strip_suffix(')')?;
        let desired = u64::from_str_radix(hash, 16).ok()?;
        let has_succeeded = match outcome {
            "succeeded" => true,
            "failed" => false,
            _ => return None,
        };
        Some((key.parse().ok()?, Self { desired, has_succeeded }))
    }
}

impl fmt::Display for FinishedJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BEFORE)?;
        let mut length = BEFORE.len();
        for (index, (key, FinishedJob { desired, has_succeeded })) in self.0.iter().enumerate() {
            let outcome = if *has_succeeded { "succeeded" } else { "failed" };
            let comma = if index == 0 { "" } else { ", " };
            let text = format!("{comma}{key} {outcome} ({desired:016x})");
            length += text.len();
            if length > LONGEST {
                return write!(f, ", and {} more, which are", self.0.len() - index);
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

/// A hash of what the handler returned, without what the framework adds.
fn stable_hash(body: &Value, labels: &Labels) -> u64 {
    let fields = body.as_object().cloned().unwrap_or_default();
    let mut metadata = body["metadata"].as_object().cloned().unwrap_or_default();
    metadata.retain(|name, _| matches!(&**name, "labels" | "annotations"));
    if let Some(Value::Object(own)) = metadata.get_mut("labels") {
        own.retain(|name, _| !labels_of_ours(labels).contains(&&**name));
    }
    metadata.retain(|_, value| value.as_object().is_some_and(|fields| !fields.is_empty()));
    let fields: Map<_, _> = fields.into_iter().filter(|(name, _)| name != "metadata").collect();
    let mut hasher = Fnv::default();
    hash::feed_fields(&fields, &mut hasher);
    hash::feed_fields(&metadata, &mut hasher);
    hasher.finish()
}

/// FNV-1a with 64 bits. Unlike the hasher of the standard library it stays the same with another compiler.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_parent_shows_is_read_again() {
        let mut jobs = FinishedJobs::default();
        let job = |desired, has_succeeded| FinishedJob { desired, has_succeeded };
        let key = |name| ObjectKey::namespaced("ns", name);
        jobs.extend([(key("a"), job(7, true)), (key("b"), job(u64::MAX, false))]);
        let shown = jobs.to_string();
        let expected = "not created again until they change: ns/a succeeded (0000000000000007), \
                        ns/b failed (ffffffffffffffff)";
        assert_eq!(shown, expected);
        assert_eq!(FinishedJobs::parse(&shown), jobs);
        for other in ["", "ns/a succeeded (7)", "not created again until they change: a b c, x (1)"]
        {
            assert!(FinishedJobs::parse(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn a_long_list_stays_within_what_a_condition_may_have() {
        let mut jobs = FinishedJobs::default();
        for n in 0..2000 {
            let key = ObjectKey::namespaced("ns", &format!("job-{n:04}"));
            jobs.extend([(key, FinishedJob { desired: n, has_succeeded: true })]);
        }
        let shown = jobs.to_string();
        assert!(shown.len() < 32_768 && shown.ends_with(" more, which are"), "{}", shown.len());
        assert!(FinishedJobs::parse(&shown).0.len() > 500);
    }

    #[test]
    fn the_hash_is_of_what_the_handler_returned_and_never_changes() {
        let labels = Labels::default();
        let hash = |body: &Value| stable_hash(body, &labels);
        let job = json!({"metadata": {"name": "a"}, "spec": {"n": 1, "text": "x", "flag": true}});
        let mut owned = job.clone();
        owned["metadata"]["ownerReferences"] = json!([{"uid": "u"}]);
        owned["metadata"]["labels"] = json!({labels.managed_by.clone(): "op"});
        assert_eq!(hash(&job), hash(&owned));
        for (path, value) in [
            ("/spec", json!({"n": 2, "text": "x", "flag": true})),
            ("/metadata", json!({"labels": {"a": "b"}})),
            ("/metadata", json!({"annotations": {"a": "b"}})),
        ] {
            let mut other = job.clone();
            *other.pointer_mut(path).unwrap() = value;
            assert_ne!(hash(&job), hash(&other), "{path}");
        }
        // Another value would run the Jobs of users again after an update.
        assert_eq!(format!("{:016x}", hash(&job)), "4c1718f073e34d9f");
    }
}
