//! Connections that hold a place without a request: they are closed.
//!
//! The HTTP library gives a time to the head of the first request of a connection, and to one on
//! which nothing happens. To the head of a later request, once its first byte is there, it gives
//! none. So who has no request under way for longer than both times together is cut off here. And
//! who takes nothing of what is sent is cut off by the operating system, where it can.

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

/// How many requests are under way on a connection.
struct UnderWay(watch::Sender<usize>);

/// A request that is under way, until all of its answer is on its way to the client.
pub(super) struct Busy(watch::Sender<usize>);

/// Looks after a connection until it ends.
pub(super) fn watch_over(connection: &dyn Any, of: &mut Extensions, patience: Duration) {
    let Some(socket) = socket(connection) else { return };
    // A second name for the socket: the library gives away none.
    let Ok(socket) = socket.as_fd().try_clone_to_owned() else { return };
    let (under_way, seen) = watch::channel(0);
    of.insert(UnderWay(under_way));
    rt::spawn(cut_off_when_idle(socket.into(), seen, patience));
}

/// That a request is under way, on a connection that is looked after.
pub(super) fn busy(request: &ServiceRequest) -> Option<Busy> {
    let UnderWay(requests) = request.conn_data()?;
    requests.send_modify(|count| *count += 1);
    Some(Busy(requests.clone()))
}

fn socket(connection: &dyn Any) -> Option<&rt::net::TcpStream> {
    let over_tls = || Some(connection.downcast_ref::<TlsStream<rt::net::TcpStream>>()?.get_ref().0);
    connection.downcast_ref().or_else(over_tls)
}

async fn cut_off_when_idle(
    socket: TcpStream,
    mut requests: watch::Receiver<usize>,
    patience: Duration,
) {
    while requests.wait_for(|count| *count == 0).await.is_ok() {
        match timeout(patience, requests.wait_for(|count| *count > 0)).await {
            Ok(Ok(_)) => {}
            // The connection has ended.
            Ok(Err(_)) => return,
            Err(_) => {
                // It may have gone meanwhile.
                let _ = socket.shutdown(Shutdown::Both);
                return;
            }
        }
    }
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

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
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

    use super::*;

    #[tokio::test]
    async fn nobody_looks_after_a_connection_that_has_ended() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let patience = Duration::from_mins(1);
        for left_under_way in [0, 1] {
            let (under_way, seen) = watch::channel(left_under_way);
            let mut looking = Box::pin(cut_off_when_idle(socket(), seen, patience));
            assert!(looking.as_mut().now_or_never().is_none());
            drop(under_way);
            assert!(looking.now_or_never().is_some(), "with {left_under_way} under way");
        }
    }
}
