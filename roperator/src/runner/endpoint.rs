//! `/health` and `/metrics` at the port of the operator, and nothing else. Operetta's own endpoint, which shows
//! objects and takes commands, is not served.

use std::{
    env,
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
};

use actix_web::{
    App, HttpResponse, HttpServer,
    dev::{Server, ServerHandle},
    rt::System,
    web::{self, Data},
};
use anyhow::{Context, Error};
use operetta::web::Probes;
use tracing::info;

use crate::config::OperatorConfig;

/// Two programs on one machine have the same default port.
const PORT: &str = "ROPERATOR_SERVER_PORT";

/// The endpoint of an operator. Dropping it stops it.
pub(super) struct Endpoint {
    listener: Option<TcpListener>,
    paths: Paths,
    probes: Arc<OnceLock<Probes>>,
    server: Option<(ServerHandle, JoinHandle<()>)>,
}

/// The paths that are served.
#[derive(Debug, Clone, Copy)]
struct Paths {
    health: bool,
    metrics: bool,
}

/// Set once the operator runs; before that the process is alive and waits.
type Shown = Data<OnceLock<Probes>>;

impl Endpoint {
    /// Binds the port; `None` if nothing is to be served.
    ///
    /// # Errors
    /// The port is taken.
    pub(super) fn bind(config: &OperatorConfig) -> Result<Option<Self>, Error> {
        let paths = Paths { health: config.expose_health, metrics: config.expose_metrics };
        if !paths.health && !paths.metrics {
            return Ok(None);
        }
        let port = match env::var(PORT) {
            Ok(port) => port.parse().with_context(|| format!("{PORT}={port} is not a port"))?,
            Err(_) => config.server_port,
        };
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).with_context(|| {
            format!("cannot listen on port {port}: choose another by `server_port` or {PORT}")
        })?;
        Ok(Some(Self { listener: Some(listener), paths, probes: Arc::default(), server: None }))
    }

    /// Serves on a thread of its own.
    pub(super) fn serve(&mut self) -> Result<(), Error> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let (paths, shown) = (self.paths, Shown::from(self.probes.clone()));
        info!("health and metrics: http://{}", listener.local_addr()?);
        let app = move || App::new().app_data(shown.clone()).configure(|config| paths.add(config));
        let (send, receive) = std::sync::mpsc::channel();
        let thread =
            thread::Builder::new().name("roperator-endpoint".to_owned()).spawn(move || {
                System::new().block_on(async move {
                    let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
                    let server = server.map(|server| server.shutdown_timeout(1).run());
                    let handle = server.as_ref().map(Server::handle);
                    // The receiver waits for it.
                    let _ = send.send(
                        handle
                            .map_err(|error| std::io::Error::new(error.kind(), error.to_string())),
                    );
                    if let Ok(server) = server {
                        let _ = server.await;
                    }
                });
            })?;
        self.server = Some((receive.recv()??, thread));
        Ok(())
    }

    /// Shows the operator from now on.
    pub(super) fn show(&self, probes: Probes) {
        // An operator is started once.
        let _ = self.probes.set(probes);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Some((server, thread)) = self.server.take() {
            // The command is sent when the future is made.
            drop(server.stop(false));
            let _ = thread.join();
        }
    }
}

impl Paths {
    fn add(self, config: &mut web::ServiceConfig) {
        if self.health {
            config.route("/health", web::get().to(health));
            config.route("/health/", web::get().to(health));
        }
        if self.metrics {
            config.route("/metrics", web::get().to(metrics));
            config.route("/metrics/", web::get().to(metrics));
        }
    }
}

async fn health(shown: Shown) -> HttpResponse {
    if shown.get().is_none_or(Probes::is_alive) {
        HttpResponse::Ok().finish()
    } else {
        HttpResponse::ServiceUnavailable().body("a part of the operator is stuck\n")
    }
}

async fn metrics(shown: Shown) -> HttpResponse {
    let text = shown.get().map(Probes::metrics).unwrap_or_default();
    HttpResponse::Ok().content_type(Probes::METRICS_TYPE).body(text)
}
