//! What stands between a request and its answer, as values: whom to let in, under which names, and
//! what clients may take. What is done with them is for [`guard`](super::guard).

use std::{net::SocketAddr, time::Duration};

use super::{access::Access, audit::Quota, origin::Protocol, proxy::TlsProxy};
use crate::board::MAX_LISTENERS;

/// What every request must pass.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) hosts: Hosts,
    /// How it is reached.
    pub(super) protocol: Protocol,
    /// Through what it is reached by another name.
    pub(super) proxy: Option<TlsProxy>,
    /// Where it listens.
    pub(super) address: Option<SocketAddr>,
    /// What clients may take.
    pub(super) limits: Limits,
    /// How much strangers may make us write down.
    pub(super) quota: Quota,
    /// Who decides whom to let in; `None` lets in everybody.
    pub(super) access: Option<Access>,
}

/// Whose requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Those that name the loopback as their host.
    Loopback,
    /// All: the address can be reached by other names.
    Any,
}

/// What clients may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long the request line and headers may take, and TLS before them.
    pub(super) head: Duration,
    /// How long a body may take.
    pub(super) body: Duration,
    /// When a connection without requests is closed.
    pub(super) idle: Duration,
    /// When a connection is closed whose client takes nothing of what is sent.
    pub(super) stalled: Duration,
    /// How many connections there may be; beyond, those that are idle make room.
    pub(super) connections: usize,
    /// How many of them one client may have.
    pub(super) per_peer: usize,
    /// More of them, for probes alone.
    pub(super) reserve: usize,
}

pub(super) const MAX_URI: usize = 8 << 10;
pub(super) const MAX_HEADERS: usize = 16 << 10;

impl Gate {
    /// Whether only names of the loopback are answered.
    pub(super) fn is_for_loopback(&self) -> bool {
        self.hosts == Hosts::Loopback
    }
}

impl Hosts {
    pub(super) fn of(address: SocketAddr) -> Self {
        if address.ip().is_loopback() { Self::Loopback } else { Self::Any }
    }
}

/// A connection takes two files: one is to end it by.
const FILES: usize = 2;

impl Limits {
    /// As many connections as the process may have files open, when it keeps a quarter for itself.
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
        // Beyond those who listen to events, who stay, there is room for others; also where one
        // client listens to as many as it may.
        let (connections, per_peer) = (MAX_LISTENERS + 512, MAX_LISTENERS + 128);
        Self { head: short, body: short, idle, stalled, connections, per_peer, reserve: 64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_connections_than_files_for_them() {
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
