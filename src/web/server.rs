//! Taking the port, and serving on it.

use std::{io, net::TcpListener, thread};

use actix_service::ServiceFactoryExt;
use actix_tls::accept::max_concurrent_tls_connect;
use actix_web::{
    App, Error,
    body::MessageBody,
    dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse},
    middleware,
    web::Data,
};

use super::{
    access::Access,
    audit::Quota,
    connection::{self, Slots},
    gate::{Gate, Hosts, Limits},
    guard, legible, niceness, open_files,
    origin::Protocol,
    proxy::TlsProxy,
    routes,
    state::WebState,
    tls::Certificates,
    transport,
};

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
    #[error("cannot serve the web endpoint on {address}: {why}")]
    Unusable {
        /// The address that was asked for.
        address: String,
        /// Why; no `source`, as the text tells it.
        why: io::Error,
    },
}

/// What stands between the endpoint and whoever reaches it.
#[derive(Debug, Clone, Default)]
pub struct Protection {
    /// Who decides whom to let in; `None` lets in everybody.
    pub access: Option<Access>,
    /// What connections are encrypted with; `None` for clear text.
    pub certificates: Option<Certificates>,
    /// What ends TLS in front of it, where visitors reach it.
    pub proxy: Option<TlsProxy>,
}

/// Responses under way have this long to end, in seconds, when the server is stopped.
const SHUTDOWN_TIMEOUT: u64 = 1;

/// As many connections may be about to end, having made room for others.
const LEAVING: usize = 64;

/// Takes a port, such as `127.0.0.1:8080`. Nothing is answered before [`server`] runs.
pub fn listen(address: &str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).map_err(|why| {
        let address = address.to_owned();
        match why.kind() {
            io::ErrorKind::AddrInUse => BindError::Taken { address },
            _ => BindError::Unusable { address, why },
        }
    })
}

/// Serves on a port that was taken. To be called and awaited within an actix System.
///
/// Whether an address beyond loopback may be served is the caller's decision.
///
/// # Errors
/// When the operating system refuses the listener.
pub fn server(
    listener: TcpListener,
    state: WebState,
    protection: Protection,
) -> io::Result<Server> {
    limited(listener, state, protection, Limits::default())
}

pub(super) fn limited(
    listener: TcpListener,
    state: WebState,
    protection: Protection,
    limits: Limits,
) -> io::Result<Server> {
    let Protection { access, certificates, proxy } = protection;
    let address = listener.local_addr()?;
    let is_over_tls = certificates.is_some() || proxy.is_some();
    let protocol = if is_over_tls { Protocol::Https } else { Protocol::Http };
    let limits = limits.within(open_files::raise());
    // Everybody comes by way of the proxy.
    let per_peer = if proxy.is_some() { limits.connections } else { limits.per_peer };
    let limits = Limits { per_peer, ..limits };
    let (hosts, address) = (Hosts::of(address), Some(address));
    let quota = Quota::default();
    let gate = Gate { hosts, protocol, proxy, address, limits, quota, access };
    state.metrics.web_served();
    let shown = certificates.clone();
    let starter = thread::current().id();
    let app = move || {
        if thread::current().id() != starter {
            niceness::step_back();
        }
        app(gate.clone(), state.clone()).app_data(shown.clone())
    };
    connection::end_when_stalled(&listener, limits.stalled);
    let places = limits.connections + limits.reserve + LEAVING;
    let server = Server::build()
        // It answers people and scrapers: one thread keeps up, and leaves the others to the work.
        .workers(1)
        .max_concurrent_connections(places)
        .shutdown_timeout(SHUTDOWN_TIMEOUT)
        .disable_signals();
    let stopping = server.graceful_shutdown_signal();
    let slots = Slots::new(limits);
    let server = match certificates {
        Some(certificates) => {
            let config = certificates.config().map_err(io::Error::other)?;
            actix_web::rt::spawn(certificates.follow());
            // Who has yet to agree upon TLS keeps nobody else from it.
            max_concurrent_tls_connect(places);
            server.listen("web", listener, move || {
                let http = transport::http(app(), limits, stopping.clone());
                transport::encrypted(config.clone(), limits, slots.clone()).and_then(http)
            })?
        }
        None => server.listen("web", listener, move || {
            let http = transport::http(app(), limits, stopping.clone());
            transport::clear(slots.clone()).and_then(http)
        })?,
    };
    Ok(server.run())
}

/// All that is answered; tests ask it without a port.
pub(super) fn app(
    gate: Gate,
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
        .app_data(Data::new(gate.clone()))
        .wrap(middleware::from_fn(legible::answers))
        .wrap(middleware::Compress::default())
        .wrap(middleware::from_fn(move |request, next| guard::guard(gate.clone(), request, next)))
        .configure(|config| routes::configure(config, state))
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
        assert!(error.to_string().contains("nonsense: invalid socket address"), "{error}");
    }
}
