//! Which cluster a program reaches. There is no fallback from a cluster that was named, so that a program never reaches
//! another one than intended.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use kube::{Client, Config};

#[cfg(feature = "embedded")]
use super::Embedded;
use super::{Connection, announcement::Development};
use crate::cluster::{Login, of_kubeconfig, of_pod};

/// A cluster and the credentials for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connect {
    /// The cluster of the environment, see [`infer`](Connect::infer).
    Inferred,
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
    /// An API server that the program brings along.
    #[cfg(feature = "embedded")]
    Embedded(Embedded),
}

impl Connect {
    /// The cluster of the environment, as programs with controller-runtime find it: that of `$KUBECONFIG`; where it is not
    /// set, the one that the process runs in; elsewhere that of `~/.kube/config`. The current context may be a production
    /// cluster. It is the default of a supervisor, which logs what it chose.
    pub fn infer() -> Self {
        Self::Inferred
    }

    /// An API server that the program brings along, with the defaults of [`Embedded`].
    #[cfg(feature = "embedded")]
    pub fn embedded() -> Self {
        Self::Embedded(Embedded::default())
    }

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
        Ok(self.chosen()?.read()?.config)
    }

    /// The connection of a supervisor. It reads the files again when the API server does not accept the credentials
    /// or cannot be reached, so that credentials and a CA that are replaced on disk are used without a restart. It runs
    /// the credential plugin again when what that issued is refused or expires.
    ///
    /// # Errors
    /// When the credentials cannot be found or read, or cannot be used. The text names the file and the entry, and quotes
    /// no credentials and no output of a plugin.
    pub async fn connection(self) -> anyhow::Result<Connection> {
        #[cfg(feature = "embedded")]
        if let Self::Embedded(server) = &self {
            return Ok(server.connection()?);
        }
        let cluster = self.chosen()?;
        Connection::reading(move || cluster.read()).await
    }

    /// The embedded server, as it is announced.
    pub(super) fn development(&self) -> Option<Development> {
        match self {
            #[cfg(feature = "embedded")]
            Self::Embedded(server) => Some(server.development()),
            _ => None,
        }
    }

    /// Whether the process is not in the cluster, so that no Service of it reaches the process.
    #[cfg(feature = "cli")]
    pub(crate) fn is_from_outside(&self) -> bool {
        match self {
            Self::Kubeconfig { .. } => true,
            Self::Inferred => {
                matches!(inferred(is_set, &home_kubeconfig()), Ok(Self::Kubeconfig { .. }))
            }
            Self::InCluster => false,
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => false,
        }
    }

    /// The same with a name instead of a search.
    fn chosen(self) -> anyhow::Result<Self> {
        if self != Self::Inferred {
            return Ok(self);
        }
        let chosen = inferred(is_set, &home_kubeconfig())?;
        tracing::info!("{}", chosen.why());
        Ok(chosen)
    }

    fn why(&self) -> &'static str {
        match self {
            Self::InCluster => "the cluster is the one that the process runs in",
            _ if is_set("KUBECONFIG") => "the cluster is the current context of $KUBECONFIG",
            _ => "the cluster is the current context of ~/.kube/config",
        }
    }

    fn read(&self) -> anyhow::Result<Login> {
        match self {
            Self::InCluster => {
                of_pod().map_err(|why| anyhow!("the process does not run in a cluster: {why}"))
            }
            Self::Kubeconfig { file, context } => {
                Ok(of_kubeconfig(file.as_deref(), context.as_deref())?)
            }
            Self::Inferred => inferred(is_set, &home_kubeconfig())?.read(),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => {
                Err(anyhow!("an embedded API server has no kubeconfig to be read"))
            }
        }
    }
}

#[cfg(feature = "embedded")]
impl From<Embedded> for Connect {
    fn from(server: Embedded) -> Self {
        Self::Embedded(server)
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn home_kubeconfig() -> PathBuf {
    let home = env::home_dir().unwrap_or_default();
    home.join(".kube/config")
}

/// The cluster of an environment.
fn inferred(is_set: impl Fn(&str) -> bool, of_home: &Path) -> anyhow::Result<Connect> {
    if is_set("KUBECONFIG") {
        Ok(Connect::kubeconfig())
    } else if is_set("KUBERNETES_SERVICE_HOST") {
        Ok(Connect::InCluster)
    } else if of_home.is_file() {
        Ok(Connect::kubeconfig())
    } else {
        Err(anyhow!(
            "there is no cluster: KUBECONFIG is not set, the process does not run in a cluster \
             (KUBERNETES_SERVICE_HOST is not set), and there is no file {}. Set KUBECONFIG, or let the program bring an \
             API server along: `connect_to(Connect::embedded())`, with the feature `embedded`",
            of_home.display()
        ))
    }
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

    #[test]
    fn the_cluster_of_the_environment_is_that_of_the_first_that_names_one() {
        let folder = Folder::new();
        let (of_home, missing) = (folder.write("config", ""), Path::new("/nonexistent/config"));
        let of = |set: &[&str], of_home: &Path| {
            inferred(|name| set.contains(&name), of_home).map_err(|error| error.to_string())
        };
        let both = ["KUBECONFIG", "KUBERNETES_SERVICE_HOST"];
        assert_eq!(of(&both, &of_home), Ok(Connect::kubeconfig()));
        assert_eq!(of(&both[1..], &of_home), Ok(Connect::InCluster));
        assert_eq!(of(&[], &of_home), Ok(Connect::kubeconfig()));
        let error = of(&[], missing).unwrap_err();
        for part in ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "/nonexistent", "Connect::embedded()"]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
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
