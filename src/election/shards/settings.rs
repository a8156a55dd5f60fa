//! What a user sets about a group.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use super::error::ShardingError;
use crate::election::{Timing, settings::is_name};

/// Shares the parents of all operators out over the processes that run them.
///
/// Each parent is in one of 64 buckets, by a hash of its uid. Each process is a member of a group, and works in some of the
/// buckets: it watches, reconciles and writes only for their parents. When a process comes or goes, the others take or give
/// some buckets; a change of buckets writes nothing but Leases.
///
/// A member has a Lease (`coordination.k8s.io/v1`) with the label [`operetta.dev/shard-group`](super::SHARD_GROUP_LABEL),
/// renewed as that of a leader. Nothing else coordinates the members.
///
/// **Guarantees.** No two processes write for one parent at once. A process that has not renewed its Lease for the renew
/// deadline sends no write; another takes its buckets when the lease duration has passed since the others saw the last
/// renewal. No clocks of two machines are compared. A process that stops on a signal gives its buckets over while it works.
///
/// **Assumptions.** All processes of a group have the same operators and the same durations. A request that was sent before the
/// renew deadline reaches the API server before the Lease expires.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Sharding {
    pub(crate) group: String,
    pub(crate) namespace: Option<String>,
    pub(crate) identity: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) timing: Timing,
}

/// The longest name of a group: a member has a longer one.
const LONGEST: usize = 40;

impl Sharding {
    /// A group with this name, whose Leases are in the namespace of the process.
    pub fn new(group: impl Into<String>) -> Self {
        let (namespace, identity, url, timing) = <_>::default();
        Self { group: group.into(), namespace, identity, url, timing }
    }

    /// Sets the namespace of the Leases. Default is the one that the client is for: in a cluster that of the Pod, else that of
    /// the context of the kubeconfig, or `default`.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets who this process is. It must be different in each process, also after a restart: the Lease is named
    /// `{group}-{identity}`. Default is the host name, in a Pod that of the Pod, and a random part.
    pub fn as_identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Sets the URL at which other members reach the web endpoint of this process, such as `https://10.0.0.3:8443`. They send
    /// requests on that are about a parent of this process. A token is sent on to a process with the same certificate only.
    ///
    /// Default is the address of the endpoint. If that is `0.0.0.0` or `[::]`, it is the variable `POD_IP`, if it is set.
    pub fn reached_at(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets how long a Lease is valid without being renewed. Default is 15 seconds.
    pub fn with_lease_duration(mut self, duration: Duration) -> Self {
        self.timing.lease = duration;
        self
    }

    /// Sets how long a process goes on writing without renewing its Lease, and how long the first one waits for others that it
    /// cannot know of. Default is 10 seconds.
    pub fn with_renew_deadline(mut self, deadline: Duration) -> Self {
        self.timing.renew_deadline = deadline;
        self
    }

    /// Sets how often a process renews its Lease, and how long a failed request waits. Default is 2 seconds.
    pub fn with_retry_period(mut self, period: Duration) -> Self {
        self.timing.retry = period;
        self
    }

    /// The same with the default of its URL, given the scheme and the address of the web endpoint.
    pub(crate) fn answering_at(self, scheme: &str, address: Option<SocketAddr>) -> Self {
        if self.url.is_some() {
            return self;
        }
        let of_pod = || std::env::var("POD_IP").ok()?.parse::<IpAddr>().ok();
        let url = address.and_then(|address| {
            let ip = Some(address.ip()).filter(|ip| !ip.is_unspecified()).or_else(of_pod)?;
            Some(format!("{scheme}://{}", SocketAddr::new(ip, address.port())))
        });
        Self { url, ..self }
    }

    /// Checks it before anything starts.
    pub(crate) fn validate(&self) -> Result<(), ShardingError> {
        let is_label = |name: &str| is_name(name) && !name.contains('.');
        if !is_label(&self.group) || self.group.len() > LONGEST {
            return Err(ShardingError::Group(self.group.clone()));
        }
        if let Some(identity) = self.identity.as_ref().filter(|identity| !is_name(identity)) {
            return Err(ShardingError::Identity(identity.clone()));
        }
        Ok(self.timing.check()?)
    }

    /// The name of a member, given that of the machine and a random part.
    pub(crate) fn member(&self, host: &str, random: &str) -> String {
        if let Some(identity) = &self.identity {
            return format!("{}-{identity}", self.group);
        }
        let is_kept = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let host = host.to_lowercase();
        let host: String = host.chars().map(|c| if is_kept(c) { c } else { '-' }).collect();
        let host = host.trim_matches('-');
        // A Pod of the Deployment has the name of the group already.
        let host = host.strip_prefix(&format!("{}-", self.group)).unwrap_or(host);
        format!("{}-{host:.63}-{random}", self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_labels_and_durations_that_cannot_work_are_errors() {
        let (seconds, new) = (Duration::from_secs, || Sharding::new("cooks"));
        assert_eq!(new().validate(), Ok(()));
        assert_eq!(new().as_identity("cooks-7d4b9-x2x").validate(), Ok(()));
        for wrong in [
            Sharding::new(""),
            Sharding::new("Cooks"),
            Sharding::new("a.b"),
            Sharding::new("a".repeat(41)),
            new().as_identity("$(POD_NAME)"),
            new().with_renew_deadline(seconds(15)),
            new().with_retry_period(seconds(10)),
        ] {
            let text = wrong.validate().unwrap_err().to_string();
            assert!(text.starts_with("sharding: "), "{text}");
        }
    }

    #[test]
    fn the_url_is_by_default_that_of_the_endpoint() {
        let url = |address: &str| {
            let address = Some(address.parse().unwrap());
            Sharding::new("cooks").answering_at("https", address).url
        };
        assert_eq!(url("127.0.0.1:8443").as_deref(), Some("https://127.0.0.1:8443"));
        assert_eq!(url("[::1]:8443").as_deref(), Some("https://[::1]:8443"));
        let given = Sharding::new("cooks").reached_at("https://a");
        assert_eq!(given.answering_at("http", None).url.as_deref(), Some("https://a"));
    }

    #[test]
    fn a_member_is_named_after_its_pod_or_machine() {
        let group = Sharding::new("cooks");
        assert_eq!(group.member("cooks-7d4b9-x2x", "5f0c"), "cooks-7d4b9-x2x-5f0c");
        assert_eq!(group.member("Ann's_Laptop", "5f0c"), "cooks-ann-s-laptop-5f0c");
        assert_eq!(group.as_identity("one").member("host", "5f0c"), "cooks-one");
    }
}
