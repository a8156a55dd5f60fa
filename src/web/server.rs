//! Taking the port, and serving on it.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use actix_web::{
    App, Error, HttpServer,
    body::MessageBody,
    dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse},
    middleware,
};

use super::{WebState, guard, priority, routes};
use crate::board::MAX_LISTENERS;

/// The port cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody listens there already.
    #[error("cannot serve the web endpoint on {address}: the port is taken by another process")]
    Taken {
        /// The address that was asked for.
        address: String,
    },
    /// It is not an address of this machine, or not allowed.
    #[error("cannot serve the web endpoint on {address}: {source}")]
    Unusable {
        /// The address that was asked for.
        address: String,
        /// Why.
        source: io::Error,
    },
}

/// A client has this long to send its request line and headers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection without requests is closed after this time.
const KEEP_ALIVE: Duration = Duration::from_mins(1);
/// More connections wait in the backlog of the operating system. Beyond those who listen to events,
/// who stay, there is room for others.
const MAX_CONNECTIONS: usize = MAX_LISTENERS + 512;
/// Responses under way have this long to end, in seconds, when the server is stopped.
const SHUTDOWN_TIMEOUT: u64 = 1;

/// Takes a port, such as `127.0.0.1:8080`. Nothing is answered before [`server`] runs.
pub fn listen(address: &str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).map_err(|source| {
        let address = address.to_owned();
        match source.kind() {
            io::ErrorKind::AddrInUse => BindError::Taken { address },
            _ => BindError::Unusable { address, source },
        }
    })
}

/// Serves on a port that was taken. To be called and awaited within an actix System.
///
/// Whether an address beyond loopback may be served is the caller's decision.
///
/// # Errors
/// When the operating system refuses the listener.
pub fn server(listener: TcpListener, state: WebState) -> io::Result<Server> {
    let policy = guard::Policy::of(listener.local_addr()?);
    let starter = thread::current().id();
    let app = move || {
        if thread::current().id() != starter {
            priority::step_back();
        }
        app(policy, state.clone())
    };
    let server = HttpServer::new(app)
        // It answers people and scrapers: one thread keeps up, and leaves the others to the work.
        .workers(1)
        .max_connections(MAX_CONNECTIONS)
        .client_request_timeout(REQUEST_TIMEOUT)
        .keep_alive(KEEP_ALIVE)
        .shutdown_timeout(SHUTDOWN_TIMEOUT)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

/// All that is answered; tests ask it without a port.
pub(super) fn app(
    policy: guard::Policy,
    state: WebState,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .wrap(middleware::Compress::default())
        .wrap(middleware::from_fn(move |request, next| guard::guard(policy, request, next)))
        .configure(|config| routes::configure(config, state))
}

impl guard::Policy {
    fn of(address: SocketAddr) -> Self {
        if address.ip().is_loopback() { Self::Loopback } else { Self::AnyHost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_named() {
        let first = listen("127.0.0.1:0").unwrap();
        let address = first.local_addr().unwrap().to_string();
        let error = listen(&address).unwrap_err();
        assert!(matches!(error, BindError::Taken { .. }));
        assert!(error.to_string().contains(&address), "{error}");
    }

    #[test]
    fn an_address_that_is_none_is_named() {
        let error = listen("nonsense").unwrap_err();
        assert!(error.to_string().contains("nonsense"), "{error}");
    }
}
