//! What the watches of related objects report.

use actix::Context;

use super::{Feed, RelatedReflector};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{FeedChanged, FeedId, Noted},
        watching::{self, DEGRADED_AFTER, Failures},
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
        let FeedChanged { feed, changes } = changed;
        // The first list is no change: waiting parents are woken when it is complete.
        if self.feed(&feed).is_some_and(|feed| feed.is_listed) {
            self.notify(&changes);
        }
    }
}

impl Receive<Noted<FeedId>> for RelatedReflector {
    fn receive(&mut self, Noted { of, note }: Noted<FeedId>, ctx: &mut Self::Context) {
        if self.feed(&of).is_none() {
            return;
        }
        let place = of.place;
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
            self.source.fetched(place, &settled);
        }
        self.recovered(place);
        self.settle(settled);
        self.switch();
        self.fetch_due(ctx);
    }

    fn recovered(&mut self, place: &Place) {
        let Some(feed) = self.feeds.get_mut(place).filter(|feed| feed.is_listed) else { return };
        feed.failures = Failures::default();
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

    /// After a watch that was listed has failed for long, its objects are still read, and may be out of date.
    fn failed(&mut self, place: &Place, error: &ApiError) {
        let watched = super::spec_of(self.spec(), place).watched();
        let Some(feed) = self.feeds.get_mut(place) else { return };
        let now = now().monotonic;
        feed.failures.add(now);
        if !feed.failures.are_lasting(error, feed.is_listed, now) {
            return;
        }
        let why = watching::why(&watched, error);
        if feed.is_listed && !watching::is_refused(error) {
            feed.outdated = Some(format!(
                "{why}; it has failed for more than {} min, and what was read before is still used",
                DEGRADED_AFTER.as_secs() / 60,
            ));
            return self.report_troubles();
        }
        let is_waited_for = !feed.is_listed && feed.state == FeedState::Pending;
        self.set_state(place, FeedState::Failing(why));
        if is_waited_for {
            self.settle(self.covered_by(place));
        }
    }

    fn set_state(&mut self, place: &Place, to: FeedState) {
        let Some(feed) = self.feeds.get_mut(place) else { return };
        if feed.state != to {
            feed.state = to.clone();
            self.source.set_state(place, to);
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
