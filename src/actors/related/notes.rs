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
    related::{FeedKey, FeedState},
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
        let key = of.key;
        match note {
            WatchNote::Synced(_) => self.listed(&key, ctx),
            WatchNote::Alive { .. } => self.recovered(&key),
            WatchNote::Failed { error, retry_in } => {
                let watched = super::spec_of(self.spec(), &key).watched();
                let shown = OneLine(&error);
                tracing::warn!(%watched, error = %shown, ?retry_in, "the watch of related objects failed");
                self.failed(&key, &error);
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
    fn listed(&mut self, key: &FeedKey, ctx: &mut Context<Self>) {
        let Some(feed) = self.feeds.get_mut(key) else { return };
        let is_first = !std::mem::replace(&mut feed.is_listed, true);
        let settled = feed.fetching.listed(is_first);
        if matches!(key, FeedKey::Broad(_)) {
            self.source.fetched(key, &settled);
        }
        self.recovered(key);
        self.settle(settled);
        self.switch();
        self.fetch_due(ctx);
    }

    fn recovered(&mut self, key: &FeedKey) {
        let Some(feed) = self.feeds.get_mut(key).filter(|feed| feed.is_listed) else { return };
        feed.failures = Failures::default();
        let was_outdated = feed.outdated.take().is_some();
        let was_failing = matches!(feed.state, FeedState::Failing(_));
        self.set_state(key, FeedState::Synced);
        if was_outdated {
            self.report_problems();
        }
        if was_failing {
            self.settle(self.covered_by(key));
        }
    }

    /// After a watch that was listed has failed for long, its objects are still read, and may be out of date.
    fn failed(&mut self, key: &FeedKey, error: &ApiError) {
        let watched = super::spec_of(self.spec(), key).watched();
        let Some(feed) = self.feeds.get_mut(key) else { return };
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
            return self.report_problems();
        }
        let is_waited_for = !feed.is_listed && feed.state == FeedState::Pending;
        self.set_state(key, FeedState::Failing(why));
        if is_waited_for {
            self.settle(self.covered_by(key));
        }
    }

    fn set_state(&mut self, key: &FeedKey, to: FeedState) {
        let Some(feed) = self.feeds.get_mut(key) else { return };
        if feed.state != to {
            feed.state = to.clone();
            self.source.set_state(key, to);
            self.report_problems();
        }
    }
}

impl Feed {
    /// Why something cannot be read, or may be out of date.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
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
