//! Creates the client of an explicitly named cluster. There are no fallbacks, so that a program never
//! reaches another cluster than intended.

use std::path::PathBuf;

use anyhow::anyhow;
use kube::{Client, Config};

use super::Connection;
use crate::cluster::{Login, of_kubeconfig, of_pod};

/// A cluster and the credentials for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connect {
    /// The cluster that the process runs in, with the service account of its Pod. The token file is read again about
    /// once a minute, so that a renewed token is used, and after each refusal.
    InCluster,
    /// A cluster of a kubeconfig, which is read as kubectl reads it: of a list of files those that exist, with `proxy-url`
    /// or the proxy of the environment, and with the plugin of the user.
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

    /// Creates a client on the calling runtime. It does not retry, because the schedule of a parent does. Like a
    /// [`connection`](Self::connection) it reads the files again.
    ///
    /// # Errors
    /// When the credentials cannot be found or read, or cannot be used.
    pub async fn client(self) -> anyhow::Result<Client> {
        Ok(self.connection().await?.client()?)
    }

    /// The configuration of such a client. A credential plugin is left to who uses it, and a token whose file has a line
    /// break is not read again.
    ///
    /// # Errors
    /// When the credentials cannot be found or read, or cannot be used. The text names the file and the entry.
    #[expect(clippy::unused_async, reason = "files may be read without blocking some day")]
    pub async fn config(self) -> anyhow::Result<Config> {
        Ok(self.read()?.config)
    }

    /// The connection of a supervisor. It reads the files again when the API server does not accept the credentials
    /// or cannot be reached, so that credentials and a CA that are replaced on disk are used without a restart. It runs
    /// the credential plugin again when what that issued is refused or expires.
    ///
    /// # Errors
    /// When the credentials cannot be found or read, or cannot be used. The text names the file and the entry, and quotes
    /// no credentials and no output of a plugin.
    pub async fn connection(self) -> anyhow::Result<Connection> {
        Connection::reading(move || self.read()).await
    }

    fn read(&self) -> anyhow::Result<Login> {
        match self {
            Self::InCluster => {
                of_pod().map_err(|why| anyhow!("the process does not run in a cluster: {why}"))
            }
            Self::Kubeconfig { file, context } => {
                Ok(of_kubeconfig(file.as_deref(), context.as_deref())?)
            }
        }
    }

    /// The same with a hint in the error, as the program may not have named a cluster.
    pub(super) async fn connection_of_supervisor(self) -> anyhow::Result<Connection> {
        let is_around = self == Self::InCluster;
        self.connection().await.map_err(|error| if is_around { with_hint(&error) } else { error })
    }
}

fn with_hint(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(
        "{error:#}; outside of a cluster use `connect_to(Connect::kubeconfig())` or \
         `run_operator_with`"
    )
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use operetta_harness::Folder;
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
        let folder = Folder::new();
        let file = Some(folder.write("kubeconfig", kubeconfig));
        Connect::Kubeconfig { file, context: context.map(str::to_owned) }.client().await
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
        let folder = Folder::new();
        let file = folder.write("token", "t0ken-of-a-file");
        let client = client_of(server, &format!("tokenFile: '{}'", file.display())).await;
        let (_, head) = tokio::select! {
            request = next_request(&listener) => request,
            answer = client.apiserver_version() => panic!("no request was sent: {answer:?}"),
        };
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
