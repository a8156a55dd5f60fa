//! Fetches objects that a new ask selects: the open broad watch has passed over them.

use std::time::Duration;

use actix::{AsyncContext, Context};

use super::{RelatedReflector, WatchParts, spec_of};
use crate::{
    actors::{
        mailbox::{Receive, post},
        messages::{FeedId, Fetched},
        supervised::guarded,
        watching,
    },
    cluster::{Cluster, List, PAGE_SIZE, Urgency},
    object::OneLine,
    operator::Ask,
    related::{FeedKey, MOST, SourceSpec},
    reply::ApiError,
    schedule::Backoff,
    store::Listed,
};

const BACKOFF: Backoff = Backoff { min: Duration::from_millis(500), max: Duration::from_secs(15) };

impl RelatedReflector {
    pub(super) fn fetch_due(&mut self, ctx: &Context<Self>) {
        let is_due = |feed: &super::Feed| {
            feed.is_synced() && !feed.fetching.is_running && !feed.fetching.queue.is_empty()
        };
        let due = self.feeds.iter().filter(|(_, feed)| is_due(feed));
        let due: Vec<FeedKey> = due.map(|(key, _)| key.clone()).collect();
        for key in due {
            self.fetch(key, ctx);
        }
    }

    fn fetch(&mut self, key: FeedKey, ctx: &Context<Self>) {
        let Some(feed) = self.feeds.get_mut(&key) else { return };
        let mut asks = feed.fetching.take();
        asks.retain(|ask| self.asked.contains(ask));
        if asks.is_empty() {
            // What could not be listed is not asked for any more.
            feed.fetching.is_well();
            return self.source.fetched(&key, []);
        }
        feed.fetching.is_running = true;
        feed.store.begin_fetch();
        let feed = FeedId { number: feed.number, key };
        let WatchParts { cluster, mailbox, runtime, .. } = &self.reflecting.parts;
        let (cluster, mailbox) = (cluster.clone(), mailbox.clone());
        let (address, spec) = (ctx.address(), self.spec().clone());
        runtime.spawn(async move {
            let result = fetched(&cluster, &spec, &feed.key, &asks).await;
            post(&address, &mailbox, Fetched { feed, asks, result });
        });
    }

    fn fetching_failed(
        &mut self,
        key: &FeedKey,
        asks: Vec<Ask>,
        error: &ApiError,
        ctx: &mut Context<Self>,
    ) {
        let watched = spec_of(self.spec(), key).watched();
        tracing::warn!(%watched, error = %OneLine(error), "related objects could not be listed");
        let Some(feed) = self.feeds.get_mut(key) else { return };
        feed.fetching.failures += 1;
        feed.fetching.queue.extend(asks.iter().cloned());
        let failures = feed.fetching.failures;
        if watching::is_refused(error) || failures >= watching::MAX_FAILURES {
            let why = watching::why(&watched, error);
            feed.fetching.problem = Some(why.clone());
            self.source.fetching_fails(key, why);
            self.settle(asks);
            self.report_problems();
        }
        ctx.run_later(BACKOFF.delay(failures, self.started), |reflector, ctx| {
            guarded(reflector, ctx, |reflector, ctx| {
                reflector.fetch_due(ctx);
                reflector.report_problems();
            });
        });
    }
}

/// A few are listed one by one, many by one list of all.
async fn fetched(
    cluster: &Cluster,
    spec: &SourceSpec,
    key: &FeedKey,
    asks: &[Ask],
) -> Result<Vec<List>, ApiError> {
    if asks.len() > MOST {
        let listed = Listed::of(asks.iter().cloned().collect());
        return Ok(vec![
            cluster.list(&spec_of(spec, key), PAGE_SIZE, (&listed, Urgency::Urgent)).await?,
        ]);
    }
    let mut lists = Vec::with_capacity(asks.len());
    for ask in asks {
        lists.push(cluster.list_all(&spec_of(spec, &FeedKey::Exact(ask.clone()))).await?);
    }
    Ok(lists)
}

impl Receive<Fetched> for RelatedReflector {
    fn receive(&mut self, fetched: Fetched, ctx: &mut Self::Context) {
        let Fetched { feed: id, asks, result } = fetched;
        let Some(feed) = self.feed(&id) else { return };
        let key = &id.key;
        feed.fetching.is_running = false;
        let lists = match result {
            Ok(lists) => lists,
            Err(error) => {
                feed.store.end_fetch(Vec::new());
                return self.fetching_failed(key, asks, &error, ctx);
            }
        };
        feed.fetching.is_well();
        let mut objects = Vec::new();
        for List { objects: found, undecodable, .. } in lists {
            objects.extend(found);
            for object in undecodable {
                feed.store.mark_undecodable(object);
            }
        }
        let changes = feed.store.end_fetch(objects);
        // Those who wait for the first answer are woken by that.
        if asks.iter().any(|ask| self.source.has_fetched(ask)) {
            self.notify(&changes.into());
        }
        self.source.fetched(key, asks.iter().filter(|ask| self.asked.contains(ask)));
        self.settle(asks);
        self.switch();
        self.fetch_due(ctx);
        self.report_problems();
    }
}
