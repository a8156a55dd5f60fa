//! Hours of resyncs, retries and backoff, which pass when the test says so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{
    object::Object,
    prelude::*,
    testkit::{Clock, TestCluster},
};

use super::support::{config, config_map, secret, served, sync};

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// Counts the calls of a handler.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicUsize>);

impl Calls {
    /// The number of calls before this one.
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// How many calls there are while this time passes.
    async fn during(&self, time: Duration, clock: &Clock) -> usize {
        let before = self.count();
        clock.advance(time).await;
        self.count() - before
    }
}

#[tokio::test]
async fn a_resync_comes_at_its_time_and_again_and_again() -> Result<()> {
    let (cluster, calls) = (TestCluster::start(), Calls::default());
    let counted = calls.clone();
    let handler = move |request: &SyncRequest<ConfigMap>| {
        counted.next();
        Ok::<_, Error>(sync(request)?.resync_after(10 * MINUTE))
    };
    let (_operators, clock) =
        cluster.run_with_clock(|builder| builder.register(config(), handler)).await?;
    cluster.given(config_map("a", "soup")).await?;
    assert_eq!(calls.during(9 * MINUTE, &clock).await, 0);
    assert_eq!(calls.during(2 * MINUTE, &clock).await, 1);
    assert_eq!(calls.during(HOUR, &clock).await, 6);
    Ok(())
}

#[tokio::test]
async fn the_delay_that_a_handler_asks_for_is_kept() -> Result<()> {
    let (cluster, calls) = (TestCluster::start(), Calls::default());
    let counted = calls.clone();
    // Asynchronous: it shares the thread with all others.
    let handler = move |_: SyncRequest| {
        let call = counted.next();
        async move {
            tokio::task::yield_now().await;
            let busy = || RetryAfter { message: "busy".to_owned(), delay: HOUR };
            if call == 0 {
                Err(busy().into())
            } else {
                Ok::<SyncResponse, Error>(SyncResponse::new())
            }
        }
    };
    let (_operators, clock) =
        cluster.run_with_clock(|builder| builder.register(config(), handler)).await?;
    cluster.given(config_map("a", "soup")).await?;
    assert_eq!(calls.during(59 * MINUTE, &clock).await, 0);
    // Up to a tenth of jitter.
    assert_eq!(calls.during(8 * MINUTE, &clock).await, 1);
    assert_eq!(calls.during(100 * HOUR, &clock).await, 0, "it succeeded");
    Ok(())
}

#[tokio::test]
async fn errors_are_retried_with_growing_delays() -> Result<()> {
    let (cluster, calls) = (TestCluster::start(), Calls::default());
    let counted = calls.clone();
    let handler = move |_: &SyncRequest| -> Result<SyncResponse> {
        counted.next();
        Err(Error::msg("not yet"))
    };
    let config = config().with_error_backoff(HOUR, 4 * HOUR);
    let (_operators, clock) =
        cluster.run_with_clock(|builder| builder.register(config, handler)).await?;
    cluster.given(config_map("a", "soup")).await?;
    assert_eq!(calls.count(), 1);
    // Each delay is at least half of the full one.
    assert_eq!(calls.during(29 * MINUTE, &clock).await, 0);
    assert_eq!(calls.during(32 * MINUTE, &clock).await, 1, "after an hour at most");
    clock.advance(6 * HOUR + MINUTE).await;
    assert!((3..6).contains(&calls.count()), "two and four hours at most: {}", calls.count());
    let later = calls.during(40 * HOUR, &clock).await;
    assert!((9..=20).contains(&later), "every four hours at most: {later}");
    Ok(())
}

/// Keeps a parent for two hours after its deletion.
struct Slow(Calls);

impl Handler for Slow {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        Ok(SyncResponse::new().child(secret(request.parent.name(), "soup")))
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse> {
        match self.0.next() {
            0 | 1 => Ok(FinalizeResponse::retry_after(HOUR)),
            _ => Ok(FinalizeResponse::done()),
        }
    }
}

#[tokio::test]
async fn a_finalization_takes_its_time_and_changes_are_seen_meanwhile() -> Result<()> {
    let (cluster, calls) = (TestCluster::start(), Calls::default());
    let handler = Slow(calls.clone());
    let (_operators, clock) =
        cluster.run_with_clock(|builder| builder.register(config(), handler)).await?;
    cluster.given(config_map("a", "soup")).await?;
    cluster.when_deleted::<ConfigMap>("a").await?;
    assert_eq!(calls.during(61 * MINUTE, &clock).await, 1);
    assert!(cluster.get::<ConfigMap>("a").await?.is_some());
    cluster.given(config_map("b", "soup")).await?;
    assert_eq!(served(cluster.get::<Secret>("b").await?), "soup", "the watches go on");
    assert_eq!(calls.during(61 * MINUTE, &clock).await, 1);
    cluster.of::<ConfigMap>().eventually_gone("a").await;
    Ok(())
}
