//! How many messages wait for an actor.

use prometheus::IntGauge;

use super::activity::{Activity, Work};

#[derive(Clone)]
pub(crate) struct MailboxDepth {
    gauge: IntGauge,
    activity: Activity,
}

/// A message that waits in a mailbox, counted until this is dropped or the message is received.
pub(crate) struct InMailbox {
    _waiting: Waiting,
    work: Work,
}

struct Waiting(IntGauge);

impl MailboxDepth {
    pub(super) fn new(gauge: IntGauge, activity: Activity) -> Self {
        Self { gauge, activity }
    }

    #[must_use = "the message is counted until this is dropped"]
    pub(crate) fn enter(&self) -> InMailbox {
        self.gauge.inc();
        InMailbox { _waiting: Waiting(self.gauge.clone()), work: self.activity.begin() }
    }
}

impl InMailbox {
    /// The message waits no longer. The work lasts until it is processed.
    pub(crate) fn received(self) -> Work {
        self.work
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_it_is_received_and_is_work_until_it_is_processed() {
        let (gauge, activity) =
            (IntGauge::new("waiting", "messages").unwrap(), Activity::default());
        let waiting = MailboxDepth::new(gauge.clone(), activity.clone()).enter();
        assert_eq!((gauge.get(), activity.at_rest()), (1, None));
        let work = waiting.received();
        assert_eq!((gauge.get(), activity.at_rest()), (0, None));
        drop(work);
        assert_eq!(activity.at_rest(), Some(1));
    }
}
