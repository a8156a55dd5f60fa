//! What a member caches: as its registry does, it watches more at once and fewer after a while, and lists one type after the
//! other.

use super::{Event, World};
use crate::election::shards::{Buckets, ShardInput};

/// How long fewer buckets are wanted before the others are watched no more.
const QUIET: u64 = 3_000;

/// How long a list fails before it is said.
const PATIENCE: u64 = 60_000;

#[derive(Default)]
pub(super) struct Caches {
    watched: Buckets,
    /// The buckets of which the objects of all types are cached.
    pub(super) complete: Buckets,
    /// How often that changed what is watched.
    number: u64,
    /// The last change whose lists could not end.
    waits: Option<u64>,
    /// Whether no list ends.
    pub(super) is_blocked: bool,
}

impl World {
    pub(super) fn follow(&mut self, at: usize) {
        let (wanted, watched) = (self.members[at].role.watches, self.members[at].caches.watched);
        if !wanted.without(watched).is_empty() {
            self.watch(at);
        } else if wanted != watched && !wanted.is_empty() {
            self.after(QUIET, at, Event::Narrows);
        }
    }

    /// More may be wanted again by now.
    pub(super) fn narrow(&mut self, at: usize) {
        let (wanted, watched) = (self.members[at].role.watches, self.members[at].caches.watched);
        if wanted != watched && !wanted.is_empty() && !self.members[at].is_stopped {
            self.watch(at);
        }
    }

    fn watch(&mut self, at: usize) {
        let (wanted, caches) = (self.members[at].role.watches, &mut self.members[at].caches);
        let has_fewer = !caches.watched.without(wanted).is_empty();
        (caches.watched, caches.number) = (wanted, caches.number + 1);
        // One of the types is listed soon, and has fewer objects then.
        caches.complete = caches.complete.within(wanted);
        let number = caches.number;
        if has_fewer {
            let delay = self.chance.between(0, 3);
            self.after(delay, at, Event::Input(ShardInput::Narrowed(wanted)));
        }
        let delay = self.chance.between(50, 3_000);
        self.after(delay, at, Event::Listed(number));
    }

    pub(super) fn list_ended(&mut self, at: usize, number: u64) {
        let member = &mut self.members[at];
        if member.caches.is_blocked || member.is_stopped {
            member.caches.waits = member.caches.waits.max(Some(number));
            self.after(PATIENCE, at, Event::Fails(number));
        } else if member.caches.number == number {
            member.caches.complete = member.caches.watched;
            let warm = ShardInput::Warm(member.caches.watched);
            self.input(at, warm);
        }
    }

    pub(super) fn list_fails(&mut self, at: usize, number: u64) {
        let Caches { number: now, waits, is_blocked, .. } = self.members[at].caches;
        if is_blocked && now == number && waits == Some(number) {
            self.input(at, ShardInput::Unlistable);
        }
    }

    pub(super) fn unblock(&mut self, at: usize) {
        self.members[at].caches.is_blocked = false;
        self.list_waiting(at);
    }

    /// Ends the list that could not end before.
    pub(super) fn list_waiting(&mut self, at: usize) {
        if let Some(number) = self.members[at].caches.waits.take() {
            self.list_ended(at, number);
        }
    }
}
