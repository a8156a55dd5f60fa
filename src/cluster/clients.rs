//! The clients of a configuration, with the proxy that it names.
//!
//! kube makes those that are not fenced, but for a SOCKS proxy that asks who connects.

use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_util::{
    client::legacy::{
        Client as HttpClient,
        connect::{
            Connection, HttpConnector,
            proxy::{SocksV5, Tunnel},
        },
    },
    rt::TokioExecutor,
};
use kube::{
    Client, Config,
    client::{ClientBuilder, ConfigExt},
};
use tower::{BoxError, Service, ServiceExt};

use super::{
    fenced::Connector,
    kubeconfig::encoded,
    uri_user::{user_of, without_user},
};
use crate::election::Fence;

/// A client of this configuration.
pub(crate) fn client(config: &Config) -> kube::Result<Client> {
    match config.proxy_url.as_ref().filter(|proxy| proxy.scheme_str() == Some("socks5")) {
        Some(proxy) if user_of(proxy).is_some() => through(config, tcp(config)),
        _ => Client::try_from(config.clone()),
    }
}

/// A client for writes, whose connections send nothing while the fence is closed.
pub(crate) fn fenced(config: &Config, fence: &Fence) -> kube::Result<Client> {
    through(config, Connector::new(tcp(config), fence))
}

fn tcp(config: &Config) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_connect_timeout(config.connect_timeout);
    tcp
}

/// A client that connects in this way to the server, or to the proxy.
fn through<C>(config: &Config, connector: C) -> kube::Result<Client>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: std::error::Error + Send + Sync + 'static,
{
    let Some(proxy) = config.proxy_url.clone() else { return stack(config, connector) };
    let user = user_of(&proxy);
    match proxy.scheme_str() {
        Some("socks5") => {
            let socks = SocksV5::new(without_user(&proxy), connector);
            stack(
                config,
                match user {
                    Some((name, password)) => socks.with_auth(name, password),
                    None => socks,
                },
            )
        }
        Some("https") => {
            let connector = config.rustls_https_connector_with_connector(connector)?;
            stack(config, tunnel(&proxy, user, connector))
        }
        _ => stack(config, tunnel(&proxy, user, connector)),
    }
}

fn tunnel<C>(proxy: &Uri, user: Option<(String, String)>, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(without_user(proxy), connector);
    match user.and_then(basic) {
        Some(auth) => tunnel.with_auth(auth),
        None => tunnel,
    }
}

/// What kube puts around a connection.
fn stack<C>(config: &Config, connector: C) -> kube::Result<Client>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let http = HttpClient::builder(TokioExecutor::new()).build(connector);
    let http = http.map_err(BoxError::from);
    let client = ClientBuilder::new(http, config.default_namespace.as_str());
    let client = client.with_layer(&config.extra_headers_layer()?);
    let base = config.base_uri_layer();
    Ok(match config.auth_layer()? {
        Some(auth) => client.with_layer(&auth).with_layer(&base).build(),
        None => client.with_layer(&base).build(),
    })
}

fn basic((name, password): (String, String)) -> Option<HeaderValue> {
    let value = encoded(format!("{name}:{password}").as_bytes());
    HeaderValue::from_str(&format!("Basic {value}")).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::{super::boot_clock::election_now, *};

    /// A proxy, and its clients for a server that only it knows.
    async fn proxied(scheme: &str) -> (TcpListener, [Client; 2]) {
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut config = Config::new("http://api.example:6443".parse().unwrap());
        let address = proxy.local_addr().unwrap();
        config.proxy_url = Some(format!("{scheme}://me:p%40ss@{address}/").parse().unwrap());
        let fence = Fence::default();
        fence.set(Some(election_now().boot.plus(Duration::from_hours(1))));
        let clients = [client(&config).unwrap(), fenced(&config, &fence).unwrap()];
        (proxy, clients)
    }

    /// The head of a request in lower case.
    async fn head(stream: &mut TcpStream) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        String::from_utf8(head).unwrap().to_lowercase()
    }

    async fn answers(stream: &mut TcpStream) {
        let request = head(stream).await;
        assert!(request.starts_with("get /healthz http/1.1\r\n"), "{request}");
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).await.unwrap();
    }

    async fn ask(client: &Client) -> String {
        client.request_text(http::Request::get("/healthz").body(Vec::new()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn an_http_proxy_is_asked_for_a_tunnel_with_its_password() {
        let (proxy, clients) = proxied("http").await;
        let proxying = tokio::spawn(async move {
            for _ in 0..2 {
                let (mut stream, _) = proxy.accept().await.unwrap();
                let asked = head(&mut stream).await;
                assert!(asked.starts_with("connect api.example:6443 http/1.1\r\n"), "{asked}");
                let basic = encoded(b"me:p@ss").to_lowercase();
                assert!(asked.contains(&format!("proxy-authorization: basic {basic}")), "{asked}");
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                answers(&mut stream).await;
            }
        });
        for client in &clients {
            assert_eq!(ask(client).await, "ok");
        }
        proxying.await.unwrap();
    }

    #[tokio::test]
    async fn a_socks_proxy_gets_the_name_of_the_server_and_its_password() {
        let (proxy, clients) = proxied("socks5").await;
        let proxying = tokio::spawn(async move {
            for _ in 0..2 {
                let (mut stream, _) = proxy.accept().await.unwrap();
                assert_eq!(stream.read_u8().await.unwrap(), 5);
                let mut methods = vec![0; stream.read_u8().await.unwrap().into()];
                stream.read_exact(&mut methods).await.unwrap();
                assert!(methods.contains(&2), "a password is offered: {methods:?}");
                stream.write_all(&[5, 2]).await.unwrap();
                let mut user = [0; 9];
                stream.read_exact(&mut user).await.unwrap();
                assert_eq!(&user, b"\x01\x02me\x04p@ss");
                stream.write_all(&[1, 0]).await.unwrap();
                let mut asked = [0; 18];
                stream.read_exact(&mut asked).await.unwrap();
                assert_eq!(&asked, b"\x05\x01\x00\x03\x0bapi.example\x19\x2b");
                stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
                answers(&mut stream).await;
            }
        });
        for client in &clients {
            assert_eq!(ask(client).await, "ok");
        }
        proxying.await.unwrap();
    }
}
