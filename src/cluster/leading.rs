//! What is done only while this process leads.

use super::{
    Cluster,
    closing::{closed, opened},
};

impl Cluster {
    /// Returns when a write may be sent: at once without an election.
    pub(crate) async fn until_leading(&self) {
        if let Some(fence) = self.fence() {
            opened(fence.clone()).await;
        }
    }

    /// Does this until it is done, or until the process leads no longer: then it is dropped where it waits, and the answer
    /// is `None`.
    pub(crate) async fn while_leading<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(fence) = self.fence() else { return Some(work.await) };
        tokio::select! {
            biased;
            () = closed(fence.clone()) => None,
            done = work => Some(done),
        }
    }
}
