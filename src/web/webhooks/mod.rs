//! Answers the webhooks that the API server calls, on a port of its own, over TLS.
//!
//! ```text
//! API server --TLS--> routes --> reviews --> admission::review --> calls --> admission::answer --> API server
//!                                   '--> seen: counters, a span, denials in the timeline
//! ```
//!
//! Invariants:
//! - A body is at most 8 MiB, and a handler ends before the API server stops waiting.
//! - A handler that fails is a 500 with an id, so that the failure policy of the webhook decides. Its text is in the log.
//! - A standby answers too: nothing is written here.

mod calls;
mod reviews;
mod routes;
mod seen;

use std::{io, net::TcpListener};

use actix_service::ServiceFactoryExt;
use actix_web::dev::Server;
use tokio::runtime::Handle;

pub(crate) use self::seen::Records;
use self::{calls::Calls, reviews::Served};
use super::{
    connection::{self, Slots},
    request_rules::Limits,
    tls::{Certificates, ClientAuthority},
    transport,
};
use crate::admission::Registered;

/// How many seconds answers in progress have when the server stops: the API server still sends while it learns that this
/// replica goes.
const SHUTDOWN_TIMEOUT: u64 = 3;
/// The API server keeps a few connections; there may be several API servers.
const CONNECTIONS: usize = 256;

/// Who answers, and who may ask.
pub(crate) struct WebhookTls {
    pub(crate) certificates: Certificates,
    pub(crate) clients: Option<ClientAuthority>,
}

/// Serves on a bound listener. Call and await it within an actix System.
///
/// # Errors
/// When the operating system refuses the listener, or the certificate cannot be used.
pub(crate) fn webhook_server(
    listener: TcpListener,
    registered: Registered,
    WebhookTls { certificates, clients }: WebhookTls,
    records: Records,
    runtime: Handle,
) -> io::Result<Server> {
    let limits = Limits { connections: CONNECTIONS, per_peer: CONNECTIONS, ..Limits::default() };
    records.served(&registered);
    let answers = Served { registered, calls: Calls::on(runtime), records };
    let config = certificates.config_for(clients.as_ref()).map_err(io::Error::other)?;
    actix_web::rt::spawn(certificates.follow());
    connection::end_when_stalled(&listener, limits.stalled);
    let server = Server::build()
        .workers(1)
        .max_concurrent_connections(CONNECTIONS)
        .shutdown_timeout(SHUTDOWN_TIMEOUT)
        .disable_signals();
    let stopping = server.graceful_shutdown_signal();
    let slots = Slots::new(limits);
    let server = server.listen("webhooks", listener, move || {
        let http = transport::http(routes::app(answers.clone()), limits, stopping.clone());
        transport::encrypted(config.clone(), limits, slots.clone()).and_then(http)
    })?;
    Ok(server.run())
}

#[cfg(test)]
mod tests;
