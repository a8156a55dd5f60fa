//! Whether the process is at rest: how much work has begun, and how much of it has ended.
//!
//! Work starts its follow-up work before it ends: a message is posted before the handling of its cause ends.
//! So the process is at rest when all work has ended.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

/// The counts of a process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Work in progress, until this is dropped.
#[derive(Debug)]
pub(crate) struct Work(Activity);

impl Activity {
    #[must_use = "the work ends when this is dropped"]
    pub(crate) fn begin(&self) -> Work {
        self.0.begun.fetch_add(1, SeqCst);
        Work(self.clone())
    }

    /// How much has begun so far; `None` while some of it is in progress. The same number twice means that
    /// nothing has happened in between.
    #[cfg_attr(not(feature = "testkit"), expect(dead_code, reason = "only tests wait for it"))]
    pub(crate) fn at_rest(&self) -> Option<u64> {
        // In this order: what begins later than the first load makes them differ.
        let ended = self.0.ended.load(SeqCst);
        let begun = self.0.begun.load(SeqCst);
        (begun == ended).then_some(begun)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.0.ended.fetch_add(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_at_rest_when_all_work_has_ended() {
        let activity = Activity::default();
        assert_eq!(activity.at_rest(), Some(0));
        let first = activity.begin();
        let second = activity.begin();
        drop(first);
        assert_eq!(activity.at_rest(), None);
        drop(second);
        assert_eq!(activity.at_rest(), Some(2));
    }
}
