//! Both ends of the wait for the lists of a type.

use tokio::sync::oneshot;

/// Who waits for a reflector, as it sees it.
pub(super) struct Awaiting {
    pub(super) listed: oneshot::Sender<()>,
    pub(super) fails: Option<oneshot::Sender<()>>,
}

/// The same, as the supervisor sees it.
pub(crate) struct Awaited {
    /// Is sent to when the scopes are settled.
    pub(crate) listed: oneshot::Receiver<()>,
    /// Is sent to when some have failed for a minute, unless they are settled before.
    pub(crate) fails: oneshot::Receiver<()>,
}
