//! The requests that follow, and when something has to be decided without another input.

use std::time::SystemTime;

use super::{CLOSING, ShardAct, Shards};
use crate::election::{Lease, Now, SinceBoot, shards::member::Standing};

impl Shards {
    pub(super) fn acts(&mut self, now: Now) -> Vec<ShardAct> {
        let mut acts = Vec::new();
        let rests = self.retry.is_some_and(|retry| retry > now.boot);
        if self.listing.is_none() && !rests && self.has_to_list() {
            self.listing = Some(self.surely_said());
            self.began.get_or_insert(now.boot);
            acts.push(ShardAct::List);
        }
        if self.writing.is_none() && !rests && !self.is_lost && self.has_to_write(now.boot) {
            acts.push(ShardAct::Write(self.write(now.wall)));
        }
        let remains = self.peers.take_remains(now.boot);
        acts.extend(remains.map(|(name, lease)| ShardAct::Remove(name, lease)));
        acts.push(ShardAct::Wait(self.next(now.boot)));
        acts
    }

    fn has_to_list(&self) -> bool {
        let unchecked = self.claims.within(self.surely_said()).without(self.checked);
        self.is_lost || !unchecked.is_empty()
    }

    fn has_to_write(&self, now: SinceBoot) -> bool {
        let is_due = self.tenure.is_none_or(|sent| sent.plus(self.timing.retry) <= now);
        is_due || self.is_edited || self.standing() != self.said
    }

    fn standing(&self) -> Standing {
        Standing {
            holds: self.claims,
            warm: self.warm,
            is_leaving: self.is_leaving,
            declines: self.declines,
            url: self.url.clone(),
        }
    }

    fn write(&mut self, at: SystemTime) -> Lease {
        let standing = self.standing();
        let lease = match &self.lease {
            Some(lease) => lease.clone(),
            None => Lease::new(&self.namespace, &self.member),
        };
        let names = (self.group.as_str(), self.member.as_str());
        let lease = standing.held_in(&lease, names, self.timing.lease, at);
        self.writing = Some(standing);
        lease
    }

    /// When something has to be decided without another input.
    fn next(&self, now: SinceBoot) -> SinceBoot {
        let timing = self.timing;
        let renewal = self.tenure.map(|sent| sent.plus(timing.retry));
        let late = self.tenure.map(|sent| sent.plus(timing.renew_deadline));
        let complete = self.began.map(|began| began.plus(timing.renew_deadline));
        let closed = self.closing_since.map(|since| since.plus(CLOSING));
        let peers = self.peers.next(timing, now);
        let times = [renewal, late, complete, closed, self.retry, self.settles, peers];
        let next = times.into_iter().flatten().filter(|time| *time > now).min();
        next.unwrap_or_else(|| now.plus(timing.retry))
    }
}
