//! The rules for requests, as values: access, host names and limits. [`guard`](super::guard) applies
//! them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use super::{access::Access, audit::Quota, origin::Protocol, paths::Paths, proxy::TlsProxy};
use crate::board::MAX_LISTENERS;

#[derive(Debug, Clone)]
pub(super) struct RequestRules {
    pub(super) hosts: Hosts,
    /// The protocol of its clients.
    pub(super) protocol: Protocol,
    /// The proxy that gives it another name.
    pub(super) proxy: Option<TlsProxy>,
    pub(super) address: Option<SocketAddr>,
    pub(super) limits: Limits,
    /// The limit of log lines about unauthenticated clients.
    pub(super) quota: Quota,
    /// Reviews access; `None` admits everybody.
    pub(super) access: Option<Access>,
    pub(super) paths: Arc<Paths>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    Loopback,
    Any,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long the request line and headers may take, and TLS before them.
    pub(super) head: Duration,
    /// How long a body may take.
    pub(super) body: Duration,
    /// When a connection without requests is closed.
    pub(super) idle: Duration,
    /// When a connection is closed whose client acknowledges no data.
    pub(super) stalled: Duration,
    /// The limit of connections; beyond it, new ones replace idle ones.
    pub(super) connections: usize,
    pub(super) per_peer: usize,
    /// Further connections, only for probes.
    pub(super) reserve: usize,
}

pub(super) const MAX_URI: usize = 8 << 10;
pub(super) const MAX_HEADERS: usize = 16 << 10;

impl Hosts {
    pub(super) fn of(address: SocketAddr) -> Self {
        if address.ip().is_loopback() { Self::Loopback } else { Self::Any }
    }
}

/// A connection needs two file descriptors: one is used to close it.
const FILES: usize = 2;

impl Limits {
    /// Reduces the connections to the limit of open files, of which the process keeps a quarter.
    pub(super) fn within(self, files: Option<u64>) -> Self {
        let files = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
        let room = (files - files / 4) / FILES;
        let connections = self.connections.min(room.saturating_sub(2 * self.reserve).max(1));
        let per_peer = if connections < self.connections {
            self.per_peer.min((connections - connections / 4).max(1))
        } else {
            self.per_peer
        };
        Self { connections, per_peer, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let short = Duration::from_secs(5);
        let (idle, stalled) = (Duration::from_mins(1), Duration::from_secs(30));
        // More than the listeners to events, whose connections stay open, also for one client.
        let (connections, per_peer) = (MAX_LISTENERS + 512, MAX_LISTENERS + 128);
        Self { head: short, body: short, idle, stalled, connections, per_peer, reserve: 64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_by_open_files() {
        let within = |files| {
            let Limits { connections, per_peer, .. } = Limits::default().within(files);
            (connections, per_peer)
        };
        assert_eq!(within(None), (1536, 1152));
        assert_eq!(within(Some(1 << 20)), (1536, 1152));
        assert_eq!(within(Some(1024)), (256, 192));
        assert_eq!(within(Some(0)), (1, 1));
    }
}
