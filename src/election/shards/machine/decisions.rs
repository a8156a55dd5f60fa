//! What a member decides from what it knows: its share, what it gives up, and what it takes.

use super::Shards;
use crate::election::{
    SinceBoot,
    shards::{assignment::assign, bucket::Buckets},
};

impl Shards {
    /// Shares the buckets out over those that are present. At the start, and after an outage, that waits until the others had
    /// the time to write their Leases.
    pub(super) fn assign(&mut self, now: SinceBoot) {
        if self.tenure.is_none() || self.settles.is_some_and(|until| until > now) {
            return;
        }
        let own = (!self.is_leaving).then_some(self.member.as_str());
        let others = self.peers.present(self.timing, now).map(|(name, _)| name);
        let present: Vec<&str> = own.into_iter().chain(others).collect();
        if !present.iter().copied().eq(self.shares.iter().map(|(name, _)| name.as_str())) {
            let names = present.iter().map(|name| (*name).to_owned());
            self.shares = names.zip(assign(&present)).collect();
        }
        let own = self.shares.iter().find(|(name, _)| *name == self.member);
        self.assigned = own.map_or(Buckets::NONE, |(_, share)| *share);
    }

    /// What others are to have, and are warm for.
    fn wanted(&self, now: SinceBoot) -> Buckets {
        let wanted = self.peers.present(self.timing, now).map(|(name, said)| {
            let share = self.shares.iter().find(|(known, _)| known == name);
            share.map_or(Buckets::NONE, |(_, share)| share.within(said.warm))
        });
        wanted.fold(Buckets::NONE, Buckets::with)
    }

    /// Closes what others are to have and are warm for, and takes up again what they are not to have any more.
    pub(super) fn give_up(&mut self, now: SinceBoot) {
        let closed = self.works.within(self.wanted(now)).without(self.assigned);
        let reopened = self.closing.within(self.assigned);
        self.works = self.works.without(closed).with(reopened);
        self.closing = self.closing.with(closed).without(reopened);
        self.closing_since = match self.closing_since {
            _ if self.closing.is_empty() => None,
            Some(since) if closed.is_empty() => Some(since),
            _ => Some(now),
        };
    }

    pub(super) fn claim(&mut self, now: SinceBoot) {
        let busy = self.works.with(self.closing);
        // What was only said is given back without more.
        self.claims = self.claims.within(busy.with(self.assigned));
        let is_complete =
            self.began.is_some_and(|began| began.plus(self.timing.renew_deadline) <= now);
        let known = if is_complete { Buckets::ALL } else { self.peers.freed() };
        let free = known.without(self.peers.held());
        self.claims = self.claims.with(self.assigned.within(self.warm).within(free));
    }

    pub(super) fn begin(&mut self) {
        let sure = self.claims.within(self.surely_said()).within(self.checked);
        let free = sure.without(self.peers.held()).without(self.closing);
        self.works = self.works.with(free.within(self.assigned));
    }
}
