//! Sends spans to a collector with kube's client, so that TLS is the same as everywhere.

use std::{
    fmt,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use http::Uri;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::cli::address::Address;

/// How long a collector may take.
const LONGEST: Duration = Duration::from_secs(5);

/// Sends from any thread.
pub(super) struct Sender {
    client: Client,
    runtime: Handle,
    /// How errors name the collector: without a password.
    endpoint: String,
    is_failing: AtomicBool,
}

type Sent = Result<Response<Bytes>, HttpError>;

impl Sender {
    pub(super) fn new(endpoint: &Address, runtime: &Handle) -> anyhow::Result<Self> {
        let mut config = endpoint.config();
        let mut server = config.cluster_url.into_parts();
        server.path_and_query = Some("/".parse()?);
        config.cluster_url = Uri::from_parts(server)?;
        config.connect_timeout = Some(LONGEST);
        config.read_timeout = Some(LONGEST);
        config.default_retry = false;
        let _entered = runtime.enter();
        let (client, runtime) = (Client::try_from(config)?, runtime.clone());
        Ok(Self {
            client,
            runtime,
            endpoint: endpoint.to_string(),
            is_failing: AtomicBool::new(false),
        })
    }

    /// Logs when sending begins to fail and when it works again.
    fn note(&self, problem: Option<&str>) {
        let was_failing = self.is_failing.swap(problem.is_some(), Ordering::Relaxed);
        let endpoint = &self.endpoint;
        match problem {
            Some(problem) if !was_failing => {
                tracing::warn!(%endpoint, problem, "traces cannot be sent, and are dropped");
            }
            None if was_failing => tracing::info!(%endpoint, "traces are sent again"),
            Some(_) | None => {}
        }
    }
}

impl HttpClient for Sender {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Sent> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let sending = self.runtime.spawn(send(self.client.clone(), request));
        Box::pin(async move {
            let sent = sending.await.map_err(HttpError::from).flatten();
            let problem = match &sent {
                Ok(response) if response.status().is_success() => None,
                Ok(response) => Some(response.status().to_string()),
                Err(error) => Some(error.to_string()),
            };
            self.note(problem.as_deref());
            sent
        })
    }
}

async fn send(client: Client, request: Request<Bytes>) -> Sent {
    let response = client.send(request.map(|body| Body::from(body.to_vec()))).await?;
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
