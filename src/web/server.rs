//! Binds the port and serves the endpoint.

use std::{io, net::TcpListener, sync::Arc, thread};

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
    guard, legible, niceness, open_files,
    origin::Protocol,
    peers,
    proxy::TlsProxy,
    request_rules::{Hosts, Limits, RequestRules},
    routes,
    state::WebState,
    table::{PATHS, PATHS_WITH_MCP},
    tls::Certificates,
    transport,
};

/// The address cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process listens there.
    #[error(
        "cannot serve the web endpoint on {address}: another process uses the port; choose another port"
    )]
    Taken {
        /// The address.
        address: String,
    },
    /// It is not an address of this machine, or not allowed.
    #[error("cannot serve the web endpoint on {address}: {why}")]
    Unusable {
        /// The address.
        address: String,
        /// Why; not a `source`, because the message contains it.
        why: io::Error,
    },
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Protection {
    /// Reviews access; `None` admits everybody.
    pub access: Option<Access>,
    /// The certificates for TLS; `None` for clear text.
    pub certificates: Option<Certificates>,
    /// The proxy that terminates TLS in front of it.
    pub proxy: Option<TlsProxy>,
}

/// How many seconds responses in progress have to end when the server stops.
const SHUTDOWN_TIMEOUT: u64 = 1;

/// How many replaced connections may still be closing.
const LEAVING: usize = 64;

/// Binds an address, such as `127.0.0.1:8080`. Requests are answered once [`server`] runs.
pub(crate) fn listen(address: &str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).map_err(|why| {
        let address = address.to_owned();
        match why.kind() {
            io::ErrorKind::AddrInUse => BindError::Taken { address },
            _ => BindError::Unusable { address, why },
        }
    })
}

/// Serves on a bound listener. Call and await it within an actix System.
///
/// The caller decides whether an address beyond loopback may be served.
///
/// # Errors
/// When the operating system refuses the listener.
pub(crate) fn server(
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
    // All clients connect through the proxy.
    let per_peer = if proxy.is_some() { limits.connections } else { limits.per_peer };
    let limits = Limits { per_peer, ..limits };
    let (hosts, address) = (Hosts::of(address), Some(address));
    let quota = Quota::default();
    let paths = Arc::clone(if state.program.mcp { &PATHS_WITH_MCP } else { &PATHS });
    let rules = RequestRules { hosts, protocol, proxy, address, limits, quota, access, paths };
    state.metrics.web_served();
    let shown = certificates.clone();
    let starter = thread::current().id();
    let app = move || {
        if thread::current().id() != starter {
            niceness::lower_priority();
        }
        app(rules.clone(), state.clone()).app_data(shown.clone())
    };
    connection::end_when_stalled(&listener, limits.stalled);
    let connections = limits.connections + limits.reserve + LEAVING;
    let server = Server::build()
        // One thread suffices, and leaves the others to reconciles.
        .workers(1)
        .max_concurrent_connections(connections)
        .shutdown_timeout(SHUTDOWN_TIMEOUT)
        .disable_signals();
    let stopping = server.graceful_shutdown_signal();
    let slots = Slots::new(limits);
    let server = match certificates {
        Some(certificates) => {
            let config = certificates.config().map_err(io::Error::other)?;
            actix_web::rt::spawn(certificates.follow());
            // Handshakes in progress do not block others.
            max_concurrent_tls_connect(connections);
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

/// The whole application; tests call it without a port.
pub(super) fn app(
    rules: RequestRules,
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
    let paths = Arc::clone(&rules.paths);
    let shared = state.clone();
    App::new()
        .app_data(Data::new(rules.clone()))
        .wrap(middleware::from_fn(move |request, next| {
            peers::send_on(shared.clone(), request, next)
        }))
        .wrap(middleware::from_fn(legible::answers))
        .wrap(middleware::Compress::default())
        .wrap(middleware::from_fn(move |request, next| guard::guard(rules.clone(), request, next)))
        .configure(|config| routes::configure(config, &paths, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_used_port_names_the_address() {
        let first = listen("127.0.0.1:0").unwrap();
        let address = first.local_addr().unwrap().to_string();
        let error = listen(&address).unwrap_err();
        assert!(matches!(error, BindError::Taken { .. }));
        assert!(error.to_string().contains(&address), "{error}");
    }

    #[test]
    fn the_error_for_an_invalid_address_names_it() {
        let error = listen("nonsense").unwrap_err();
        assert!(error.to_string().contains("nonsense: invalid socket address"), "{error}");
    }
}
