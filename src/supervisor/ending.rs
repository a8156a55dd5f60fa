//! The end of a supervisor: buckets are handed over, then the drain, the Leases, the web endpoint and the webhooks. Each has a deadline, and together they are over before
//! [`ABANDONED`]: then whoever waits for the supervisor waits no longer.
//!
//! ```text
//! 0 s ---- reconciles in flight end ---- 4 s -- Leases -- 4.3 s -- web, webhooks -- 4.4 s      4.5 s: abandoned
//! ```
//!
//! A Lease is given back after the last write. Where a reconcile or a write did not end, the elector does not give it back,
//! because nobody knows when the last write takes effect: the fence is closed for ever, connections with unanswered writes
//! are reset, and the Lease expires by itself.

use std::{sync::Arc, time::Duration};

use actix_web::dev::ServerHandle;
use futures::future::OptionFuture;
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    actors::{Elected, Sharded},
    execute::Context,
};

/// How long reconciles in flight may take.
const DRAINED: Duration = Duration::from_secs(4);
/// When the Leases are given back.
const RELEASED: Duration = Duration::from_millis(4300);
/// When the web endpoint is closed.
const CLOSED: Duration = Duration::from_millis(4400);
/// When nobody waits any longer. A program has the rest of five seconds for itself.
pub(super) const ABANDONED: Duration = Duration::from_millis(4500);

/// What is served.
pub(super) struct Servers {
    /// It shows the drain, and has nothing to finish.
    pub(super) web: Option<ServerHandle>,
    /// Its calls in flight are answered: the API server would refuse the requests of clients.
    pub(super) webhooks: Option<ServerHandle>,
}

/// How long other members of a group may take until they have the buckets of this one.
const HANDED_OVER: Duration = Duration::from_secs(10);

/// Gives the buckets of the process to the other members of its group, while it still works.
pub(super) async fn hand_over(sharded: &Sharded) {
    if timeout(HANDED_OVER, sharded.leave()).await.is_err() {
        tracing::warn!("no other process has taken all buckets of this one: they take them later");
    }
}

/// Ends what runs.
pub(super) async fn end(
    contexts: &[Arc<Context>],
    (elected, sharded): (&[Elected], Option<&Sharded>),
    servers: Servers,
) {
    if !contexts.is_empty() {
        tracing::info!("stopping: waiting for reconciles in flight");
    }
    let drained = futures::future::join_all(contexts.iter().map(|context| context.drain()));
    // Those whose operators have ended, whatever the others do.
    let elected = futures::future::join_all(elected.iter().map(Elected::release));
    let member = OptionFuture::from(sharded.map(Sharded::release));
    let released = futures::future::join(elected, member);
    in_time(drained, released, servers.close()).await;
}

impl Servers {
    async fn close(self) {
        let Self { web, webhooks } = self;
        let web = OptionFuture::from(web.map(|server| server.stop(false)));
        let webhooks = OptionFuture::from(webhooks.map(|server| server.stop(true)));
        futures::future::join(web, webhooks).await;
    }
}

async fn in_time<D, R>(
    drained: impl Future<Output = D>,
    released: impl Future<Output = R>,
    closed: impl Future<Output = ()>,
) {
    let begun = Instant::now();
    if timeout_at(begun + DRAINED, drained).await.is_err() {
        tracing::warn!("handlers or requests did not end in time: they are abandoned");
    }
    if timeout_at(begun + RELEASED, released).await.is_err() {
        tracing::warn!("a Lease was not given back in time: it expires");
    }
    if timeout_at(begun + CLOSED, closed).await.is_err() {
        tracing::warn!("the web endpoint or the webhooks were not closed in time");
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::pending};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_served_is_closed_after_the_drain() {
        let is_drained = Cell::new(false);
        let drained = async {
            tokio::time::sleep(DRAINED / 2).await;
            is_drained.set(true);
        };
        let closed = async { assert!(is_drained.get(), "webhooks are answered meanwhile") };
        in_time(drained, async {}, closed).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_has_a_deadline_whatever_does_not_end() {
        for stuck in 0..8 {
            let (begun, steps) = (Instant::now(), Cell::new(0));
            let step = async |bit: u32| {
                steps.set(steps.get() | bit);
                if stuck & bit != 0 {
                    pending::<()>().await;
                }
            };
            in_time(step(1), step(2), step(4)).await;
            assert!(begun.elapsed() < ABANDONED, "{stuck}: {:?}", begun.elapsed());
            assert_eq!(steps.get(), 7, "none is left out");
        }
    }
}
