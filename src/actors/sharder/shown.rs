//! What is shown of a member: on the board and in the metrics.

use super::Sharder;
use crate::{
    actors::watching::DEGRADED_AFTER,
    board::{Group, Leadership},
    execute::now,
    operator::OperatorName,
};

impl Sharder {
    /// For which part of the parents this process works, and who works for the others.
    fn share(&self) -> String {
        let others: Vec<&str> = self.shards.members().map(|(name, _)| name).collect();
        let share = format!("works for {} of 64 buckets of parents", self.role.works.len());
        if others.is_empty() {
            return format!("{share}, and is the only process");
        }
        format!("{share}; other processes: {}", others.join(", "))
    }

    pub(super) fn log_declining(&self) {
        let group = &self.parts.group;
        if self.shards.declines() {
            tracing::warn!(
                group,
                "the objects of this process could not be listed for a minute: others get its buckets"
            );
        } else {
            tracing::info!(group, "all objects are listed: this process takes buckets again");
        }
    }

    pub(super) fn show(&self) {
        let may_write = self.role.until.is_some();
        let leadership = Leadership {
            lease: self.parts.lease.to_string(),
            identity: self.parts.lease.name.to_string(),
            leads: may_write,
            holder: may_write.then(|| self.parts.lease.name.to_string()),
            problem: self.problem.why().cloned(),
            is_lost: !may_write && self.problem.lasts(DEGRADED_AFTER, now().monotonic),
            reach: self.parts.reach,
            share: Some(self.share()),
        };
        let names: Vec<OperatorName> = self.operators.keys().cloned().collect();
        self.parts.board.set_leadership(&names, &leadership);
        let unowned = self.shards.unowned();
        self.parts.metrics.buckets(self.role.works.len(), unowned.len());
        let members = self.shards.members();
        let members = members.map(|(name, said)| (name.to_owned(), said.cloned()));
        self.parts.board.show_group(Group {
            name: self.parts.group.clone(),
            member: self.parts.lease.name.to_string(),
            works: self.role.works,
            closing: self.role.closing,
            declines: self.shards.declines(),
            watches: self.role.watches,
            unowned,
            selects_shards: self.selects_shards,
            others: members.collect(),
        });
    }
}
