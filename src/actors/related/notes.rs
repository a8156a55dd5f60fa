//! What the watches of related objects report.

use actix::Context;

use super::{Feed, RelatedReflector};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{FeedChanged, FeedNoted},
        watching,
    },
    cluster::WatchNote,
    operator::Ask,
    related::{FeedState, Place},
    reply::ApiError,
};

/// After so many failures in a row a watch that was never in sync is failing.
const MAX_FAILURES: u32 = 3;

impl Receive<FeedChanged> for RelatedReflector {
    fn receive(&mut self, changed: FeedChanged, _: &mut Context<Self>) {
        let FeedChanged { place, number, changes } = changed;
        let feed = self.feeds.get(&place).filter(|feed| feed.number == number);
        // The first list is no change: those who wait for it are woken when it is complete.
        if feed.is_some_and(|feed| feed.is_listed) {
            self.notify(changes);
        }
    }
}

impl Receive<FeedNoted> for RelatedReflector {
    fn receive(&mut self, noted: FeedNoted, ctx: &mut Self::Context) {
        let FeedNoted { place, number, note } = noted;
        if self.feeds.get(&place).is_none_or(|feed| feed.number != number) {
            return;
        }
        match note {
            WatchNote::Synced(_) => self.listed(&place, ctx),
            WatchNote::Alive { .. } => self.recovered(&place),
            WatchNote::Failed { error, retry_in } => {
                let watched = super::spec_of(self.spec(), &place).watched();
                tracing::warn!(%watched, %error, ?retry_in, "the watch of related objects failed");
                self.failed(&place, &error);
            }
            WatchNote::Undecodable { object, is_news: true } => {
                tracing::warn!("{object}");
                self.settle(object.key().cloned().map(Ask::Named).into_iter().collect());
            }
            // While a list is in progress the last state counts.
            WatchNote::Undecodable { .. } | WatchNote::Opened | WatchNote::Lost => {}
            // They came with `FeedChanged`.
            WatchNote::Changed(_) => {}
        }
    }
}

impl RelatedReflector {
    fn listed(&mut self, place: &Place, ctx: &mut Context<Self>) {
        let Some(feed) = self.feeds.get_mut(place) else { return };
        let is_first = !std::mem::replace(&mut feed.is_listed, true);
        let settled = feed.fetching.listed(is_first);
        if matches!(place, Place::Broad(_)) {
            self.parts.source.fetched(place, &settled);
        }
        self.recovered(place);
        self.settle(settled);
        self.switch();
        self.fetch_due(ctx);
    }

    fn recovered(&mut self, place: &Place) {
        let Some(feed) = self.feeds.get_mut(place).filter(|feed| feed.is_listed) else { return };
        feed.failures = 0;
        let was_failing = matches!(feed.state, FeedState::Failing(_));
        self.set_state(place, FeedState::Synced);
        if was_failing {
            self.settle(self.covered_by(place));
        }
    }

    /// A watch that is in sync tolerates a lost connection, and not a missing permission.
    fn failed(&mut self, place: &Place, error: &ApiError) {
        let watched = super::spec_of(self.spec(), place).watched();
        let Some(feed) = self.feeds.get_mut(place) else { return };
        feed.failures += 1;
        let is_lasting =
            watching::is_refused(error) || (!feed.is_listed && feed.failures >= MAX_FAILURES);
        let is_waited_for = !feed.is_listed && feed.state == FeedState::Pending;
        if is_lasting {
            self.set_state(place, FeedState::Failing(watching::why(&watched, error)));
            if is_waited_for {
                self.settle(self.covered_by(place));
            }
        }
    }

    fn set_state(&mut self, place: &Place, to: FeedState) {
        let Some(feed) = self.feeds.get_mut(place) else { return };
        if feed.state != to {
            feed.state = to.clone();
            self.parts.source.set_state(place, to);
            self.report_troubles();
        }
    }
}

impl Feed {
    pub(super) fn is_synced(&self) -> bool {
        self.state == FeedState::Synced
    }
}
