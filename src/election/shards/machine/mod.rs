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
//! A member that cannot list the objects of its share declines: nobody assigns it a bucket until its caches are complete for
//! the share that it would have.
//!
//! What the Lease says follows: it is written at once when it has to say something else, and at each retry period.

mod decisions;
mod known;
mod requests;

use std::time::Duration;

use super::{
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
    /// Some of the objects that are to be watched cannot be listed, for a longer time.
    Unlistable,
    /// The caches are going to hold the objects of no other buckets than these.
    Narrowed(Buckets),
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
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
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
    /// Whether its share goes to others, because its caches are not complete.
    declines: bool,
    /// What would be assigned if nobody declined.
    fair: Buckets,
    /// Whether objects cannot be listed, since the caches were complete.
    fails: bool,
    /// The assignment to all that are present.
    shares: Vec<(String, Buckets)>,
    is_leaving: bool,
    /// Whether the Lease on the server is not what was written.
    is_edited: bool,
    /// When a failed request is tried again.
    retry: Option<SinceBoot>,
    /// Whether the Leases have to be listed, because the own one is not known.
    is_lost: bool,
    /// Until when the assignment stays as it is: processes that start together have to see each other, and after an outage
    /// the others have to renew their Leases, too.
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
        let (declines, fair, fails) = <_>::default();
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
            declines,
            fair,
            fails,
            shares,
            is_leaving: false,
            is_edited: false,
            retry: None,
            is_lost: true,
            settles: None,
        }
    }

    /// The same after a panic: it holds and knows nothing, but the caches are as they were.
    pub(crate) fn begun_again(&self) -> Self {
        let place = (&*self.namespace, &*self.group);
        let begun = Self::new(place, &self.member, self.url.clone(), self.timing);
        Self { warm: self.warm, fails: self.fails, ..begun }
    }

    /// Notes what the caches hold, and decides nothing.
    pub(crate) fn know(&mut self, input: ShardInput, now: Now) {
        self.note(input, now);
    }

    pub(crate) fn role(&self, now: Now) -> Role {
        let is_late = self.closing_since.is_some_and(|since| since.plus(CLOSING) <= now.boot);
        Role {
            until: self.tenure.map(|sent| sent.plus(self.timing.renew_deadline)),
            works: self.works,
            closing: if is_late { Buckets::NONE } else { self.closing },
            watches: if self.declines { self.fair } else { self.assigned }.with(self.claims),
        }
    }

    /// The buckets whose work is to end.
    pub(crate) fn closing(&self) -> Buckets {
        self.closing
    }

    /// Whether it holds nothing, or nobody is there who could take it.
    pub(crate) fn may_leave(&self, now: Now) -> bool {
        let mut others = self.peers.present(self.timing, now.boot);
        self.claims.is_empty() || !others.any(|(_, said)| said.takes())
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
        self.decline(now.boot);
        self.give_up(now.boot);
        self.claim(now.boot);
        self.begin();
        self.acts(now)
    }

    /// Whether its share goes to others, because its caches could not be completed.
    pub(crate) fn declines(&self) -> bool {
        self.declines
    }

    /// Whether the process is going to stop.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_leaving
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
