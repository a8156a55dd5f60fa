//! One election, as a state machine.
//!
//! | state | input | act |
//! |---|---|---|
//! | standby | due | read |
//! | standby | read, seen: held by another and valid | wait until it expires |
//! | standby | read: held by nobody, by this process, or expired; or it does not exist | write |
//! | standby | written | **leads**; wait for the retry period |
//! | leader | due | write |
//! | leader | read, seen: held by another | **standby**; wait until it expires |
//! | leader | read, seen: it is gone | write |
//! | leader | no answer until the renew deadline | **standby**; wait for the retry period |
//! | both | outrun: another wrote first, or it is gone | read |
//! | both | failed | wait for the retry period |

use std::time::SystemTime;

use super::{Lease, SinceBoot, Timing};

/// Both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) boot: SinceBoot,
    /// Only for what the Lease shows.
    pub(crate) wall: SystemTime,
}

#[derive(Debug)]
pub(crate) enum Input {
    /// The time of [`Act::Wait`] has come.
    Due,
    /// The answer to [`Act::Read`]; `None` if there is no Lease.
    Read(Option<Lease>),
    /// The watch showed the Lease, or that it is gone.
    Seen(Option<Lease>),
    /// [`Act::Write`] was accepted.
    Written {
        /// When it was sent.
        sent: SinceBoot,
        /// The answer.
        lease: Lease,
    },
    /// [`Act::Write`] was refused, because the Lease is not the one that it replaces.
    Outrun,
    /// The request failed otherwise.
    Failed,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    Read,
    /// Create or replace it.
    Write(Lease),
    /// [`Input::Due`] is next, at this time.
    Wait(SinceBoot),
    /// The answer to a request is next.
    Await,
}

/// One election.
#[derive(Debug)]
pub(crate) struct Election {
    place: (String, String),
    identity: String,
    timing: Timing,
    observed: Option<Observed>,
    /// When the last accepted write was sent, while this process leads.
    leads: Option<SinceBoot>,
    is_asking: bool,
}

#[derive(Debug)]
struct Observed {
    lease: Lease,
    /// When it was first seen as it is.
    at: SinceBoot,
}

impl Election {
    /// An election by the Lease of this namespace and name, as a standby.
    pub(crate) fn new((namespace, name): (&str, &str), identity: &str, timing: Timing) -> Self {
        Self {
            place: (namespace.to_owned(), name.to_owned()),
            identity: identity.to_owned(),
            timing,
            observed: None,
            leads: None,
            is_asking: false,
        }
    }

    /// Until when this process leads, unless it renews the Lease; `None` for a standby.
    pub(crate) fn leads_until(&self) -> Option<SinceBoot> {
        self.leads.map(|sent| sent.plus(self.timing.renew_deadline))
    }

    /// Who holds the Lease, as far as this process knows.
    pub(crate) fn holder(&self) -> Option<&str> {
        self.observed.as_ref().and_then(|observed| observed.lease.holder())
    }

    /// Decides what to do.
    pub(crate) fn step(&mut self, input: Input, now: Now) -> Act {
        let is_answer = !matches!(input, Input::Due | Input::Seen(_));
        self.is_asking &= !is_answer;
        self.give_up_when_late(now);
        let act = self.decide(input, now);
        self.is_asking |= matches!(act, Act::Read | Act::Write(_));
        act
    }

    /// Gives the Lease back: the write for that, if this process leads.
    pub(crate) fn release(&mut self, now: Now) -> Option<Lease> {
        self.leads.take()?;
        Some(self.observed.take()?.lease.released(now.wall))
    }

    fn decide(&mut self, input: Input, now: Now) -> Act {
        match input {
            Input::Due if self.leads.is_some() => self.write(now),
            Input::Due | Input::Outrun => Act::Read,
            Input::Read(lease) => {
                self.observe(lease, now);
                self.take_or_wait(now)
            }
            Input::Seen(lease) => {
                if !self.is_outdated(lease.as_ref()) {
                    self.observe(lease, now);
                }
                if self.is_asking { Act::Await } else { self.keep_or_wait(now) }
            }
            Input::Written { sent, lease } => {
                self.observed = Some(Observed { lease, at: now.boot });
                self.leads = Some(sent);
                self.give_up_when_late(now);
                Act::Wait(sent.plus(self.timing.retry))
            }
            Input::Failed => {
                let retry = now.boot.plus(self.timing.retry);
                Act::Wait(self.leads_until().map_or(retry, |until| until.min(retry)))
            }
        }
    }

    fn give_up_when_late(&mut self, now: Now) {
        if self.leads_until().is_some_and(|until| until <= now.boot) {
            self.leads = None;
        }
    }

    /// Notes the Lease as it is. A process that led does so no longer when another holds it.
    fn observe(&mut self, lease: Option<Lease>, now: Now) {
        let is_known = |known: &Observed| lease.as_ref().is_some_and(|new| new.is_as(&known.lease));
        let at = self.observed.as_ref().filter(|known| is_known(known)).map(|known| known.at);
        self.observed = lease.map(|lease| Observed { lease, at: at.unwrap_or(now.boot) });
        if self.observed.is_some() && !self.is_held_here() {
            self.leads = None;
        }
    }

    /// Whether a watch shows something older than what is known.
    fn is_outdated(&self, lease: Option<&Lease>) -> bool {
        let known = self.observed.as_ref().and_then(|known| known.lease.version());
        let version = lease.and_then(Lease::version);
        known.is_some_and(|known| version.is_some_and(|version| version.is_older_than(&known)))
    }

    fn is_held_here(&self) -> bool {
        self.holder() == Some(&self.identity)
    }

    fn take_or_wait(&self, now: Now) -> Act {
        match self.expiry() {
            Some(expiry) if expiry > now.boot => Act::Wait(expiry),
            _ => self.write(now),
        }
    }

    /// What the watch shows may be outdated, so that the Lease is read before it is taken.
    fn keep_or_wait(&self, now: Now) -> Act {
        match (self.leads, &self.observed) {
            (Some(_), None) => self.write(now),
            (Some(sent), Some(_)) => Act::Wait(sent.plus(self.timing.retry)),
            (None, _) => Act::Wait(self.expiry().unwrap_or(now.boot)),
        }
    }

    /// When the Lease expires; `None` if nobody else holds it.
    fn expiry(&self) -> Option<SinceBoot> {
        let Observed { lease, at } = self.observed.as_ref()?;
        lease.holder().filter(|holder| *holder != self.identity)?;
        Some(at.plus(lease.duration().unwrap_or(self.timing.lease)))
    }

    fn write(&self, now: Now) -> Act {
        let (namespace, name) = &self.place;
        let known = self.observed.as_ref().map(|observed| observed.lease.clone());
        let lease = known.unwrap_or_else(|| Lease::new(namespace, name));
        Act::Write(lease.held_by(&self.identity, self.timing.lease, now.wall))
    }
}

#[cfg(test)]
mod tests;
