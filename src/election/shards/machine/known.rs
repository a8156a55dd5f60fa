//! What a member learns: of the others, and of its own Lease.

use super::{ShardInput, Shards};
use crate::{
    election::{Lease, Now, SinceBoot, shards::bucket::Buckets},
    object::ResourceVersion,
};

impl Shards {
    pub(super) fn note(&mut self, input: ShardInput, now: Now) {
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
            ShardInput::Warm(buckets) => (self.warm, self.fails) = (buckets, false),
            ShardInput::Unlistable => self.fails = true,
            ShardInput::Narrowed(buckets) => self.warm = self.warm.within(buckets),
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
        if self.tenure.is_none() {
            let is_first = self.assigned.is_empty();
            self.settles = Some(sent.plus(self.timing.retry * if is_first { 1 } else { 2 }));
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
    pub(super) fn surely_said(&self) -> Buckets {
        let writing = self.writing.as_ref().map_or(Buckets::ALL, |writing| writing.holds);
        if self.tenure.is_some() { self.said.holds.within(writing) } else { Buckets::NONE }
    }

    /// A watch may be late: whether a Lease was not renewed has to be listed, too.
    pub(super) fn expire(&mut self, now: SinceBoot) {
        let expired = self.peers.expire(now);
        self.keep_checked(Buckets::ALL.without(expired));
    }

    pub(super) fn end_when_late(&mut self, now: SinceBoot) {
        let until = self.tenure.map(|sent| sent.plus(self.timing.renew_deadline));
        if until.is_some_and(|until| until <= now) {
            self.tenure = None;
            self.stop();
        }
    }

    /// Ends all work at once. What was said is said no more by the next write, which begins from nothing.
    pub(super) fn stop(&mut self) {
        (self.claims, self.works, self.closing, self.closing_since) = <_>::default();
        self.said.holds = Buckets::NONE;
        self.keep_checked(Buckets::NONE);
    }
}
