//! What is counted of an election.

use super::Metrics;

/// How a write of a Lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renewal {
    Accepted,
    /// Another process wrote first.
    Outrun,
    Failed,
}

impl Renewal {
    const ALL: [Self; 3] = [Self::Accepted, Self::Outrun, Self::Failed];

    fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Outrun => "outrun",
            Self::Failed => "failed",
        }
    }
}

impl Metrics {
    /// Begins to count an election by this Lease, as a standby.
    pub(crate) fn election_began(&self, lease: &str) {
        let families = self.families();
        families.leader.with_label_values(&[lease]).set(0);
        for role in ["leader", "standby"] {
            families.leader_transitions.with_label_values(&[lease, role]).inc_by(0);
        }
        for renewal in Renewal::ALL {
            families.lease_renewals.with_label_values(&[lease, renewal.name()]).inc_by(0);
        }
    }

    /// Counts a change of the role.
    pub(crate) fn leads(&self, lease: &str, leads: bool) {
        let families = self.families();
        families.leader.with_label_values(&[lease]).set(i64::from(leads));
        let role = if leads { "leader" } else { "standby" };
        families.leader_transitions.with_label_values(&[lease, role]).inc();
    }

    /// Sets in how many buckets this process works, and in how many nobody does.
    pub(crate) fn buckets(&self, works: u32, unowned: u32) {
        for (state, count) in [("works", works), ("unowned", unowned)] {
            self.families().shard_buckets.with_label_values(&[state]).set(count.into());
        }
    }

    /// Counts a write of the Lease.
    pub(crate) fn renewed(&self, lease: &str, renewal: Renewal) {
        self.families().lease_renewals.with_label_values(&[lease, renewal.name()]).inc();
    }
}
