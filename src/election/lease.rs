//! A Lease as the API server has it. Fields that an election does not know are kept.

use std::time::{Duration, SystemTime};

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::MicroTime, jiff::Timestamp};
use serde_json::{Map, Value, json};

use crate::object::ResourceVersion;

/// A Lease.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lease(Value);

impl Lease {
    /// A Lease that does not exist yet.
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self(json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {},
        }))
    }

    /// The answer of the server.
    pub(crate) fn of(value: Value) -> Self {
        Self(value)
    }

    /// The body of a request.
    pub(crate) fn body(&self) -> &Value {
        &self.0
    }

    /// Whether it is on the server: a new one is created, another is replaced.
    pub(crate) fn exists(&self) -> bool {
        self.version().is_some()
    }

    /// Who holds it. Nobody, if the field is missing or is no text.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.0["spec"]["holderIdentity"].as_str().filter(|holder| !holder.is_empty())
    }

    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.0["metadata"]["resourceVersion"].as_str().map(ResourceVersion::new)
    }

    /// How long it is valid, if it says so.
    pub(super) fn duration(&self) -> Option<Duration> {
        let seconds = self.0["spec"]["leaseDurationSeconds"].as_u64();
        seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// When it was renewed, as it is written; empty if it does not say so.
    pub(super) fn renewed(&self) -> &str {
        self.0["spec"]["renewTime"].as_str().unwrap_or_default()
    }

    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.0["metadata"]["annotations"][name].as_str()
    }

    /// The same with an annotation.
    pub(super) fn annotated(self, name: &str, value: &str) -> Self {
        self.with_entry("annotations", name, value)
    }

    /// The same with a label.
    pub(super) fn labelled(self, name: &str, value: &str) -> Self {
        self.with_entry("labels", name, value)
    }

    fn with_entry(mut self, map: &str, name: &str, value: &str) -> Self {
        let entries = &mut self.0["metadata"][map];
        if !entries.is_object() {
            *entries = json!({});
        }
        entries[name] = value.into();
        self
    }

    /// Whether another has the same holder, renewed at the same time: what a renewal changes.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.0["spec"] == other.0["spec"]
    }

    /// The same held by this process: taken or renewed.
    pub(super) fn held_by(&self, identity: &str, duration: Duration, at: SystemTime) -> Self {
        let is_renewal = self.holder() == Some(identity);
        let transitions = self.0["spec"]["leaseTransitions"].as_u64().unwrap_or_default();
        let mut held = self.clone();
        let spec = held.spec();
        spec.insert("holderIdentity".to_owned(), identity.into());
        spec.insert("leaseDurationSeconds".to_owned(), duration.as_secs().into());
        spec.insert("renewTime".to_owned(), micro_time(at));
        if !is_renewal {
            spec.insert("acquireTime".to_owned(), micro_time(at));
            let transitions = transitions + u64::from(self.exists());
            spec.insert("leaseTransitions".to_owned(), transitions.into());
        }
        held
    }

    /// The same held by nobody, as client-go gives one back.
    pub(super) fn released(&self, at: SystemTime) -> Self {
        let mut released = self.clone();
        let spec = released.spec();
        spec.remove("holderIdentity");
        spec.insert("leaseDurationSeconds".to_owned(), 1.into());
        spec.insert("renewTime".to_owned(), micro_time(at));
        spec.insert("acquireTime".to_owned(), micro_time(at));
        released
    }

    /// The fields of `spec`; a `spec` that is no object is replaced.
    fn spec(&mut self) -> &mut Map<String, Value> {
        if !self.0["spec"].is_object() {
            self.0["spec"] = json!({});
        }
        let Value::Object(spec) = &mut self.0["spec"] else { unreachable!("it is an object now") };
        spec
    }
}

fn micro_time(time: SystemTime) -> Value {
    let timestamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    serde_json::to_value(MicroTime(timestamp)).unwrap_or_default()
}
