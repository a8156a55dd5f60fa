//! The network between a process and the API server, which a test cuts.

use std::path::Path;

use serde_json::Value;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::cluster::new_folder;

/// A port that leads to the API server unless it is cut.
pub(super) struct Link {
    address: String,
    is_cut: watch::Sender<bool>,
}

impl Link {
    pub(super) async fn to(server: &str) -> Self {
        let server = server.trim_start_matches("https://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (is_cut, cut) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(forward(stream, server.clone(), cut.clone()));
            }
        });
        Self { address, is_cut }
    }

    /// Ends all connections; new ones get no answer until the link is whole again, and are then closed.
    pub(super) fn cut(&self, cut: bool) {
        self.is_cut.send_replace(cut);
    }

    /// The path of a kubeconfig whose server is behind this link.
    pub(super) fn kubeconfig(&self, of: &Path) -> String {
        let mut config: Value =
            serde_yaml_ng::from_str(&std::fs::read_to_string(of).unwrap()).unwrap();
        config["clusters"][0]["cluster"]["server"] = format!("https://{}", self.address).into();
        let path = new_folder().join("kubeconfig");
        std::fs::write(&path, config.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

async fn forward(mut stream: TcpStream, server: String, mut cut: watch::Receiver<bool>) {
    if *cut.borrow_and_update() {
        let _ = cut.changed().await;
        return;
    }
    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut stream, &mut upstream) => {}
        _ = cut.changed() => {}
    }
}
