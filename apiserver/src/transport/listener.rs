//! Listens, and serves connections on threads of its own: whoever starts a server may have a runtime with one thread,
//! and may block it.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use rustls::ServerConfig;
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::{Builder, Runtime},
    sync::Semaphore,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{answer::Answering, connection::Protocols};
use crate::aside;

/// How many threads serve connections.
const WORKERS: usize = 2;
/// How many threads there are at most for what would block those.
const BLOCKING: usize = 64;
/// How many connections are served; more of them wait.
const CONNECTIONS: u32 = 2048;
/// How many connections wait.
const BACKLOG: u32 = 1024;
/// How long to wait when the process has no files left for connections.
const EXHAUSTED: Duration = Duration::from_millis(100);
/// How long requests may go on after the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Listens on an address.
pub(super) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    acceptor: TlsAcceptor,
    threads: Threads,
}

/// The threads. Dropping a runtime waits for them, which is forbidden within another runtime.
struct Threads(Option<Runtime>);

impl Listener {
    /// Begins to listen.
    pub(super) fn bind(address: SocketAddr, tls: ServerConfig) -> io::Result<Self> {
        let threads = Threads(Some(Self::runtime()?));
        let entered = threads.0.as_ref().map(Runtime::enter);
        let socket = listen(address)?;
        drop(entered);
        let address = socket.local_addr()?;
        Ok(Self { socket, address, acceptor: TlsAcceptor::from(Arc::new(tls)), threads })
    }

    fn runtime() -> io::Result<Runtime> {
        Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .max_blocking_threads(BLOCKING)
            .thread_name("apiserver")
            .on_thread_start(aside::serve_connections)
            .enable_all()
            .build()
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped; ends with the last connection, or soon after that.
    pub(super) fn serve(
        self,
        answering: Answering,
        stopping: CancellationToken,
    ) -> impl Future<Output = ()> + Send {
        let Self { socket: listener, acceptor, threads, address: _ } = self;
        let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
        let accepting = Accepting {
            listener,
            protocols: Protocols::new(acceptor, answering),
            places: Arc::clone(&places),
            stopping: stopping.clone(),
        };
        threads.spawn(accepting.run());
        async move {
            stopping.cancelled().await;
            // What is late ends with the threads.
            let _ = tokio::time::timeout(PATIENCE, places.acquire_many(CONNECTIONS)).await;
            drop(threads);
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections.
struct Accepting {
    listener: TcpListener,
    protocols: Protocols,
    places: Arc<Semaphore>,
    stopping: CancellationToken,
}

impl Accepting {
    async fn run(self) {
        let Self { listener, protocols, places, stopping } = self;
        let protocols = Arc::new(protocols);
        let accept = async {
            while let Ok(place) = Arc::clone(&places).acquire_owned().await {
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(EXHAUSTED).await;
                    continue;
                };
                let (protocols, stopping) = (Arc::clone(&protocols), stopping.clone());
                tokio::spawn(watched(async move {
                    protocols.serve(stream, stopping).await;
                    drop(place);
                }));
            }
        };
        stopping.run_until_cancelled(accept).await;
    }
}

#[cfg(not(test))]
fn watched(serving: impl Future<Output = ()> + Send) -> impl Future<Output = ()> + Send {
    serving
}

#[cfg(test)]
fn watched(serving: impl Future<Output = ()> + Send) -> impl Future<Output = ()> + Send {
    aside::watchdog::Watched(Box::pin(serving))
}

impl Threads {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.0 {
            runtime.spawn(task);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}
