//! The buckets whose objects the process is to watch, as the member of the group wants them.

use std::{future::pending, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::election::Buckets;

/// How long fewer buckets are wanted before the others are watched no more.
const QUIET: Duration = Duration::from_secs(3);

pub(crate) struct WantedBuckets {
    buckets: watch::Receiver<Buckets>,
    /// The last that were seen, and since when.
    seen: (Buckets, Instant),
}

impl WantedBuckets {
    pub(crate) fn new(buckets: watch::Receiver<Buckets>) -> Self {
        let seen = (*buckets.borrow(), Instant::now());
        Self { buckets, seen }
    }

    /// The buckets to watch instead of these; never, if there are none. Fewer are watched after a while: buckets are given up
    /// one after the other, and each change lists what remains. It can be dropped and called again, which delays nothing.
    pub(super) async fn instead_of(&mut self, watched: Buckets) -> Buckets {
        loop {
            let wanted = *self.buckets.borrow_and_update();
            if wanted != self.seen.0 {
                self.seen = (wanted, Instant::now());
            }
            if !wanted.without(watched).is_empty() {
                return wanted;
            }
            let has_fewer = wanted != watched && !wanted.is_empty();
            let until = self.seen.1 + QUIET;
            let quiet =
                async { if has_fewer { sleep_until(until).await } else { pending().await } };
            tokio::select! {
                () = quiet => return wanted,
                changed = self.buckets.changed() => if changed.is_err() { pending().await },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(text: &str) -> Buckets {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn fewer_are_watched_when_no_more_are_given_up_however_often_it_is_asked() {
        let (sender, receiver) = watch::channel(buckets("0-63"));
        let mut wanted = WantedBuckets::new(receiver);
        sender.send(buckets("0-50")).unwrap();
        let begun = Instant::now();
        let later = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            sender.send(buckets("0-31")).unwrap();
            pending::<()>().await;
        };
        tokio::pin!(later);
        let taken = loop {
            let second = tokio::time::sleep(Duration::from_millis(700));
            tokio::select! {
                taken = wanted.instead_of(buckets("0-63")) => break taken,
                () = second => {}
                () = &mut later => unreachable!(),
            }
        };
        assert_eq!(
            (taken, begun.elapsed().as_secs()),
            (buckets("0-31"), 4),
            "three seconds of quiet"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn more_are_watched_at_once_and_none_never() {
        let (sender, receiver) = watch::channel(buckets(""));
        let mut wanted = WantedBuckets::new(receiver);
        let hour = Duration::from_hours(1);
        let instead = wanted.instead_of(buckets("0-31"));
        tokio::time::timeout(hour, instead).await.expect_err("something is to be watched");
        sender.send(buckets("32-40")).unwrap();
        let begun = Instant::now();
        assert_eq!(wanted.instead_of(buckets("0-31")).await, buckets("32-40"));
        assert_eq!(begun.elapsed(), Duration::ZERO);
        sender.send(buckets("")).unwrap();
        sender.send(buckets("32")).unwrap();
        assert_eq!(wanted.instead_of(buckets("32-40")).await, buckets("32"));
        let took = begun.elapsed().as_secs();
        assert_eq!(took, QUIET.as_secs(), "the quiet begins with the last change");
    }
}
