//! A TCP relay between a process and its API server that counts what the process receives. TLS passes through it unchanged.

use std::{
    fs::OpenOptions,
    io::Write,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use crate::cluster::Cluster;

const CHUNK: usize = 64 << 10;

/// A running relay. It ends with the runtime.
pub(super) struct Relay {
    here: SocketAddr,
    received: Arc<AtomicU64>,
}

impl Relay {
    /// Starts one to a server; returns also the path of a kubeconfig that leads through it.
    pub(super) async fn start(cluster: &Cluster, identity: &str) -> Result<(Self, PathBuf)> {
        let mut config: Value = serde_yaml_ng::from_str(&cluster.kubeconfig_text()?)?;
        let way = &mut config["clusters"][0]["cluster"];
        let server: http::Uri = way["server"].as_str().context("it names a server")?.parse()?;
        let host = server.host().context("the server has a host")?.to_owned();
        let address = format!("{host}:{}", server.port_u16().unwrap_or(443));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let relay = Self { here: listener.local_addr()?, received: Arc::default() };
        way["server"] = format!("https://{}", relay.here).into();
        // The certificate is for the server, not for the relay.
        way["tls-server-name"] = host.into();
        let path = std::env::temp_dir().join(format!("engine-{identity}-{}", std::process::id()));
        write_secret(&path, &config.to_string())?;
        tokio::spawn(accept(listener, address, Arc::clone(&relay.received)));
        Ok((relay, path))
    }

    /// How many bytes the process has received.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// It holds a credential.
fn write_secret(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

async fn accept(listener: TcpListener, server: String, received: Arc<AtomicU64>) {
    while let Ok((near, _)) = listener.accept().await {
        let (server, received) = (server.clone(), Arc::clone(&received));
        tokio::spawn(async move {
            let Ok(far) = TcpStream::connect(server).await else { return };
            // Whoever reads waits for each small frame.
            let _ = (near.set_nodelay(true), far.set_nodelay(true));
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            let sent = Arc::default();
            tokio::select! {
                _ = carry(near_in, far_out, sent) => {}
                _ = carry(far_in, near_out, received) => {}
            }
        });
    }
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    count: Arc<AtomicU64>,
) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match from.read(&mut chunk).await? {
            0 => return Ok(()),
            length => {
                count.fetch_add(length as u64, Ordering::Relaxed);
                to.write_all(&chunk[..length]).await?;
            }
        }
    }
}
