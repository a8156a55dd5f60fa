//! One member of a group, as a state machine.
//!
//! | bucket | when | becomes |
//! |---|---|---|
//! | not held | assigned here, warm, and nobody is seen to hold it | said |
//! | said | its Lease was accepted, and a list after that shows no other holder | **works** |
//! | said | assigned to another | not held |
//! | works | assigned to another, which is warm | closing |
//! | closing | its work has ended | not held |
//! | closing | assigned here again | **works** |
//! | any | no renewal was accepted until the renew deadline | not held |
//!
//! What the Lease says follows: it is written at once when it has to say something else, and at each retry period.

use std::time::{Duration, SystemTime};

use super::{
    assignment::assign,
    bucket::Buckets,
    member::Standing,
    peers::{Peer, Peers},
};
use crate::{
    election::{Lease, Now, SinceBoot, Timing},
    object::ResourceVersion,
};

#[derive(Debug, Clone)]
pub(crate) enum ShardInput {
    /// The time of [`ShardAct::Wait`] has come.
    Due,
    /// The answer to [`ShardAct::List`]: the Leases of the group, by name.
    Listed { leases: Vec<(String, Lease)>, version: ResourceVersion },
    /// The list failed.
    Unlisted,
    /// The watch showed a Lease of the group.
    Seen(String, Lease),
    /// The watch showed that a Lease is gone.
    Gone(String),
    /// [`ShardAct::Write`] was accepted.
    Written {
        /// When it was sent.
        sent: SinceBoot,
        /// The answer.
        lease: Lease,
    },
    /// [`ShardAct::Write`] was refused, because the Lease is not the one that it replaces.
    Outrun,
    /// The write failed otherwise.
    Failed,
    /// The caches hold the objects of these buckets completely, and of no others.
    Warm(Buckets),
    /// In these closing buckets no reconcile and no write is in progress.
    Idle(Buckets),
    /// The process is going to stop.
    Leaving,
}

#[derive(Debug, PartialEq)]
pub(crate) enum ShardAct {
    /// Create or replace the own Lease.
    Write(Lease),
    /// List the Leases of the group, as the server has them now.
    List,
    /// Delete the Lease of a member that ended long ago, in this version.
    Remove(String, Lease),
    /// [`ShardInput::Due`] is next, at this time, unless another input comes before.
    Wait(SinceBoot),
}

/// What a member does at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Role {
    /// Until when it may write, unless it renews its Lease; `None` if it may not.
    pub(crate) until: Option<SinceBoot>,
    /// The buckets in which reconciles may begin.
    pub(crate) works: Buckets,
    /// The buckets in which reconciles are to end, but may still write.
    pub(crate) closing: Buckets,
    /// The buckets whose objects it needs to watch.
    pub(crate) watches: Buckets,
}

/// One member of a group.
#[derive(Debug)]
pub(crate) struct Shards {
    namespace: String,
    group: String,
    member: String,
    url: Option<String>,
    timing: Timing,
    peers: Peers,
    /// The own Lease as the server has it.
    lease: Option<Lease>,
    /// When the last accepted write was sent, while this process may write.
    tenure: Option<SinceBoot>,
    /// What the Lease said in that write.
    said: Standing,
    /// What is being written.
    writing: Option<Standing>,
    /// What was said before the list in progress was requested.
    listing: Option<Buckets>,
    /// When the first list was requested.
    began: Option<SinceBoot>,
    /// The buckets that were said before a list that has ended.
    checked: Buckets,
    claims: Buckets,
    works: Buckets,
    closing: Buckets,
    /// Since when buckets have been closing.
    closing_since: Option<SinceBoot>,
    warm: Buckets,
    assigned: Buckets,
    /// The assignment to all that are present.
    shares: Vec<(String, Buckets)>,
    is_leaving: bool,
    /// Whether the Lease on the server is not what was written.
    is_edited: bool,
    /// When a failed request is tried again.
    retry: Option<SinceBoot>,
    /// Whether the Leases have to be listed, because the own one is not known.
    is_lost: bool,
    /// Until when the assignment stays as it is: after an outage the others have to renew their Leases, too.
    settles: Option<SinceBoot>,
}

/// How long reconciles of closing buckets may go on writing.
const CLOSING: Duration = Duration::from_secs(2);

impl Shards {
    /// A member that holds nothing.
    pub(crate) fn new(
        (namespace, group): (&str, &str),
        member: &str,
        url: Option<String>,
        timing: Timing,
    ) -> Self {
        let (peers, lease, tenure, said, writing, listing, began) = <_>::default();
        let (checked, claims, works, closing, closing_since, warm, assigned, shares) =
            <_>::default();
        Self {
            namespace: namespace.to_owned(),
            group: group.to_owned(),
            member: member.to_owned(),
            url,
            timing,
            peers,
            lease,
            tenure,
            said,
            writing,
            listing,
            began,
            checked,
            claims,
            works,
            closing,
            closing_since,
            warm,
            assigned,
            shares,
            is_leaving: false,
            is_edited: false,
            retry: None,
            is_lost: true,
            settles: None,
        }
    }

    pub(crate) fn role(&self, now: Now) -> Role {
        let is_late = self.closing_since.is_some_and(|since| since.plus(CLOSING) <= now.boot);
        Role {
            until: self.tenure.map(|sent| sent.plus(self.timing.renew_deadline)),
            works: self.works,
            closing: if is_late { Buckets::NONE } else { self.closing },
            watches: self.assigned.with(self.claims),
        }
    }

    /// The buckets whose work is to end.
    pub(crate) fn closing(&self) -> Buckets {
        self.closing
    }

    /// Whether it holds nothing, or nobody is there who could take it.
    pub(crate) fn may_leave(&self, now: Now) -> bool {
        self.claims.is_empty() || self.peers.present(self.timing, now.boot).next().is_none()
    }

    /// The other members, and what they say.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, Option<&Standing>)> {
        self.peers.alive().map(|(name, peer)| (name, Peer::said(peer)))
    }

    /// The buckets that no member works in, as far as is known.
    pub(crate) fn unowned(&self) -> Buckets {
        Buckets::ALL.without(self.peers.held()).without(self.works).without(self.closing)
    }

    /// Decides what to do.
    pub(crate) fn step(&mut self, input: ShardInput, now: Now) -> Vec<ShardAct> {
        self.end_when_late(now.boot);
        self.note(input, now);
        self.end_when_late(now.boot);
        self.expire(now.boot);
        self.assign(now.boot);
        self.give_up(now.boot);
        self.claim(now.boot);
        self.begin();
        self.acts(now)
    }

    /// Whether the answer to a write is awaited. The Lease cannot be given back before.
    pub(crate) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Gives the Lease back: the write for that. Where work has not ended it expires.
    pub(crate) fn release(&mut self, now: Now) -> Option<Lease> {
        self.tenure.take()?;
        self.stop();
        Some(Standing::released_in(&self.lease.take()?, &self.group, now.wall))
    }
}

// === what is known ===

impl Shards {
    fn note(&mut self, input: ShardInput, now: Now) {
        match input {
            ShardInput::Due => {}
            ShardInput::Listed { leases, version } => self.listed(leases, &version, now.boot),
            ShardInput::Unlisted => {
                self.listing = None;
                self.retry = Some(now.boot.plus(self.timing.retry));
            }
            ShardInput::Seen(name, lease) if name == self.member => self.seen_own(lease),
            ShardInput::Gone(name) if name == self.member => self.lost_own(),
            ShardInput::Seen(name, lease) => {
                self.peers.observe(&name, lease, self.timing, now.boot);
            }
            ShardInput::Gone(name) => self.peers.gone(&name, now.boot),
            ShardInput::Written { sent, lease } => self.written(sent, lease),
            ShardInput::Outrun => {
                self.not_written();
                self.is_lost = true;
            }
            ShardInput::Failed => {
                self.not_written();
                self.retry = Some(now.boot.plus(self.timing.retry));
            }
            ShardInput::Warm(buckets) => self.warm = buckets,
            ShardInput::Idle(buckets) => {
                let ended = buckets.within(self.closing);
                self.closing = self.closing.without(ended);
                self.claims = self.claims.without(ended);
            }
            ShardInput::Leaving => self.is_leaving = true,
        }
    }

    fn listed(
        &mut self,
        mut leases: Vec<(String, Lease)>,
        version: &ResourceVersion,
        now: SinceBoot,
    ) {
        let own = leases.extract_if(.., |(name, _)| *name == self.member).next();
        if self.is_lost && self.writing.is_none() {
            (self.lease, self.is_lost) = (own.map(|(_, lease)| lease), false);
            self.is_edited = true;
        }
        self.peers.replace(leases, version, self.timing, now);
        let before = self.listing.take().unwrap_or_default();
        self.checked = self.checked.with(before);
        self.retry = None;
    }

    /// Somebody wrote the own Lease, or it is an echo.
    fn seen_own(&mut self, lease: Lease) {
        let known = self.lease.as_ref().and_then(Lease::version);
        let is_later =
            known.zip(lease.version()).is_none_or(|(known, it)| known.is_older_than(&it));
        if self.writing.is_none() && is_later && !self.is_lost {
            self.is_edited = true;
            self.lease = Some(lease);
        }
    }

    fn lost_own(&mut self) {
        if self.writing.is_none() {
            self.is_lost = true;
        }
    }

    /// What is said counts when it is accepted, unless that came too late.
    fn written(&mut self, sent: SinceBoot, lease: Lease) {
        let Some(said) = self.writing.take() else { return };
        if self.tenure.is_none() && self.assigned != Buckets::NONE {
            self.settles = Some(sent.plus(self.timing.retry * 2));
        }
        (self.lease, self.tenure, self.said) = (Some(lease), Some(sent), said);
        (self.is_edited, self.retry) = (false, None);
        self.keep_checked(self.said.holds);
    }

    /// The write may have taken effect, or may do so later.
    fn not_written(&mut self) {
        let writing = self.writing.take().unwrap_or_default();
        self.said.holds = self.said.holds.within(writing.holds);
        self.keep_checked(self.said.holds);
    }

    /// Lists that were requested before count for no other buckets.
    fn keep_checked(&mut self, buckets: Buckets) {
        self.checked = self.checked.within(buckets);
        self.listing = self.listing.map(|before| before.within(buckets));
    }

    /// What the Lease on the server says for certain.
    fn surely_said(&self) -> Buckets {
        let writing = self.writing.as_ref().map_or(Buckets::ALL, |writing| writing.holds);
        if self.tenure.is_some() { self.said.holds.within(writing) } else { Buckets::NONE }
    }

    /// A watch may be late: whether a Lease was not renewed has to be listed, too.
    fn expire(&mut self, now: SinceBoot) {
        let expired = self.peers.expire(now);
        self.keep_checked(Buckets::ALL.without(expired));
    }

    fn end_when_late(&mut self, now: SinceBoot) {
        let until = self.tenure.map(|sent| sent.plus(self.timing.renew_deadline));
        if until.is_some_and(|until| until <= now) {
            self.tenure = None;
            self.stop();
        }
    }

    /// Ends all work at once. What was said is said no more by the next write, which begins from nothing.
    fn stop(&mut self) {
        (self.claims, self.works, self.closing, self.closing_since) = <_>::default();
        self.said.holds = Buckets::NONE;
        self.keep_checked(Buckets::NONE);
    }
}

// === decisions ===

impl Shards {
    /// Shares the buckets out over those that are present. After an outage that waits until the others had the time to renew
    /// their Leases.
    fn assign(&mut self, now: SinceBoot) {
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
    fn give_up(&mut self, now: SinceBoot) {
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

    fn claim(&mut self, now: SinceBoot) {
        let busy = self.works.with(self.closing);
        // What was only said is given back without more.
        self.claims = self.claims.within(busy.with(self.assigned));
        let is_complete =
            self.began.is_some_and(|began| began.plus(self.timing.renew_deadline) <= now);
        let known = if is_complete { Buckets::ALL } else { self.peers.freed() };
        let free = known.without(self.peers.held());
        self.claims = self.claims.with(self.assigned.within(self.warm).within(free));
    }

    fn begin(&mut self) {
        let sure = self.claims.within(self.surely_said()).within(self.checked);
        let free = sure.without(self.peers.held()).without(self.closing);
        self.works = self.works.with(free.within(self.assigned));
    }
}

// === requests ===

impl Shards {
    fn acts(&mut self, now: Now) -> Vec<ShardAct> {
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
