//! Connections through the API server of a cluster to a port of a Pod, as `kubectl port-forward` makes them. No port of
//! this machine is opened: other users of it cannot use the connection.

use std::{
    io,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll},
};

use crate::supervisor::Connect;
use anyhow::Context as _;
use http::Uri;
use hyper_util::{
    client::legacy::{
        self,
        connect::{Connected, Connection},
    },
    rt::{TokioExecutor, TokioIo},
};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::{
    Api, Client, Config,
    api::{ListParams, Portforwarder},
    client::{Body, ConfigExt},
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tower::{BoxError, ServiceBuilder};

use super::args::Target;

/// A port of a Pod.
#[derive(Clone)]
pub(super) struct Forward {
    pods: Api<Pod>,
    pod: String,
    port: u16,
}

impl Forward {
    /// The port of `server` of the Pod, or of a ready Pod of the Deployment.
    pub(super) async fn new(
        Target { namespace, name }: Target,
        file: Option<PathBuf>,
        context: Option<String>,
        server: &str,
    ) -> anyhow::Result<Self> {
        let client = Connect::Kubeconfig { file, context }.client().await?;
        let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
        let pod = match pods.get_opt(&name).await? {
            Some(_) => name,
            None => pod_of(&Api::namespaced(client, &namespace), &pods, &namespace, &name).await?,
        };
        Ok(Self { pods, pod, port: port(server) })
    }

    async fn connect(self) -> io::Result<TokioIo<Tunnel>> {
        let Self { pods, pod, port } = self;
        let cannot = |why: String| io::Error::other(format!("the Pod {pod}, port {port}: {why}"));
        let opened = pods.portforward(&pod, &[port]).await;
        let mut forwarder = opened.map_err(|error| match error {
            kube::Error::Api(status) => cannot(format!("{} {}", status.code, status.message)),
            error => cannot(error.to_string()),
        })?;
        let stream = forwarder.take_stream(port).ok_or_else(|| cannot("no stream".to_owned()))?;
        Ok(TokioIo::new(Tunnel { stream, _forwarder: forwarder }))
    }
}

/// A ready Pod of a Deployment.
async fn pod_of(
    deployments: &Api<Deployment>,
    pods: &Api<Pod>,
    namespace: &str,
    name: &str,
) -> anyhow::Result<String> {
    let found = deployments.get_opt(name).await?;
    let deployment = found.with_context(|| {
        format!("there is no Pod and no Deployment `{name}` in the namespace `{namespace}`")
    })?;
    let labels = deployment.spec.selector.match_labels.unwrap_or_default();
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let pods = pods.list(&ListParams::default().labels(&labels.join(","))).await?;
    let ready = pods.items.into_iter().find(is_ready).and_then(|pod| pod.metadata.name);
    ready.with_context(|| format!("no Pod of the Deployment `{namespace}/{name}` is ready"))
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    pod.metadata.deletion_timestamp.is_none()
        && conditions.into_iter().any(|it| it.type_ == "Ready" && it.status == "True")
}

fn port(server: &str) -> u16 {
    let server: Option<Uri> = server.parse().ok();
    let given = server.as_ref().and_then(Uri::port_u16);
    given.unwrap_or_else(|| match server.as_ref().and_then(Uri::scheme_str) {
        Some("https") => 443,
        _ => 80,
    })
}

/// A client of the process behind the port. TLS is that of the process, within the connection.
pub(super) fn client(config: &Config, forward: Forward) -> kube::Result<Client> {
    let connector = tower::service_fn(move |_: Uri| forward.clone().connect());
    let https = config.rustls_https_connector_with_connector(connector)?;
    let requests = legacy::Client::builder(TokioExecutor::new()).build::<_, Body>(https);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .map_err(BoxError::from)
        .service(requests);
    Ok(Client::new(service, "default"))
}

/// The stream of a forwarded port.
struct Tunnel {
    stream: DuplexStream,
    /// Held: it moves the bytes.
    _forwarder: Portforwarder,
}

impl Connection for Tunnel {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_the_pod_is_that_of_the_address() {
        assert_eq!(port("http://127.0.0.1:8080"), 8080);
        assert_eq!(port("https://operetta.operetta-system.svc"), 443);
        assert_eq!(port("http://localhost"), 80);
    }
}
