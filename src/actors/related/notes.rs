//! What the watches of related objects report.

use actix::Context;

use super::{Feed, RelatedReflector};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{FeedChanged, FeedNoted},
        watching::{self, DEGRADED_AFTER, MAX_FAILURES},
    },
    cluster::WatchNote,
    execute::now,
    object::OneLine,
    operator::Ask,
    related::{FeedState, Place},
    reply::ApiError,
};

impl Receive<FeedChanged> for RelatedReflector {
    fn receive(&mut self, changed: FeedChanged, _: &mut Context<Self>) {
        let FeedChanged { place, number, changes } = changed;
        let feed = self.feeds.get(&place).filter(|feed| feed.number == number);
        // The first list is no change: waiting parents are woken when it is complete.
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
                let shown = OneLine(&error);
                tracing::warn!(%watched, error = %shown, ?retry_in, "the watch of related objects failed");
                self.failed(&place, &error);
            }
            WatchNote::Undecodable { object, is_news: true } => {
                tracing::warn!("{}", OneLine(&object));
                self.settle(object.key().cloned().map(Ask::Named).into_iter().collect());
            }
            // While a list is in progress the last state counts. Changes came with `FeedChanged`.
            WatchNote::Undecodable { .. }
            | WatchNote::Opened
            | WatchNote::Lost
            | WatchNote::Changed(_) => {}
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
        (feed.failures, feed.failing_since) = (0, None);
        let was_outdated = feed.outdated.take().is_some();
        let was_failing = matches!(feed.state, FeedState::Failing(_));
        self.set_state(place, FeedState::Synced);
        if was_outdated {
            self.report_troubles();
        }
        if was_failing {
            self.settle(self.covered_by(place));
        }
    }

    /// A watch that is in sync tolerates a lost connection for a while, but not a missing permission. Afterwards its
    /// objects are still read, and may be out of date.
    fn failed(&mut self, place: &Place, error: &ApiError) {
        let watched = super::spec_of(self.spec(), place).watched();
        let Some(feed) = self.feeds.get_mut(place) else { return };
        feed.failures += 1;
        let now = now().monotonic;
        let since = *feed.failing_since.get_or_insert(now);
        let has_failed_often = feed.failures >= MAX_FAILURES;
        let is_lasting = watching::is_refused(error) || (!feed.is_listed && has_failed_often);
        let is_waited_for = !feed.is_listed && feed.state == FeedState::Pending;
        if is_lasting {
            self.set_state(place, FeedState::Failing(watching::why(&watched, error)));
            if is_waited_for {
                self.settle(self.covered_by(place));
            }
        } else if has_failed_often && now.saturating_duration_since(since) >= DEGRADED_AFTER {
            feed.outdated = Some(format!(
                "{}; it has failed for more than {} min, and what was read before is still used",
                watching::why(&watched, error),
                DEGRADED_AFTER.as_secs() / 60,
            ));
            self.report_troubles();
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
    /// Why something cannot be read, or may be out of date.
    pub(super) fn troubles(&self) -> impl Iterator<Item = String> {
        let failing = match &self.state {
            FeedState::Failing(why) => Some(why.clone()),
            FeedState::Pending | FeedState::Synced => None,
        };
        failing.into_iter().chain(self.outdated.clone()).chain(self.fetching.problem.clone())
    }

    pub(super) fn is_synced(&self) -> bool {
        self.state == FeedState::Synced
    }
}
