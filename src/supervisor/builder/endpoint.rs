//! The options of the web endpoint.

use std::sync::Arc;

use tracing::Span;

use super::SupervisorBuilder;
use crate::web::{Auth, LogLevel, Tls, TlsProxy};

impl SupervisorBuilder {
    /// Serves health, metrics and state over HTTP on this address, for example `127.0.0.1:8080`.
    ///
    /// An address beyond loopback needs [`auth`](Self::auth) and [`tls`](Self::tls), or
    /// [`allow_insecure_listen`](Self::allow_insecure_listen).
    pub fn serve(mut self, address: &str) -> Self {
        self.web = Some(address.to_owned());
        self
    }

    /// Sets how the id of the trace is found to which a span belongs, `None` if that trace is not recorded. `/metrics`
    /// then shows it in `OpenMetrics` as the exemplar of a reconcile. It is called once for each reconcile, with the
    /// span `reconcile`, and must not block. The command line does this with `--otlp-endpoint`.
    ///
    /// With the crate `tracing-opentelemetry` it is
    /// `|span| Some(span.context().span().span_context().trace_id().to_bytes())`.
    pub fn trace_ids(
        mut self,
        find: impl Fn(&Span) -> Option<[u8; 16]> + Send + Sync + 'static,
    ) -> Self {
        self.trace_ids = Some(Box::new(find));
        self
    }

    /// Sets who may use the web endpoint. Default is everyone who reaches it.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Serves the web endpoint over TLS.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Declares that users reach the web endpoint through a proxy that terminates TLS: the cookie is
    /// `Secure`, the `Origin` of browsers begins with `https`, and on loopback the host of the proxy is
    /// accepted too. The proxy must pass on the `Host` of the request; `X-Forwarded-*` is not read. It
    /// does not replace [`tls`](Self::tls) between the proxy and this process.
    pub fn behind_tls_proxy(mut self, proxy: TlsProxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Allows an address beyond loopback without [`auth`](Self::auth), for everyone who reaches the port,
    /// or without [`tls`](Self::tls), where others can read tokens on the network.
    pub fn allow_insecure_listen(mut self) -> Self {
        self.is_open_allowed = true;
        self
    }

    /// Lets the web endpoint show and change the log level at `/log-level`. Without it that path answers
    /// 404, because the program sets up its logs.
    pub fn log_level(mut self, logs: impl LogLevel) -> Self {
        self.program.log_level = Some(Arc::new(logs));
        self
    }

    /// Serves AI assistants at `/mcp` of the web endpoint, by the Model Context Protocol. Its tools show what the HTTP API
    /// shows, and give the same commands, each with the permission that the API requires. Default is that `/mcp` answers
    /// 404.
    #[cfg(feature = "mcp")]
    pub fn mcp(mut self) -> Self {
        self.program.mcp = true;
        self
    }

    /// Adds the program's own routes to the web endpoint. It can be called several times. Handlers read the
    /// stores through [`Stores`](crate::web::Stores).
    ///
    /// Their requests pass the same checks as all others, and their answers have the same headers. The
    /// paths of the framework cannot be replaced, with any method, nor can paths below `/api/v1`; a default
    /// service answers all other paths. A handler runs on the thread of the endpoint: blocking code belongs
    /// in `actix_web::web::block`. Their answers are not redacted, so they must protect Secrets themselves.
    ///
    /// ```
    /// use actix_web::web;
    /// use operetta::{prelude::*, web::Stores};
    ///
    /// async fn count(stores: Stores) -> String {
    ///     stores.list_objects(("v1", "ConfigMap")).map_or(0, |maps| maps.len()).to_string()
    /// }
    ///
    /// let supervisor = Supervisor::builder()
    ///     .serve("127.0.0.1:8080")
    ///     .routes(|config| {
    ///         config.route("/count", web::get().to(count));
    ///     });
    /// ```
    pub fn routes(
        mut self,
        add: impl Fn(&mut actix_web::web::ServiceConfig) + Send + Sync + 'static,
    ) -> Self {
        self.program.routes.push(Arc::new(add));
        self
    }
}
