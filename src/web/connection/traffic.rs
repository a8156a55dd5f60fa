//! The activity of connections, and the closing of those that are idle or stuck.
//!
//! The HTTP library has a timeout for the head of the first request of a connection, and for idle
//! connections. It has none for the head of a later request after its first byte. Over HTTP/2 it
//! accepts any number of concurrent requests, and keeps an answer that a client does not read. So this
//! module closes a connection without a request for longer than both timeouts, one with too many
//! requests, and one whose client reads no answer. Where it can, the operating system closes one whose
//! client does not acknowledge data.

use std::{
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{dev::ServiceRequest, rt};
use tokio::{sync::watch, time::timeout};

use super::pool::{Entered, Idle, Pool, SlotKind};
use crate::web::{body::Held, peer, request_rules::Limits};

/// The limit of concurrent requests of one connection: a browser with many tabs needs fewer.
const MAX_IN_FLIGHT: usize = 32;

/// How long a client may read nothing of its answers. Event streams have more frequent heartbeats.
const STUCK: Duration = Duration::from_mins(2);

/// How long the last answer of a connection may take to reach the client.
const LINGER: Duration = Duration::from_secs(1);

/// The slots of all connections. Clones share them.
#[derive(Debug, Clone)]
pub(in crate::web) struct Slots {
    pool: Arc<Mutex<Pool<ConnectionTraffic>>>,
    idle_timeout: Duration,
}

/// The slot of a connection, until it is dropped.
#[derive(Debug)]
pub(in crate::web) struct Slot {
    slots: Slots,
    number: u64,
    pub(super) traffic: ConnectionTraffic,
}

#[derive(Debug, Clone, Copy)]
struct Traffic {
    slot: SlotKind,
    in_flight: usize,
    /// Since when.
    since: Instant,
    /// How often the client requested more of an answer.
    wanted: u64,
    /// When it is closed, unless a request is in flight.
    ends_at: Option<Instant>,
}

/// A connection in the pool, and in the data of its requests.
#[derive(Debug, Clone)]
pub(in crate::web) struct ConnectionTraffic(Arc<watch::Sender<Traffic>>);

/// A request in flight, until its whole answer is handed to the connection.
pub(in crate::web) struct Busy(Arc<watch::Sender<Traffic>>);

// === Slots ===

impl Slots {
    pub(in crate::web) fn new(limits: Limits) -> Self {
        let idle_timeout = limits.idle + limits.head;
        Self { pool: Arc::new(Mutex::new(Pool::new(limits))), idle_timeout }
    }

    /// A slot for a connection, whose activity is watched until it ends; `None` if none is free.
    pub(in crate::web) fn enter(&self, connection: &rt::net::TcpStream) -> Option<Slot> {
        let peer = connection.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
        // A second descriptor of the socket: the library does not hand out its own.
        let socket = connection.as_fd().try_clone_to_owned().ok()?;
        let (traffic, seen) = watch::channel(Traffic::new());
        let traffic = ConnectionTraffic(Arc::new(traffic));
        let entered = self.pool().enter(peer::client(peer), traffic.clone())?;
        let Entered { number, slot, replaces } = entered;
        traffic.0.send_modify(|traffic| traffic.slot = slot);
        if let Some(ConnectionTraffic(replaced)) = replaces {
            replaced.send_modify(|traffic| traffic.ends_at = Some(Instant::now()));
        }
        rt::spawn(close_idle(socket.into(), seen, self.idle_timeout));
        Some(Slot { slots: self.clone(), number, traffic })
    }

    fn pool(&self) -> MutexGuard<'_, Pool<ConnectionTraffic>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.pool().leave(self.number);
    }
}

impl Idle for ConnectionTraffic {
    fn idle_since(&self) -> Option<Instant> {
        let traffic = self.0.borrow();
        (traffic.in_flight == 0).then_some(traffic.since)
    }
}

// === Requests ===

/// Marks a request as in flight, if its connection is watched.
pub(in crate::web) fn busy(request: &ServiceRequest) -> Option<Busy> {
    let ConnectionTraffic(traffic) = request.conn_data()?;
    traffic.send_modify(|traffic| traffic.in_flight += 1);
    Some(Busy(Arc::clone(traffic)))
}

/// What the connection of a request may be used for.
pub(in crate::web) fn slot_kind(request: &ServiceRequest) -> SlotKind {
    request
        .conn_data()
        .map_or(SlotKind::Ordinary, |ConnectionTraffic(traffic)| traffic.borrow().slot)
}

/// Closes the connection after the answer to a request. Over HTTP/1 the answer has a header for this.
pub(in crate::web) fn end(request: &ServiceRequest) {
    if let Some(ConnectionTraffic(traffic)) = request.conn_data() {
        let at = Instant::now() + LINGER;
        traffic.send_modify(|traffic| traffic.ends_at = traffic.ends_at.or(Some(at)));
    }
}

impl Traffic {
    fn new() -> Self {
        let since = Instant::now();
        Self { slot: SlotKind::Ordinary, in_flight: 0, since, wanted: 0, ends_at: None }
    }
}

async fn close_idle(socket: TcpStream, mut traffic: watch::Receiver<Traffic>, idle: Duration) {
    loop {
        let Traffic { in_flight, ends_at, .. } = *traffic.borrow_and_update();
        let patience = match (in_flight, ends_at) {
            (0, Some(end)) => end.saturating_duration_since(Instant::now()).min(idle),
            (0, None) => idle,
            (1..=MAX_IN_FLIGHT, _) => STUCK,
            _ => break,
        };
        match timeout(patience, traffic.changed()).await {
            Ok(Ok(())) => {}
            // The connection ended.
            Ok(Err(_)) => return,
            Err(_) => break,
        }
    }
    // The connection may have ended meanwhile.
    let _ = socket.shutdown(Shutdown::Both);
}

/// Lets the operating system close connections whose client acknowledges nothing for this time. On
/// Linux accepted connections inherit it from the listener.
pub(in crate::web) fn end_when_stalled(listener: &TcpListener, stalled: Duration) {
    #[cfg(target_os = "linux")]
    {
        let milliseconds = u32::try_from(stalled.as_millis()).unwrap_or(u32::MAX);
        if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(listener, milliseconds) {
            tracing::debug!(%error, "TCP_USER_TIMEOUT cannot be set: connections of stalled clients stay open");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (listener, stalled);
}

impl Held for Option<Busy> {
    fn wanted(&self) {
        if let Some(Busy(traffic)) = self {
            traffic.send_modify(|traffic| traffic.wanted += 1);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|traffic| {
            traffic.in_flight -= 1;
            traffic.since = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn connection() -> (tokio::net::TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn with(in_flight: usize) -> Traffic {
        Traffic { in_flight, ..Traffic::new() }
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_no_longer_watched() {
        for left in [0, 1] {
            let (_client, socket) = connection().await;
            let (traffic, seen) = watch::channel(with(left));
            let mut closing = Box::pin(close_idle(socket, seen, Duration::from_mins(1)));
            assert!(closing.as_mut().now_or_never().is_none());
            drop(traffic);
            assert!(closing.now_or_never().is_some(), "with {left} in flight");
        }
    }

    #[tokio::test]
    async fn a_connection_with_too_many_requests_is_closed_at_once() {
        let (mut client, socket) = connection().await;
        let (traffic, seen) = watch::channel(with(MAX_IN_FLIGHT));
        let mut closing = Box::pin(close_idle(socket, seen, Duration::from_mins(1)));
        assert!(closing.as_mut().now_or_never().is_none(), "the limit is allowed");
        traffic.send_replace(with(MAX_IN_FLIGHT + 1));
        closing.await;
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "the connection is closed");
    }

    #[tokio::test]
    async fn a_connection_whose_client_reads_nothing_is_closed() {
        let (_client, socket) = connection().await;
        let (traffic, seen) = watch::channel(with(1));
        tokio::time::pause();
        let busy = Some(Busy(Arc::new(traffic)));
        let begun = tokio::time::Instant::now();
        let reading = async {
            tokio::time::sleep(STUCK / 2).await;
            busy.wanted();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = close_idle(socket, seen, Duration::from_secs(1)) => {}
            () = reading => {}
        }
        assert_eq!(begun.elapsed().as_secs(), (STUCK / 2 + STUCK).as_secs());
    }
}
