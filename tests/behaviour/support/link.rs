//! A TCP proxy to the API server that a test can cut and restore.
//!
//! Bytes pass unchanged. While it is cut, open connections end and new ones wait, so that the operators
//! continue at once when it is restored.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::cluster::{Cluster, Connector, connector_to};

/// The proxy between the operators under test and their cluster.
pub(crate) struct Link {
    config: kube::Config,
    is_whole: watch::Sender<bool>,
}

impl Link {
    /// Starts a link to the cluster, which ends with the runtime of the test.
    pub(crate) async fn to(cluster: &Cluster) -> Self {
        let mut config = cluster.kube_config();
        let server = address(&config.cluster_url).await;
        // The certificate is for the server, not for the link.
        config.tls_server_name.get_or_insert(host(&config.cluster_url).to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        config.cluster_url = format!("https://{here}").parse().unwrap();
        let (is_whole, seen) = watch::channel(true);
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                tokio::spawn(carry(near, server, seen.clone()));
            }
        });
        Self { config, is_whole }
    }

    pub(crate) fn connector(&self) -> Connector {
        connector_to(self.config.clone())
    }

    /// The same as a kubeconfig, for another process.
    pub(crate) fn kubeconfig(&self, cluster: &Cluster) -> String {
        let mut kubeconfig: Value = serde_yaml_ng::from_str(&cluster.kubeconfig()).unwrap();
        let way = &mut kubeconfig["clusters"][0]["cluster"];
        way["server"] = self.config.cluster_url.to_string().into();
        way["tls-server-name"] = self.config.tls_server_name.clone().into();
        kubeconfig.to_string()
    }

    pub(crate) fn cut(&self) {
        self.is_whole.send_replace(false);
    }

    pub(crate) fn restore(&self) {
        self.is_whole.send_replace(true);
    }
}

/// Forwards one connection until either side closes it or the link is cut.
async fn carry(mut near: TcpStream, server: SocketAddr, mut is_whole: watch::Receiver<bool>) {
    if is_whole.wait_for(|is_whole| *is_whole).await.is_err() {
        return;
    }
    let Ok(mut far) = TcpStream::connect(server).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => {}
        _ = is_whole.wait_for(|is_whole| !is_whole) => {}
    }
}

async fn address(url: &http::Uri) -> SocketAddr {
    let target = (host(url), url.port_u16().unwrap_or(443));
    tokio::net::lookup_host(target).await.unwrap().next().expect("the server has an address")
}

fn host(url: &http::Uri) -> &str {
    url.host().expect("the URL has a host").trim_matches(['[', ']'])
}
