//! What a user sets about leader election.

use std::time::Duration;

use super::ElectionError;

/// Which process leads, where several run the same operators.
///
/// The leader holds a Lease (`coordination.k8s.io/v1`) and renews it. The others watch: their caches are complete
/// and their web endpoint answers, but they write nothing. When the leader stops, it gives the Lease back, and
/// another process continues at once; when it dies, one continues when the Lease has expired.
///
/// The defaults are those of client-go.
///
/// **Guarantees.** A process sends no write when it has not renewed its Lease for the renew deadline. The time is
/// measured by a clock that also runs while the process is stopped or the machine is suspended, and no clocks of
/// two machines are compared.
///
/// **Assumption.** A request that was sent before the deadline reaches the API server before the Lease expires:
/// between both are five seconds, with the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct LeaderElection {
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) identity: Option<String>,
    pub(crate) per_operator: bool,
    /// The Pod that has the label.
    pub(crate) pod: Option<String>,
    pub(crate) timing: Timing,
}

/// The durations of an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) lease: Duration,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { lease: seconds(15), renew_deadline: seconds(10), retry: seconds(2) }
    }
}

impl Timing {
    /// Whether a holder stops before others take over, and renews in time.
    pub(super) fn check(&self) -> Result<(), ElectionError> {
        let Self { lease, renew_deadline, retry } = *self;
        let (lease_ms, renew_deadline_ms) = (lease.as_millis(), renew_deadline.as_millis());
        if lease.is_zero() || lease.subsec_nanos() != 0 {
            return Err(ElectionError::Seconds { lease_ms });
        }
        if renew_deadline >= lease {
            return Err(ElectionError::Deadline { renew_deadline_ms, lease_ms });
        }
        if retry.is_zero() || retry >= renew_deadline {
            return Err(ElectionError::Retry { retry_ms: retry.as_millis(), renew_deadline_ms });
        }
        Ok(())
    }
}

impl LeaderElection {
    /// An election by the Lease of this name, in the namespace of the process.
    pub fn new(lease: impl Into<String>) -> Self {
        let (namespace, identity, per_operator, pod, timing) = <_>::default();
        Self { name: lease.into(), namespace, identity, per_operator, pod, timing }
    }

    /// Sets the namespace of the Lease. Default is the one that the client is for: in a cluster that of the Pod, else
    /// that of the context of the kubeconfig, or `default`.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets who this process is. It must be different in each process. Default is the host name, in a Pod that of
    /// the Pod, and a random part.
    pub fn as_identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Elects a leader per operator, so that the processes share the operators: the Lease of an operator is named
    /// `{lease}-{operator}`.
    pub fn per_operator(mut self) -> Self {
        self.per_operator = true;
        self
    }

    /// Labels the Pod of this name, in which this process runs, while this process leads: it has
    /// [`operetta.dev/leader`](super::LEADER_LABEL)`: "true"`, by which a Service selects the leader. The label is
    /// removed from the Pod of a standby, also one that the Pod had before the process started.
    ///
    /// The Pod is in the namespace of the Lease. The process needs the permission to `patch` `pods` there
    /// ([`Permissions::with_leader_label`](crate::manifests::Permissions::with_leader_label)).
    ///
    /// The election does not depend on the label: a Pod that cannot be labelled is logged, and tried again. Around a change
    /// of the leader, two Pods or none have the label for a moment.
    ///
    /// Not together with [`per_operator`](Self::per_operator): one label cannot follow several Leases.
    pub fn labels_pod(mut self, name: impl Into<String>) -> Self {
        self.pod = Some(name.into());
        self
    }

    /// Sets how long a Lease is valid without being renewed. Default is 15 seconds.
    pub fn with_lease_duration(mut self, duration: Duration) -> Self {
        self.timing.lease = duration;
        self
    }

    /// Sets how long the leader goes on writing without renewing its Lease. Default is 10 seconds.
    pub fn with_renew_deadline(mut self, deadline: Duration) -> Self {
        self.timing.renew_deadline = deadline;
        self
    }

    /// Sets how often the leader renews its Lease, and how long a failed request waits. Default is 2 seconds.
    pub fn with_retry_period(mut self, period: Duration) -> Self {
        self.timing.retry = period;
        self
    }

    /// Checks it before anything starts.
    pub(crate) fn validate(&self) -> Result<(), ElectionError> {
        if !is_name(&self.name) {
            return Err(ElectionError::Name(self.name.clone()));
        }
        self.timing.check()?;
        self.validate_pod()
    }

    fn validate_pod(&self) -> Result<(), ElectionError> {
        match &self.pod {
            Some(pod) if !is_name(pod) => Err(ElectionError::Pod(pod.clone())),
            Some(pod) if self.per_operator => Err(ElectionError::SharedPod(pod.clone())),
            Some(_) | None => Ok(()),
        }
    }
}

/// A DNS subdomain (RFC 1123), as the API server requires.
pub(super) fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        label.starts_with(is_alphanumeric)
            && label.ends_with(is_alphanumeric)
            && label.chars().all(|c| is_alphanumeric(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_cannot_work_and_names_of_no_object_are_errors() {
        let (millis, new) = (Duration::from_millis, || LeaderElection::new("a.b-c"));
        assert_eq!(new().validate(), Ok(()));
        assert_eq!(new().labels_pod("cooks-7d4b9-x2x").validate(), Ok(()));
        assert_eq!(new().per_operator().validate(), Ok(()));
        for wrong in [
            LeaderElection::new("No Lease"),
            LeaderElection::new(""),
            new().with_lease_duration(millis(1_500)),
            new().with_lease_duration(millis(0)),
            new().with_renew_deadline(millis(15_000)),
            new().with_retry_period(millis(10_000)),
            new().with_retry_period(millis(0)),
            // Kubernetes leaves a variable as it is that the container does not have.
            new().labels_pod("$(POD_NAME)"),
            new().labels_pod(""),
            new().labels_pod("cooks-1").per_operator(),
        ] {
            let text = wrong.validate().unwrap_err().to_string();
            assert!(text.starts_with("leader election: "), "{text}");
        }
    }

    #[test]
    fn a_label_of_several_leases_is_an_error_that_says_what_to_leave_out() {
        let both = LeaderElection::new("cooks").per_operator().labels_pod("cooks-1");
        let error = both.validate().unwrap_err();
        assert_eq!(error, ElectionError::SharedPod("cooks-1".to_owned()));
        let text = error.to_string();
        assert!(text.contains("`labels_pod`") && text.contains("`per_operator`"), "{text}");
    }
}
