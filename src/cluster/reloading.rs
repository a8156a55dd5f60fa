//! A client that reads its credentials again when the API server does not accept them or cannot be reached: a token,
//! certificate, CA or kubeconfig that was replaced on disk is used without a restart.
//!
//! ```text
//! request --> the current client --> answer
//!                   | 401, or none
//!                   v
//!     if the files differ from those of the client: later requests use a new client
//! ```
//!
//! The failed request is not sent again, because whoever sent it decides that. Connections of the old client last as long
//! as the API server keeps them.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use kube::{Client, Config, client::Body, config::AuthInfo};
use secrecy::ExposeSecret;

/// Reads the configuration from its files.
pub(crate) type Read = Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<Config>> + Send + Sync>;

/// Makes a client; `None` where that is not possible, so that the one before stays in use.
pub(crate) type Build = Box<dyn Fn(&Config) -> kube::Result<Option<Client>> + Send + Sync>;

/// The files are not read more often.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);

struct Reloading {
    read: Read,
    build: Build,
    current: Mutex<Current>,
}

struct Current {
    client: Client,
    credentials: u64,
    /// When the files were read because of a failure.
    read: Option<Instant>,
}

/// A client of what is read, which was `config` before. Must be called within a runtime.
pub(crate) fn reloading(
    read: &Read,
    config: &Config,
    build: Build,
) -> kube::Result<Option<Client>> {
    let Some(client) = build(config)? else { return Ok(None) };
    let current = Mutex::new(Current { client, credentials: credentials(config), read: None });
    let shared = Arc::new(Reloading { read: read.clone(), build, current });
    let service = tower::service_fn(move |request| {
        let shared = shared.clone();
        async move { shared.send(request).await }
    });
    Ok(Some(Client::new(service, config.default_namespace.clone())))
}

impl Reloading {
    async fn send(&self, request: Request<Body>) -> kube::Result<Response<Body>> {
        let client = self.current().client.clone();
        let answer = client.send(request).await;
        let is_refused = answer.as_ref().map_or(true, |it| it.status() == StatusCode::UNAUTHORIZED);
        if is_refused && self.is_due(Instant::now()) {
            self.reload().await;
        }
        answer
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut current = self.current();
        let is_due =
            current.read.is_none_or(|at| now.saturating_duration_since(at) >= AT_MOST_EVERY);
        if is_due {
            current.read = Some(now);
        }
        is_due
    }

    async fn reload(&self) {
        match (self.read)().await {
            Ok(config) => self.replace(&config),
            Err(error) => tracing::warn!("the credentials cannot be read again: {error:#}"),
        }
    }

    fn replace(&self, config: &Config) {
        let credentials = credentials(config);
        if self.current().credentials == credentials {
            return;
        }
        match (self.build)(config) {
            Ok(Some(client)) => {
                tracing::info!("the credentials have changed: later requests use the new ones");
                let mut current = self.current();
                (current.client, current.credentials) = (client, credentials);
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the new credentials cannot be used"),
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hash of the address, the CA and the credentials, with the contents of the files that they name.
fn credentials(config: &Config) -> u64 {
    let AuthInfo { username, password, token, token_file, .. } = &config.auth_info;
    let AuthInfo { client_certificate, client_certificate_data, .. } = &config.auth_info;
    let AuthInfo { client_key, client_key_data, .. } = &config.auth_info;
    let mut hasher = DefaultHasher::new();
    config.cluster_url.to_string().hash(&mut hasher);
    config.root_cert.hash(&mut hasher);
    (username, client_certificate_data).hash(&mut hasher);
    for secret in [password, token, client_key_data] {
        secret.as_ref().map(ExposeSecret::expose_secret).hash(&mut hasher);
    }
    for file in [token_file, client_certificate, client_key] {
        file.as_ref().map(|file| fs::read(file).ok()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use kube::config::{KubeConfigOptions, Kubeconfig};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Answers 401, and returns the head of the request in lower case.
    async fn refused(listener: &TcpListener) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    }

    async fn config_of(file: PathBuf) -> anyhow::Result<Config> {
        let kubeconfig = Kubeconfig::read_from(file)?;
        Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }

    #[tokio::test]
    async fn credentials_that_were_replaced_on_disk_are_used_after_a_refusal() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        let name = |what: &str| format!("operetta-{what}-{}-{}", std::process::id(), server.port());
        let folder = std::env::temp_dir();
        let (file, token) = (folder.join(name("kubeconfig")), folder.join(name("token")));
        let write = |user: &str, secret: &str| {
            let text = format!(
                "{{current-context: a, contexts: [{{name: a, context: {{cluster: c, user: u}}}}], \
                 clusters: [{{name: c, cluster: {{server: 'http://{server}'}}}}], \
                 users: [{{name: u, user: {{{user}}}}}]}}"
            );
            fs::write(&file, text).unwrap();
            fs::write(&token, secret).unwrap();
        };
        let in_file = format!("tokenFile: '{}'", token.display());
        for (before, after) in [("token: old", "token: new"), (&*in_file, &*in_file)] {
            write(before, "old");
            let named = file.clone();
            let read: Read = Arc::new(move || Box::pin(config_of(named.clone())));
            let config = read().await.unwrap();
            let build: Build = Box::new(|config| Client::try_from(config.clone()).map(Some));
            let client = reloading(&read, &config, build).unwrap().unwrap();
            write(after, "new");
            for expected in ["authorization: bearer old\r\n", "authorization: bearer new\r\n"] {
                let (answer, head) = tokio::join!(client.apiserver_version(), refused(&listener));
                assert!(answer.is_err() && head.contains(expected), "{expected}: {head}");
            }
        }
        fs::remove_file(&file).unwrap();
        fs::remove_file(&token).unwrap();
    }
}
