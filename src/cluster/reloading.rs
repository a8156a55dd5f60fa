//! A client that reads its credentials again when the API server does not accept them or cannot be reached, and before
//! they expire: a token, certificate, CA or kubeconfig that was replaced on disk is used without a restart.
//!
//! ```text
//! request --> the current client --> answer
//!                   | 401, or none, also if nobody waits for it any longer
//!                   v
//!     if the files differ from those of the client: later requests use a new client
//! ```
//!
//! The failed request is not sent again: its sender decides that. Connections of the old client last as long as the API
//! server keeps them.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use k8s_openapi::jiff::Timestamp;
use kube::{Client, Config, client::Body, config::AuthInfo};
use secrecy::ExposeSecret;
use tokio::runtime::Handle;

use super::kubeconfig::is_expiring;
use crate::{board::CredentialState, object::OneLine};

/// Reads the configuration from its files.
pub(crate) type Read =
    Arc<dyn Fn(Cause) -> BoxFuture<'static, anyhow::Result<Loaded>> + Send + Sync>;

/// Makes a client.
pub(crate) type Build = Box<dyn Fn(&Config) -> kube::Result<Client> + Send + Sync>;

/// Why it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The process starts.
    Start,
    /// The credentials are about to expire.
    Expiring,
    /// The API server does not accept them.
    Refused,
    /// The API server did not answer.
    Unanswered,
}

/// The configuration that was read.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// When its credentials expire.
    pub(crate) expires: Option<Timestamp>,
    /// Whose they are, for errors.
    pub(crate) user: String,
}

/// The files are not read more often.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);

struct Reloading {
    read: Read,
    build: Build,
    state: CredentialState,
    runtime: Handle,
    current: Mutex<Current>,
}

struct Current {
    client: Client,
    credentials: u64,
    expires: Option<Timestamp>,
    user: String,
    /// When the files were read because of a failure.
    read: Option<Instant>,
}

/// A client that starts with the `loaded` configuration. Must be called within a runtime.
pub(crate) fn reloading(
    read: &Read,
    loaded: &Loaded,
    build: Build,
    state: CredentialState,
) -> kube::Result<Client> {
    let Loaded { config, expires, user } = loaded.clone();
    let (client, credentials) = (build(&config)?, credentials(&config));
    let current = Mutex::new(Current { client, credentials, expires, user, read: None });
    let (read, runtime) = (read.clone(), Handle::current());
    let shared = Arc::new(Reloading { read, build, state, runtime, current });
    let service = tower::service_fn(move |request| shared.clone().send(request));
    Ok(Client::new(service, config.default_namespace))
}

/// A request whose answer is awaited. Where it is dropped before, the API server may have another address by now.
struct Waiting(Option<Arc<Reloading>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(shared) = self.0.take() else { return };
        if shared.is_due(Instant::now()) {
            shared.runtime.spawn(shared.clone().reload(Cause::Unanswered));
        }
    }
}

impl Reloading {
    async fn send(self: Arc<Self>, request: Request<Body>) -> kube::Result<Response<Body>> {
        let is_expiring = is_expiring(self.current().expires, Timestamp::now());
        if is_expiring && self.is_due(Instant::now()) {
            self.reloaded(Cause::Expiring).await;
        }
        let client = self.current().client.clone();
        let mut waiting = Waiting(Some(self.clone()));
        let answer = client.send(request).await;
        waiting.0 = None;
        let cause = match &answer {
            Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => Some(Cause::Refused),
            Ok(_) => None,
            Err(_) => Some(Cause::Unanswered),
        };
        match cause {
            Some(Cause::Refused) => self.note_refusal(),
            Some(_) => {}
            None => self.state.set(None),
        }
        if let Some(cause) = cause.filter(|_| self.is_due(Instant::now())) {
            self.reloaded(cause).await;
        }
        answer
    }

    fn note_refusal(&self) {
        let user = self.current().user.clone();
        let why = format!("the API server does not accept the credentials of {user} (401)");
        if self.state.problem().is_none() {
            self.state.set(Some(why));
        }
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

    /// Continues also when the sender of the request no longer waits.
    async fn reloaded(self: &Arc<Self>, cause: Cause) {
        // It fails only when the runtime ends.
        let _ = self.runtime.spawn(self.clone().reload(cause)).await;
    }

    async fn reload(self: Arc<Self>, cause: Cause) {
        match (self.read)(cause).await {
            Ok(loaded) => self.replace(loaded),
            Err(error) => {
                tracing::warn!(
                    "the credentials cannot be read again: {}",
                    OneLine(format_args!("{error:#}"))
                );
                if cause == Cause::Refused || self.state.problem().is_some() {
                    self.state.set(Some(format!("the credentials cannot be used: {error:#}")));
                }
            }
        }
    }

    fn replace(&self, loaded: Loaded) {
        let Loaded { config, expires, user } = loaded;
        let credentials = credentials(&config);
        if self.current().credentials == credentials {
            return;
        }
        match (self.build)(&config) {
            Ok(client) => {
                tracing::info!("the credentials have changed: later requests use the new ones");
                let mut current = self.current();
                let read = current.read;
                *current = Current { client, credentials, expires, user, read };
            }
            Err(error) => {
                let error = super::unsent::described(error);
                tracing::warn!(error = %OneLine(&error), "the new credentials cannot be used");
            }
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hash of the address, the way to it, the CA and the credentials, with the contents of the files that they name.
fn credentials(config: &Config) -> u64 {
    let AuthInfo { username, password, token, token_file, .. } = &config.auth_info;
    let AuthInfo { client_certificate, client_certificate_data, .. } = &config.auth_info;
    let AuthInfo { client_key, client_key_data, impersonate, .. } = &config.auth_info;
    let AuthInfo { impersonate_groups, impersonate_uid, .. } = &config.auth_info;
    let mut hasher = DefaultHasher::new();
    config.cluster_url.to_string().hash(&mut hasher);
    config.proxy_url.as_ref().map(ToString::to_string).hash(&mut hasher);
    (&config.root_cert, config.accept_invalid_certs, &config.tls_server_name).hash(&mut hasher);
    (username, client_certificate_data).hash(&mut hasher);
    (impersonate, impersonate_groups, impersonate_uid).hash(&mut hasher);
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
    use std::{net::SocketAddr, path::PathBuf};

    use operetta_harness::Folder;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::{
        super::{
            clients::client,
            kubeconfig::{Login, of_kubeconfig},
        },
        *,
    };

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

    fn read_from(file: PathBuf) -> Read {
        Arc::new(move |_| {
            let file = file.clone();
            Box::pin(async move {
                let Login { config, user } = of_kubeconfig(Some(&file), None)?;
                Ok(Loaded { config, expires: None, user })
            })
        })
    }

    fn kubeconfig(server: SocketAddr, user: &str) -> String {
        format!(
            "{{current-context: a, contexts: [{{name: a, context: {{cluster: c, user: u}}}}], \
             clusters: [{{name: c, cluster: {{server: 'http://{server}'}}}}], \
             users: [{{name: u, user: {{{user}}}}}]}}"
        )
    }

    fn build() -> Build {
        Box::new(client)
    }

    #[tokio::test]
    async fn credentials_that_were_replaced_on_disk_are_used_after_a_refusal() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        let folder = Folder::new();
        let (file, token) = (folder.join("kubeconfig"), folder.join("token"));
        let write = |user: &str, secret: &str| {
            fs::write(&file, kubeconfig(server, user)).unwrap();
            fs::write(&token, secret).unwrap();
        };
        let in_file = format!("tokenFile: '{}'", token.display());
        for (before, after) in [("token: old", "token: new"), (&*in_file, &*in_file)] {
            write(before, "old");
            let read = read_from(file.clone());
            let loaded = read(Cause::Start).await.unwrap();
            let state = CredentialState::default();
            let client = reloading(&read, &loaded, build(), state.clone()).unwrap();
            write(after, "new");
            for expected in ["authorization: bearer old\r\n", "authorization: bearer new\r\n"] {
                let (answer, head) = tokio::join!(client.apiserver_version(), refused(&listener));
                assert!(answer.is_err() && head.contains(expected), "{expected}: {head}");
                let problem = state.problem().unwrap();
                assert!(problem.contains("user \"u\" of the kubeconfig"), "{problem}");
            }
        }
    }

    /// The address swallows what is sent, so that whoever asks gives up.
    #[tokio::test]
    async fn credentials_are_read_again_when_nobody_waits_for_the_answer_any_longer() {
        let swallowing = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (old, new) = (swallowing.local_addr().unwrap(), listener.local_addr().unwrap());
        let folder = Folder::new();
        let file = folder.write("kubeconfig", kubeconfig(old, "token: old"));
        let read = read_from(file.clone());
        let loaded = read(Cause::Start).await.unwrap();
        let client = reloading(&read, &loaded, build(), CredentialState::default()).unwrap();
        let asking = tokio::spawn({
            let client = client.clone();
            async move { client.apiserver_version().await }
        });
        let (_swallowed, _) = swallowing.accept().await.unwrap();
        fs::write(&file, kubeconfig(new, "token: new")).unwrap();
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        let asked_at_the_new_address = async {
            loop {
                tokio::select! {
                    head = refused(&listener) => break head,
                    _ = client.apiserver_version() => {}
                    // The files are not read yet: nobody waits for this one either.
                    _ = swallowing.accept() => {}
                }
            }
        };
        let deadline = Duration::from_secs(30);
        let head = tokio::time::timeout(deadline, asked_at_the_new_address).await.unwrap();
        assert!(head.contains("authorization: bearer new\r\n"), "{head}");
    }
}
