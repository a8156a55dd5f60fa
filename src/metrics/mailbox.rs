//! How many messages wait for an actor.

use prometheus::IntGauge;

#[derive(Clone)]
pub(crate) struct MailboxDepth(pub(super) IntGauge);

/// A message that waits in a mailbox, counted until this is dropped.
pub(crate) struct InMailbox(IntGauge);

impl MailboxDepth {
    #[must_use = "the message is counted until this is dropped"]
    pub(crate) fn enter(&self) -> InMailbox {
        self.0.inc();
        InMailbox(self.0.clone())
    }
}

impl Drop for InMailbox {
    fn drop(&mut self) {
        self.0.dec();
    }
}
