//! In which buckets this process works, and how many reconciles are in progress in each.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use tokio::sync::Notify;

use super::bucket::{BUCKETS, Bucket, Buckets};

/// The fences of all buckets. They are closed at first. Cheap to clone.
///
/// They are beside the fence of the process, which closes by time, down to the sockets: a bucket is given up while the process
/// works, so that its last write is awaited instead.
#[derive(Debug, Clone)]
pub(crate) struct BucketFence(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Where reconciles may begin.
    works: AtomicU64,
    /// Where they may write.
    writes: AtomicU64,
    busy: [AtomicUsize; BUCKETS as usize],
    /// Notified when a bucket has nothing in progress.
    idle: Notify,
}

/// What is in progress in a bucket, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Busy {
    fence: BucketFence,
    bucket: Bucket,
}

impl Default for BucketFence {
    fn default() -> Self {
        let (works, writes, idle) = <_>::default();
        let busy = std::array::from_fn(|_| AtomicUsize::new(0));
        Self(Arc::new(Shared { works, writes, busy, idle }))
    }
}

impl BucketFence {
    /// Sets where reconciles may begin, and where those that have begun may still write.
    pub(crate) fn set(&self, works: Buckets, closing: Buckets) {
        self.0.works.store(works.bits(), Ordering::SeqCst);
        self.0.writes.store(works.with(closing).bits(), Ordering::SeqCst);
    }

    pub(crate) fn works(&self) -> Buckets {
        Buckets::from_bits(self.0.works.load(Ordering::SeqCst))
    }

    pub(crate) fn may_write(&self, bucket: Bucket) -> bool {
        Buckets::from_bits(self.0.writes.load(Ordering::SeqCst)).has(bucket)
    }

    /// Begins something in a bucket; none if nothing may begin there.
    pub(crate) fn begin(&self, bucket: Bucket) -> Option<Busy> {
        // Counted before it is looked: whoever closes the bucket looks after that.
        self.0.busy[usize::from(bucket.number())].fetch_add(1, Ordering::SeqCst);
        let busy = Busy { fence: self.clone(), bucket };
        self.works().has(bucket).then_some(busy)
    }

    /// Those of the buckets in which nothing is in progress.
    pub(crate) fn idle_of(&self, buckets: Buckets) -> Buckets {
        let count = |bucket: Bucket| &self.0.busy[usize::from(bucket.number())];
        buckets.iter().filter(|bucket| count(*bucket).load(Ordering::SeqCst) == 0).collect()
    }

    /// Waits until something has ended in one of the buckets, and returns those in which nothing is in progress.
    pub(crate) async fn idle(&self, buckets: Buckets) -> Buckets {
        loop {
            let ended = self.0.idle.notified();
            let idle = self.idle_of(buckets);
            if !idle.is_empty() {
                return idle;
            }
            ended.await;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Shared { busy, idle, .. } = &*self.fence.0;
        if busy[usize::from(self.bucket.number())].fetch_sub(1, Ordering::SeqCst) == 1 {
            idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_bucket_is_idle_when_what_began_there_has_ended_and_nothing_begins_in_a_closing_one() {
        let (fence, bucket) = (BucketFence::default(), Bucket::numbered(7).unwrap());
        assert!(fence.begin(bucket).is_none() && !fence.may_write(bucket));
        fence.set(Buckets::ALL, Buckets::NONE);
        let busy = fence.begin(bucket).unwrap();
        fence.set(Buckets::NONE, bucket.into());
        assert!(fence.begin(bucket).is_none() && fence.may_write(bucket), "it is closing");
        let mut idle = std::pin::pin!(fence.idle(bucket.into()));
        assert_eq!(idle.as_mut().now_or_never(), None);
        drop(busy);
        assert_eq!(fence.idle_of(Buckets::ALL), Buckets::ALL);
        assert_eq!(fence.idle(bucket.into()).now_or_never(), Some(bucket.into()));
    }
}
