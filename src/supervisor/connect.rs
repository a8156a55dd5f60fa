//! Creates the client of an explicitly named cluster. There are no fallbacks, so that a program never
//! reaches another cluster than intended.

use std::{path::PathBuf, sync::Arc};

use anyhow::anyhow;
use kube::{
    Client, Config,
    config::{InClusterError, KubeConfigOptions, Kubeconfig},
};

use super::Connection;
use crate::cluster::Read;

/// A cluster and the credentials for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connect {
    /// The cluster that the process runs in, with the service account of its Pod. `kube` reads the token
    /// file again about once a minute, so that a renewed token is used; a [`connection`](Self::connection) also after
    /// each refusal.
    InCluster,
    /// A cluster of a kubeconfig. Its `tokenFile` is also read again about once a minute. `kube` sends the
    /// content unchanged, so that the file must not contain a line break.
    Kubeconfig {
        /// The file; `None` for those of `$KUBECONFIG`, by default `~/.kube/config`.
        file: Option<PathBuf>,
        /// The context; `None` for the current one.
        context: Option<String>,
    },
}

impl Connect {
    /// The current context of the default kubeconfig, as kubectl uses it.
    pub fn kubeconfig() -> Self {
        Self::Kubeconfig { file: None, context: None }
    }

    /// The current context of this kubeconfig.
    pub fn kubeconfig_file(file: impl Into<PathBuf>) -> Self {
        Self::Kubeconfig { file: Some(file.into()), context: None }
    }

    /// Creates a client on the calling runtime. It does not retry, because the schedule of a parent does.
    ///
    /// # Errors
    /// When the credentials cannot be found or read.
    pub async fn client(self) -> anyhow::Result<Client> {
        Ok(Client::try_from(self.config().await?)?)
    }

    /// The configuration of such a client.
    ///
    /// # Errors
    /// When the credentials cannot be found or read.
    pub async fn config(self) -> anyhow::Result<Config> {
        let mut config = match self {
            Self::InCluster => Config::incluster().map_err(|error| not_inside(&error))?,
            Self::Kubeconfig { file, context } => from_kubeconfig(file, context).await?,
        };
        config.default_retry = false;
        Ok(config)
    }

    /// The connection of a supervisor. It reads the files again when the API server does not accept the credentials
    /// or cannot be reached, so that credentials and a CA that are replaced on disk are used without a restart.
    ///
    /// # Errors
    /// When the credentials cannot be found or read.
    pub async fn connection(self) -> anyhow::Result<Connection> {
        let config = self.clone().config().await?;
        let read: Read = Arc::new(move || Box::pin(self.clone().config()));
        Ok(Connection::of(read, config))
    }

    /// The same with a hint in the error, as the program may not have named a cluster.
    pub(super) async fn connection_of_supervisor(self) -> anyhow::Result<Connection> {
        let is_around = self == Self::InCluster;
        self.connection().await.map_err(|error| if is_around { with_hint(&error) } else { error })
    }
}

/// The text of the error already contains its causes.
fn not_inside(error: &InClusterError) -> anyhow::Error {
    match error {
        InClusterError::ReadEnvironmentVariable(why) => anyhow!(
            "the process does not run in a cluster: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT: {why}"
        ),
        error => anyhow!("the process does not run in a cluster: {error}"),
    }
}

fn with_hint(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(
        "{error:#}; outside of a cluster use `connect_to(Connect::kubeconfig())` or \
         `run_operator_with`"
    )
}

async fn from_kubeconfig(file: Option<PathBuf>, context: Option<String>) -> anyhow::Result<Config> {
    let kubeconfig = match file {
        Some(file) => Kubeconfig::read_from(file)?,
        None => Kubeconfig::read()?,
    };
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    Ok(Config::from_custom_kubeconfig(kubeconfig, &options).await?)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// The client of a kubeconfig with this server and this user.
    async fn client_of(server: SocketAddr, user: &str) -> Client {
        client_in(server, [user, "token: another"], None).await.unwrap()
    }

    /// The same of a kubeconfig with two contexts, `a` and `b`, with one user each. The first is current.
    async fn client_in(
        server: SocketAddr,
        [first, second]: [&str; 2],
        context: Option<&str>,
    ) -> anyhow::Result<Client> {
        let kubeconfig = format!(
            "{{current-context: a, contexts: [{{name: a, context: {{cluster: c, user: u}}}}, \
              {{name: b, context: {{cluster: c, user: v}}}}], \
              clusters: [{{name: c, cluster: {{server: 'http://{server}'}}}}], \
              users: [{{name: u, user: {{{first}}}}}, {{name: v, user: {{{second}}}}}]}}",
        );
        let name = format!("operetta-connect-{}-{}", std::process::id(), server.port());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, kubeconfig).unwrap();
        let context = context.map(str::to_owned);
        let client = Connect::Kubeconfig { file: Some(file.clone()), context }.client().await;
        std::fs::remove_file(&file).unwrap();
        client
    }

    /// The next connection, and the head of its first request, in lower case.
    async fn next_request(listener: &TcpListener) -> (TcpStream, String) {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        (stream, String::from_utf8(head).unwrap().to_lowercase())
    }

    #[tokio::test]
    async fn the_token_and_the_impersonated_user_of_a_kubeconfig_are_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let user = "token: t0ken, as: somebody, as-groups: [bakers, cooks]";
        let client = client_of(listener.local_addr().unwrap(), user).await;
        let asking = tokio::spawn(async move { client.apiserver_version().await });
        let (_, head) = next_request(&listener).await;
        assert!(head.contains("authorization: bearer t0ken"), "{head}");
        assert!(head.contains("impersonate-user: somebody"), "{head}");
        for group in ["bakers", "cooks"] {
            assert!(head.contains(&format!("impersonate-group: {group}")), "{head}");
        }
        asking.abort();
    }

    #[tokio::test]
    async fn the_context_that_is_asked_for_is_used_and_no_other_where_it_is_missing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        let users = ["token: of-a", "token: of-b"];
        for (context, token) in [(None, "of-a"), (Some("a"), "of-a"), (Some("b"), "of-b")] {
            let client = client_in(server, users, context).await.unwrap();
            let (_, head) = tokio::select! {
                request = next_request(&listener) => request,
                answer = client.apiserver_version() => panic!("no request was sent: {answer:?}"),
            };
            assert!(head.contains(&format!("authorization: bearer {token}\r\n")), "{head}");
        }
        let missing = client_in(server, users, Some("c")).await;
        assert!(missing.is_err());
    }

    #[tokio::test]
    async fn the_token_in_the_file_that_a_kubeconfig_names_is_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        let name = format!("operetta-token-{}-{}", std::process::id(), server.port());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, "t0ken-of-a-file").unwrap();
        let client = client_of(server, &format!("tokenFile: '{}'", file.display())).await;
        let (_, head) = tokio::select! {
            request = next_request(&listener) => request,
            answer = client.apiserver_version() => panic!("no request was sent: {answer:?}"),
        };
        std::fs::remove_file(&file).unwrap();
        assert!(head.contains("authorization: bearer t0ken-of-a-file\r\n"), "{head}");
    }

    /// The caller decides about the retry and counts it.
    #[tokio::test]
    async fn a_client_does_not_retry_when_the_server_is_busy() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client_of(listener.local_addr().unwrap(), "token: t0ken").await;
        let serving = async {
            for asked in 1.. {
                let (mut stream, _) = next_request(&listener).await;
                assert_eq!(asked, 1, "the client retried");
                let busy = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\
                            connection: close\r\n\r\n";
                stream.write_all(busy.as_bytes()).await.unwrap();
            }
        };
        let answer = tokio::select! {
            answer = client.apiserver_version() => answer,
            () = serving => unreachable!("it serves for ever"),
        };
        assert!(answer.unwrap_err().to_string().contains("503"));
    }
}
