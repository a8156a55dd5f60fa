//! The Leases of a group on the API server.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{election::Lease, object::ResourceVersion};

#[derive(Default)]
pub(super) struct Server {
    leases: BTreeMap<String, Lease>,
    version: u64,
}

/// What watches see: the Lease, or that it is gone.
pub(super) type Seen = Vec<(String, Option<Lease>)>;

impl Server {
    /// Creates it, or replaces the version that it names; the answer is none if that is another one.
    pub(super) fn write(&mut self, name: &str, lease: &Lease) -> (Option<Lease>, Seen) {
        let known = self.leases.get(name).and_then(Lease::version);
        if known != lease.version() {
            return (None, Vec::new());
        }
        let written = self.put(name, lease);
        (Some(written.clone()), vec![(name.to_owned(), Some(written))])
    }

    fn put(&mut self, name: &str, lease: &Lease) -> Lease {
        self.version += 1;
        let mut body = lease.body().clone();
        body["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let lease = Lease::of(body);
        self.leases.insert(name.to_owned(), lease.clone());
        lease
    }

    pub(super) fn list(&self) -> (Vec<(String, Lease)>, ResourceVersion) {
        let leases = self.leases.iter().map(|(name, lease)| (name.clone(), lease.clone()));
        (leases.collect(), ResourceVersion::new(&self.version.to_string()))
    }

    pub(super) fn remove(&mut self, name: &str, lease: &Lease) -> Seen {
        if self.leases.get(name).and_then(Lease::version) != lease.version() {
            return Vec::new();
        }
        self.delete(name)
    }

    fn delete(&mut self, name: &str) -> Seen {
        self.version += 1;
        let deleted = self.leases.remove(name);
        deleted.map(|_| (name.to_owned(), None)).into_iter().collect()
    }

    /// What somebody does by hand.
    pub(super) fn edit(&mut self, name: &str, what: usize) -> Seen {
        let Some(lease) = self.leases.get(name).cloned() else { return Vec::new() };
        let mut body = lease.body().clone();
        match what {
            0 => return self.delete(name),
            1 => body["spec"]["holderIdentity"] = json!("somebody"),
            2 => body["metadata"]["annotations"] = json!({}),
            _ => body["spec"]["renewTime"] = json!("2026-01-01T00:00:00.000000Z"),
        }
        let edited = self.put(name, &Lease::of(body));
        vec![(name.to_owned(), Some(edited))]
    }
}
