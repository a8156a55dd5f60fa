//! What goes on on a connection, and who is cut off for holding a place for nothing.
//!
//! The HTTP library gives a time to the head of the first request of a connection, and to one on
//! which nothing happens. To the head of a later request, once its first byte is there, it gives
//! none; over HTTP/2 it takes as many requests at once as a client sends, and keeps each answer
//! for as long as the client takes nothing of it. So who has no request under way for longer than
//! both times together is cut off here, and so is who has too many, or takes nothing of any. And a
//! client that does not even acknowledge what is sent is cut off by the operating system, where it
//! can.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{dev::ServiceRequest, rt};
use tokio::{sync::watch, time::timeout};

use super::pool::{Entered, Idle, Place, Pool, Room};
use crate::web::{body::Held, gate::Limits, peer};

/// So many requests of one connection are answered at once: a browser with many tabs needs fewer.
const MOST_UNDER_WAY: usize = 32;

/// For so long a client may take nothing of what it has asked for. Those who listen to events take
/// a heartbeat in a fraction of it.
const STUCK: Duration = Duration::from_mins(2);

/// An answer that is the last of its connection is given so long to reach the client.
const FAREWELL: Duration = Duration::from_secs(1);

/// The places of all connections. Clones share them.
#[derive(Debug, Clone)]
pub(in crate::web) struct Slots {
    pool: Arc<Mutex<Pool<Line>>>,
    /// How long nothing may happen on a connection.
    patience: Duration,
}

/// The place of a connection, until it is dropped.
#[derive(Debug)]
pub(in crate::web) struct Slot {
    slots: Slots,
    number: u64,
    traffic: Arc<watch::Sender<Traffic>>,
}

/// What goes on on a connection.
#[derive(Debug, Clone, Copy)]
struct Traffic {
    place: Place,
    /// How many requests are under way.
    under_way: usize,
    /// Since when that is so.
    since: Instant,
    /// How often more of an answer was wanted.
    wanted: u64,
    /// It is closed then, unless a request is under way.
    ends_at: Option<Instant>,
}

/// A connection as the pool knows it.
#[derive(Debug)]
struct Line(Arc<watch::Sender<Traffic>>);

/// A connection as its requests know it.
#[derive(Debug, Clone)]
pub(in crate::web) struct OfConnection(Arc<watch::Sender<Traffic>>);

/// A request that is under way, until all of its answer is on its way to the client.
pub(in crate::web) struct Busy(Arc<watch::Sender<Traffic>>);

// === Places ===

impl Slots {
    pub(in crate::web) fn new(limits: Limits) -> Self {
        let Limits { head, idle, connections, per_peer, reserve, .. } = limits;
        let room = Room { all: connections, per_peer, reserve };
        Self { pool: Arc::new(Mutex::new(Pool::new(room))), patience: idle + head }
    }

    /// A place for a connection, which is looked after until it ends; `None` where there is none.
    pub(in crate::web) fn enter(&self, connection: &rt::net::TcpStream) -> Option<Slot> {
        let peer = connection.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
        // A second name for the socket: the library gives away none.
        let socket = connection.as_fd().try_clone_to_owned().ok()?;
        let (traffic, seen) = watch::channel(Traffic::new());
        let traffic = Arc::new(traffic);
        let number = self.place(peer, &traffic)?;
        rt::spawn(cut_off(socket.into(), seen, self.patience));
        Some(Slot { slots: self.clone(), number, traffic })
    }

    fn place(&self, peer: IpAddr, traffic: &Arc<watch::Sender<Traffic>>) -> Option<u64> {
        let entered = self.pool().enter(peer::client(peer), Line(Arc::clone(traffic)))?;
        let Entered { number, place, leaves } = entered;
        traffic.send_modify(|traffic| traffic.place = place);
        if let Some(Line(leaving)) = leaves {
            leaving.send_modify(|traffic| traffic.ends_at = Some(Instant::now()));
        }
        Some(number)
    }

    fn pool(&self) -> MutexGuard<'_, Pool<Line>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    pub(super) fn of_connection(&self) -> OfConnection {
        OfConnection(Arc::clone(&self.traffic))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.pool().leave(self.number);
    }
}

impl Idle for Line {
    fn idle_since(&self) -> Option<Instant> {
        let traffic = self.0.borrow();
        (traffic.under_way == 0).then_some(traffic.since)
    }
}

// === Requests ===

/// That a request is under way, on a connection that is looked after.
pub(in crate::web) fn busy(request: &ServiceRequest) -> Option<Busy> {
    let OfConnection(traffic) = request.conn_data()?;
    traffic.send_modify(|traffic| traffic.under_way += 1);
    Some(Busy(Arc::clone(traffic)))
}

/// What the connection of a request may be used for.
pub(in crate::web) fn place(request: &ServiceRequest) -> Place {
    request.conn_data().map_or(Place::Ordinary, |OfConnection(traffic)| traffic.borrow().place)
}

/// That the answer to a request is the last of its connection. Over HTTP/1 the answer says so
/// itself.
pub(in crate::web) fn end(request: &ServiceRequest) {
    if let Some(OfConnection(traffic)) = request.conn_data() {
        let at = Instant::now() + FAREWELL;
        traffic.send_modify(|traffic| traffic.ends_at = traffic.ends_at.or(Some(at)));
    }
}

impl Traffic {
    fn new() -> Self {
        let since = Instant::now();
        Self { place: Place::Ordinary, under_way: 0, since, wanted: 0, ends_at: None }
    }
}

async fn cut_off(socket: TcpStream, mut traffic: watch::Receiver<Traffic>, idle: Duration) {
    loop {
        let Traffic { under_way, ends_at, .. } = *traffic.borrow_and_update();
        let patience = match (under_way, ends_at) {
            (0, Some(end)) => end.saturating_duration_since(Instant::now()).min(idle),
            (0, None) => idle,
            (1..=MOST_UNDER_WAY, _) => STUCK,
            _ => break,
        };
        match timeout(patience, traffic.changed()).await {
            Ok(Ok(())) => {}
            // The connection has ended.
            Ok(Err(_)) => return,
            Err(_) => break,
        }
    }
    // It may have gone meanwhile.
    let _ = socket.shutdown(Shutdown::Both);
}

/// Connections on which a client takes nothing for so long are ended by the operating system; on
/// Linux they have this from the socket that they are accepted from.
pub(in crate::web) fn end_when_stalled(listener: &TcpListener, stalled: Duration) {
    #[cfg(target_os = "linux")]
    {
        let milliseconds = u32::try_from(stalled.as_millis()).unwrap_or(u32::MAX);
        if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(listener, milliseconds) {
            tracing::debug!(%error, "clients that read nothing keep their connection");
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
            traffic.under_way -= 1;
            traffic.since = Instant::now();
        });
    }
}

impl fmt::Debug for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Busy")
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

    fn with(under_way: usize) -> Traffic {
        Traffic { under_way, ..Traffic::new() }
    }

    #[tokio::test]
    async fn nobody_looks_after_a_connection_that_has_ended() {
        for left_under_way in [0, 1] {
            let (_client, socket) = connection().await;
            let (under_way, seen) = watch::channel(with(left_under_way));
            let mut looking = Box::pin(cut_off(socket, seen, Duration::from_mins(1)));
            assert!(looking.as_mut().now_or_never().is_none());
            drop(under_way);
            assert!(looking.now_or_never().is_some(), "with {left_under_way} under way");
        }
    }

    #[tokio::test]
    async fn who_asks_for_too_much_at_once_is_cut_off_at_once() {
        let (mut client, socket) = connection().await;
        let (traffic, seen) = watch::channel(with(MOST_UNDER_WAY));
        let mut looking = Box::pin(cut_off(socket, seen, Duration::from_mins(1)));
        assert!(looking.as_mut().now_or_never().is_none(), "so many may be under way");
        traffic.send_replace(with(MOST_UNDER_WAY + 1));
        looking.await;
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "the connection is closed");
    }

    #[tokio::test]
    async fn who_takes_nothing_of_what_it_asked_for_is_cut_off_in_the_end() {
        let (_client, socket) = connection().await;
        let (traffic, seen) = watch::channel(with(1));
        tokio::time::pause();
        let busy = Some(Busy(Arc::new(traffic)));
        let begun = tokio::time::Instant::now();
        let taking = async {
            tokio::time::sleep(STUCK / 2).await;
            busy.wanted();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = cut_off(socket, seen, Duration::from_secs(1)) => {}
            () = taking => {}
        }
        assert_eq!(begun.elapsed().as_secs(), (STUCK / 2 + STUCK).as_secs());
    }
}
