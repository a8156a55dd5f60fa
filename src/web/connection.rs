//! Connections that hold a place for nothing: they are closed.
//!
//! The HTTP library gives a time to the head of the first request of a connection, and to one on
//! which nothing happens. To the head of a later request, once its first byte is there, it gives
//! none; over HTTP/2 it takes as many requests at once as a client sends, and keeps each answer for
//! as long as the client takes nothing of it. So who has no request under way for longer than both
//! times together is cut off here, and so is who has too many, or takes nothing of any. And a client
//! that does not even acknowledge what is sent is cut off by the operating system, where it can.

use std::{
    any::Any,
    fmt,
    net::{Shutdown, TcpListener, TcpStream},
    os::fd::AsFd,
    time::Duration,
};

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::{
    dev::{Extensions, ServiceRequest},
    rt,
};
use tokio::{sync::watch, time::timeout};

use super::body::Held;

/// So many requests of one connection are answered at once: a browser with many tabs needs fewer.
const MOST_UNDER_WAY: usize = 32;

/// For so long a client may take nothing of what it has asked for. Those who listen to events take a
/// heartbeat in a fraction of it.
const STUCK: Duration = Duration::from_mins(2);

/// What goes on on a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    /// How many requests are under way.
    under_way: usize,
    /// How often more of an answer was wanted.
    wanted: u64,
}

/// Where that is shown.
struct UnderWay(watch::Sender<Traffic>);

/// A request that is under way, until all of its answer is on its way to the client.
pub(super) struct Busy(watch::Sender<Traffic>);

/// Looks after a connection until it ends.
pub(super) fn watch_over(connection: &dyn Any, of: &mut Extensions, patience: Duration) {
    let Some(socket) = socket(connection) else { return };
    // A second name for the socket: the library gives away none.
    let Ok(socket) = socket.as_fd().try_clone_to_owned() else { return };
    let (under_way, seen) = watch::channel(Traffic::default());
    of.insert(UnderWay(under_way));
    rt::spawn(cut_off(socket.into(), seen, patience));
}

/// That a request is under way, on a connection that is looked after.
pub(super) fn busy(request: &ServiceRequest) -> Option<Busy> {
    let UnderWay(traffic) = request.conn_data()?;
    traffic.send_modify(|traffic| traffic.under_way += 1);
    Some(Busy(traffic.clone()))
}

fn socket(connection: &dyn Any) -> Option<&rt::net::TcpStream> {
    let over_tls = || Some(connection.downcast_ref::<TlsStream<rt::net::TcpStream>>()?.get_ref().0);
    connection.downcast_ref().or_else(over_tls)
}

async fn cut_off(socket: TcpStream, mut traffic: watch::Receiver<Traffic>, idle: Duration) {
    loop {
        let patience = match traffic.borrow_and_update().under_way {
            0 => idle,
            1..=MOST_UNDER_WAY => STUCK,
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
pub(super) fn end_when_stalled(listener: &TcpListener, stalled: Duration) {
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
        self.0.send_modify(|traffic| traffic.under_way -= 1);
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
        Traffic { under_way, wanted: 0 }
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
        let busy = Some(Busy(traffic));
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
