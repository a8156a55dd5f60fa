//! The other members of a group, as far as their Leases show.
//!
//! A member holds what it said last, until it says otherwise or its Lease has not been renewed for its duration, by the
//! clock of the reader. One whose Lease was edited or deleted by hand may hold anything: what it said last may not have been
//! seen.

use std::{collections::BTreeMap, time::Duration};

use super::{bucket::Buckets, member::Standing};
use crate::{
    election::{Lease, SinceBoot, Timing},
    object::ResourceVersion,
};

#[derive(Debug, Default)]
pub(super) struct Peers {
    by_name: BTreeMap<String, Peer>,
    /// The buckets whose holder was seen, and seen to hold them no more.
    freed: Buckets,
}

#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// The Lease as it was seen last.
    lease: Lease,
    /// What the member itself was seen to say last.
    said: Option<Standing>,
    /// When it was seen to say that, or seen to say nothing any more.
    seen: SinceBoot,
    duration: Duration,
    /// Whether its Lease is as the member wrote it.
    is_known: bool,
    /// Whether its Lease does not exist any more.
    is_gone: bool,
    /// Whether its end was seen: it gave its Lease back, or did not renew it.
    is_over: bool,
}

impl Peers {
    /// Notes a Lease, unless a newer version of it is known.
    pub(super) fn observe(&mut self, name: &str, lease: Lease, timing: Timing, now: SinceBoot) {
        let said = Standing::of(&lease);
        let Some(known) = self.by_name.get_mut(name) else {
            self.by_name.insert(name.to_owned(), Peer::new(lease, said, timing, now));
            return self.take_back(name);
        };
        if known.is_newer_than(&lease) {
            return;
        }
        known.is_gone = false;
        let before = known.said_holds();
        // An edit is no renewal.
        match said {
            None => known.became_unknown(now),
            Some(said) if !lease.is_as(&known.lease) => {
                known.duration = lease.duration().unwrap_or(timing.lease);
                (known.seen, known.is_known) = (now, true);
                (known.said, known.is_over) = (Some(said), lease.holder().is_none());
            }
            Some(_) => {}
        }
        known.lease = lease;
        let freed = before.without(known.said_holds());
        self.freed = self.freed.with(freed);
        self.take_back(name);
    }

    /// Notes that a Lease does not exist.
    pub(super) fn gone(&mut self, name: &str, now: SinceBoot) {
        if let Some(peer) = self.by_name.get_mut(name) {
            peer.became_unknown(now);
            peer.is_gone = true;
        }
    }

    /// Notes all Leases of the group, as of a version.
    pub(super) fn replace(
        &mut self,
        leases: Vec<(String, Lease)>,
        version: &ResourceVersion,
        timing: Timing,
        now: SinceBoot,
    ) {
        for (name, peer) in &mut self.by_name {
            let is_listed = leases.iter().any(|(listed, _)| listed == name);
            let is_later = peer.lease.version().is_some_and(|known| version.is_older_than(&known));
            if !is_listed && !is_later {
                peer.became_unknown(now);
                peer.is_gone = true;
            }
        }
        for (name, lease) in leases {
            self.observe(&name, lease, timing, now);
        }
    }

    /// Ends the members whose Leases have expired, and forgets those without a Lease. Returns what the former held.
    pub(super) fn expire(&mut self, now: SinceBoot) -> Buckets {
        let mut expired = Buckets::NONE;
        for peer in self.by_name.values_mut().filter(|peer| peer.expires() <= now) {
            expired = expired.with(peer.holds());
            self.freed = self.freed.with(peer.said_holds());
            peer.is_over = true;
        }
        self.by_name.retain(|_, peer| !(peer.is_over && peer.is_gone));
        expired
    }

    /// What the members hold.
    pub(super) fn held(&self) -> Buckets {
        self.by_name.values().map(Peer::holds).fold(Buckets::NONE, Buckets::with)
    }

    /// The buckets that nobody holds since a holder gave them up.
    pub(super) fn freed(&self) -> Buckets {
        self.freed
    }

    /// The members that renew their Leases, and do not leave.
    pub(super) fn present(
        &self,
        timing: Timing,
        now: SinceBoot,
    ) -> impl Iterator<Item = (&str, &Standing)> {
        let is_present = move |peer: &Peer| !peer.is_over && peer.doubted(timing) > now;
        let present = self.by_name.iter().filter(move |(_, peer)| is_present(peer));
        let said = present.filter_map(|(name, peer)| Some((name.as_str(), peer.said.as_ref()?)));
        said.filter(|(_, said)| !said.is_leaving)
    }

    /// All members whose end was not seen.
    pub(super) fn alive(&self) -> impl Iterator<Item = (&str, &Peer)> {
        let alive = self.by_name.iter().filter(|(_, peer)| !peer.is_over);
        alive.map(|(name, peer)| (name.as_str(), peer))
    }

    /// When one of them is doubted or expires next.
    pub(super) fn next(&self, timing: Timing, now: SinceBoot) -> Option<SinceBoot> {
        let living = self.by_name.values().filter(|peer| !peer.is_over);
        let times = living.flat_map(|peer| [peer.doubted(timing), peer.expires()]);
        times.filter(|time| *time > now).min()
    }

    /// The Lease of a member that ended long ago. It is not returned again soon.
    pub(super) fn take_remains(&mut self, now: SinceBoot) -> Option<(String, Lease)> {
        let is_old = |peer: &Peer| {
            peer.is_over && !peer.is_gone && peer.seen.plus(peer.duration * KEPT) <= now
        };
        let (name, peer) = self.by_name.iter_mut().find(|(_, peer)| is_old(peer))?;
        peer.seen = now;
        Some((name.clone(), peer.lease.clone()))
    }

    fn take_back(&mut self, name: &str) {
        if let Some(peer) = self.by_name.get(name) {
            self.freed = self.freed.without(peer.said_holds());
        }
    }
}

/// For how many durations the Lease of a member is kept that has ended.
const KEPT: u32 = 20;

impl Peer {
    fn new(lease: Lease, said: Option<Standing>, timing: Timing, now: SinceBoot) -> Self {
        let is_over = said.is_some() && lease.holder().is_none();
        let duration = lease.duration().unwrap_or(timing.lease);
        let duration = if is_over { timing.lease } else { duration };
        let is_known = said.is_some();
        Self { lease, said, seen: now, duration, is_known, is_gone: false, is_over }
    }

    /// What it may write in.
    fn holds(&self) -> Buckets {
        if self.is_known || self.is_over { self.said_holds() } else { Buckets::ALL }
    }

    /// What it was seen to hold.
    fn said_holds(&self) -> Buckets {
        let said = self.said.as_ref().filter(|_| !self.is_over);
        said.map_or(Buckets::NONE, |said| said.holds)
    }

    /// Its Lease is not as it wrote it. It may have renewed it before.
    fn became_unknown(&mut self, now: SinceBoot) {
        if self.is_known && !self.is_over {
            (self.is_known, self.seen) = (false, now);
        }
    }

    pub(super) fn said(&self) -> Option<&Standing> {
        self.said.as_ref()
    }

    /// When others begin to prepare for its end. The member itself has stopped writing by then.
    fn doubted(&self, timing: Timing) -> SinceBoot {
        self.seen.plus(timing.renew_deadline.min(self.duration))
    }

    fn expires(&self) -> SinceBoot {
        self.seen.plus(self.duration)
    }

    fn is_newer_than(&self, lease: &Lease) -> bool {
        let known = self.lease.version();
        known.is_some_and(|known| lease.version().is_some_and(|it| it.is_older_than(&known)))
    }
}
