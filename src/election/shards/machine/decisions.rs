//! What a member decides from what it knows: its share, whether it declines that, what it gives up, and what it takes.

use super::Shards;
use crate::election::{
    SinceBoot,
    shards::{assignment::assign, bucket::Buckets, member::Standing},
};

impl Shards {
    /// Shares the buckets out over those that are present. At the start, and after an outage, that waits until the others had
    /// the time to write their Leases.
    pub(super) fn assign(&mut self, now: SinceBoot) {
        if self.tenure.is_none() || self.settles.is_some_and(|until| until > now) {
            return;
        }
        let takers = self.members_that(!self.is_leaving && !self.declines, Standing::takes, now);
        if !takers.iter().eq(self.shares.iter().map(|(name, _)| name)) {
            self.shares = shares(takers);
        }
        self.assigned = share_of(&self.member, &self.shares);
        let all = self.members_that(!self.is_leaving, |_| true, now);
        let is_one_less = all.len() != self.shares.len();
        self.fair = if is_one_less { share_of(&self.member, &shares(all)) } else { self.assigned };
    }

    /// The names of this member and of others that are present.
    fn members_that(
        &self,
        is_this_one: bool,
        is_one: fn(&Standing) -> bool,
        now: SinceBoot,
    ) -> Vec<String> {
        let own = is_this_one.then_some(self.member.as_str());
        let others = self.peers.present(self.timing, now).filter(|(_, said)| is_one(said));
        let all = own.into_iter().chain(others.map(|(name, _)| name));
        all.map(ToOwned::to_owned).collect()
    }

    /// Declines the share when its objects cannot be listed, and takes it when they are. The fair share decides, which is not
    /// larger while others decline, too: each would list everything. It continues to list that meanwhile.
    pub(super) fn decline(&mut self, now: SinceBoot) {
        let is_cold = !self.fair.without(self.warm).is_empty();
        let declines = is_cold && (self.fails || self.declines);
        if self.declines != declines {
            self.declines = declines;
            self.assign(now);
        }
    }

    /// What others are to have, and are warm for.
    fn wanted(&self, now: SinceBoot) -> Buckets {
        let wanted = self
            .peers
            .present(self.timing, now)
            .map(|(name, said)| share_of(name, &self.shares).within(said.warm));
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
        let ready = self.assigned.within(self.warm);
        // What was only said is given back without more, also when its objects are cached no more.
        self.claims = self.claims.within(busy.with(ready));
        let is_complete =
            self.began.is_some_and(|began| began.plus(self.timing.renew_deadline) <= now);
        let known = if is_complete { Buckets::ALL } else { self.peers.freed() };
        let free = known.without(self.peers.held());
        self.claims = self.claims.with(ready.within(free));
    }

    pub(super) fn begin(&mut self) {
        let sure = self.claims.within(self.surely_said()).within(self.checked);
        let free = sure.without(self.peers.held()).without(self.closing);
        self.works = self.works.with(free.within(self.assigned));
    }
}

/// The assignment to these members.
fn shares(members: Vec<String>) -> Vec<(String, Buckets)> {
    let names: Vec<&str> = members.iter().map(String::as_str).collect();
    let shares = assign(&names);
    members.into_iter().zip(shares).collect()
}

fn share_of(member: &str, shares: &[(String, Buckets)]) -> Buckets {
    let share = shares.iter().find(|(name, _)| name == member);
    share.map_or(Buckets::NONE, |(_, share)| *share)
}
