//! HTTPS on loopback, for kubectl and other processes: clients have a bearer token or a certificate.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::ServerHandle,
    error::PayloadError,
    http::header as actix_header,
    web::{self, Data, Payload},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::{Method, Request, Response, header};
use serde_json::{Value, json};

use super::{
    kubeconfig::{self, Kubeconfig},
    last_port,
    peer::{Chain, Peer},
};
use crate::{
    authentication,
    certificates::{self, ClientCertificate},
    credentials::CredentialsError,
    persistence::{DataDirectoryError, Persistence},
    rest::{self, Body},
    server::Server,
    status::StatusError,
    users::User,
};

/// The largest body that is read; the handler refuses anything above 3 MiB itself.
const READ_LIMIT: usize = 3 * 1024 * 1024 + 1;
/// How many bytes of bodies are in memory at one time.
const BODIES_LIMIT: usize = 64 * 1024 * 1024;
/// How long a body may take.
const BODY_PATIENCE: Duration = Duration::from_mins(1);
/// How many threads serve connections.
const WORKERS: usize = 2;
/// How many connections each of them serves; more of them wait.
const CONNECTIONS: usize = 1024;
/// A server that listens.
pub struct Running {
    server: Server,
    address: SocketAddr,
    token: String,
    kubeconfig: Kubeconfig,
    text: String,
    handle: ServerHandle,
}

/// A server could not be made to listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could reach it.
    #[error("{0} is not a loopback address: the embedded API server is for this machine only")]
    NotLoopback(IpAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificate or token.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The data directory.
    #[error(transparent)]
    DataDirectory(#[from] DataDirectoryError),
    /// The kubeconfig file.
    #[error("cannot write the kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What every worker needs.
struct Shared {
    server: Server,
    /// How many bytes of bodies are in memory.
    bodies: AtomicUsize,
}

/// A body that is in memory, or a part of it.
struct Received<'s> {
    bytes: BytesMut,
    length: usize,
    total: &'s AtomicUsize,
}

impl Server {
    /// Listens on a loopback address; call it within a tokio runtime. Port 0 chooses one; with a data directory
    /// the port of the last time, if it is free.
    pub fn serve(&self, address: SocketAddr) -> Result<Running, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address.ip()));
        }
        let persistence = self.shared.persistence.as_ref();
        let directory = persistence.map(Persistence::directory);
        let credentials = self.shared.cluster.keychain.credentials()?;
        let shared = Data::new(Shared { server: self.clone(), bodies: AtomicUsize::new(0) });
        let address = last_port::prefer(address, directory);
        let refused = |source| ServeError::Listen { address, source };
        let http = HttpServer::new(move || {
            App::new().app_data(Data::clone(&shared)).default_service(web::to(answer))
        })
        .on_connect(Peer::remember)
        .workers(WORKERS)
        .max_connections(CONNECTIONS)
        .disable_signals()
        .shutdown_timeout(1)
        .bind_rustls_0_23(address, credentials.tls.clone())
        .map_err(refused)?;
        let address = http.addrs().first().copied().unwrap_or(address);
        last_port::remember(address, directory)?;
        let http = http.run();
        let handle = http.handle();
        tokio::spawn(http);
        let token = credentials.token.clone();
        let kubeconfig = Kubeconfig::new(address, &credentials.authority);
        let kubeconfig = kubeconfig.with(kubeconfig::NAME, json!({ "token": token }));
        self.shared.tokens.add(&token, User::admin());
        let text = kubeconfig.text();
        Ok(Running { server: self.clone(), address, token, kubeconfig, text, handle })
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The kubeconfig, with the token of the administrator in it.
    pub fn kubeconfig(&self) -> &str {
        &self.text
    }

    /// A kubeconfig for a user, with a certificate of theirs that is valid for a year: see
    /// [`Builder::rbac`](crate::Builder::rbac).
    ///
    /// ```
    /// # use operetta_apiserver::{Server, User};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let running = Server::builder().rbac().start().serve("127.0.0.1:0".parse()?)?;
    /// let kubeconfig = running.kubeconfig_of(&User::new("jane").group("developers"))?;
    /// assert!(kubeconfig.contains("client-certificate-data"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn kubeconfig_of(&self, user: &User) -> Result<String, ServeError> {
        let credentials = self.server.shared.cluster.keychain.credentials()?;
        let kubeconfig = Kubeconfig::new(self.address, &credentials.authority);
        Ok(kubeconfig.with(user.name(), self.certificate_of(user)?).text())
    }

    /// Adds a user to the [kubeconfig](Self::kubeconfig), with a certificate, and a context of the same name.
    pub fn add_user(&mut self, user: &User) -> Result<(), ServeError> {
        let certificate = self.certificate_of(user)?;
        self.kubeconfig = self.kubeconfig.clone().with(user.name(), certificate);
        self.text = self.kubeconfig.text();
        Ok(())
    }

    fn certificate_of(&self, user: &User) -> Result<Value, ServeError> {
        let cluster = &self.server.shared.cluster;
        let credentials = cluster.keychain.credentials()?;
        let ClientCertificate { certificate, key } =
            certificates::client_certificate(&credentials, user, cluster.clock.now())?;
        Ok(json!({
            "client-certificate-data": BASE64_STANDARD.encode(certificate),
            "client-key-data": BASE64_STANDARD.encode(key),
        }))
    }

    /// Writes the kubeconfig to a file that only its owner may read.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), ServeError> {
        kubeconfig::write(path, &self.text)
            .map_err(|source| ServeError::Kubeconfig { path: path.to_owned(), source })
    }

    /// Stops listening; open watches are closed, and the token becomes invalid.
    pub async fn stop(self) {
        self.server.shared.tokens.remove(&self.token);
        self.handle.stop(false).await;
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn answer(request: HttpRequest, payload: Payload, shared: Data<Shared>) -> HttpResponse {
    let user = match authenticate(&request, &shared.server) {
        Ok(user) => user,
        Err(error) => return refusal(&error),
    };
    // The bodies of strangers are not read for nothing.
    if user.is_anonymous()
        && let Ok(method) = Method::from_bytes(request.method().as_str().as_bytes())
        && let Err(error) = rest::permit(
            &shared.server.shared,
            &user,
            &method,
            request.path(),
            request.query_string(),
        )
    {
        return refusal(&error);
    }
    // After an upgrade another protocol follows, without an end of the request body.
    let is_upgrade = request.headers().contains_key(actix_web::http::header::UPGRADE)
        || request.method() == actix_web::http::Method::CONNECT;
    let mut received = Received { bytes: BytesMut::new(), length: 0, total: &shared.bodies };
    if !is_upgrade {
        match tokio::time::timeout(BODY_PATIENCE, received.read(payload)).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => return too_many_requests(),
            Ok(Err(error)) => return refusal(&StatusError::bad_request(error.to_string())),
            Err(_) => return refusal(&StatusError::body_too_slow()),
        }
    }
    match translate(&request, received.take()) {
        Ok(mut translated) => {
            translated.extensions_mut().insert(user);
            let peer = request.conn_data::<Peer>().cloned();
            reply(shared.server.handle(translated).await, peer)
        }
        Err(error) => refusal(&StatusError::bad_request(error.to_string())),
    }
}

impl Received<'_> {
    /// Reads a body, or as much of it as is needed to see that it is too large; returns whether there was
    /// room for it.
    async fn read(&mut self, mut payload: Payload) -> Result<bool, PayloadError> {
        while let Some(chunk) = payload.next().await {
            let room = READ_LIMIT.saturating_sub(self.length);
            let chunk = chunk?;
            let chunk = &chunk[..chunk.len().min(room)];
            if self.total.fetch_add(chunk.len(), Ordering::Relaxed) > BODIES_LIMIT {
                self.total.fetch_sub(chunk.len(), Ordering::Relaxed);
                return Ok(false);
            }
            self.length += chunk.len();
            self.bytes.extend_from_slice(chunk);
        }
        Ok(true)
    }

    /// The body, which counts on until this is dropped.
    fn take(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes).freeze()
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        self.total.fetch_sub(self.length, Ordering::Relaxed);
    }
}

/// Who sends a request. A certificate counts before a token; a header without a token of the known kind means
/// nothing.
fn authenticate(request: &HttpRequest, server: &Server) -> Result<User, StatusError> {
    let chain = request.conn_data::<Chain>().map_or(&[][..], |chain| &chain.0);
    let certified = authentication::by_certificate(&server.shared, chain);
    if let Ok(Some(user)) = certified {
        return Ok(user);
    }
    let given = request.headers().get(actix_header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = given.trim().splitn(3, ' ');
    let is_bearer = parts.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    match parts.next().filter(|token| is_bearer && !token.is_empty()) {
        Some(token) => authentication::by_token(&server.shared, token, &[])
            .map(|authenticated| authenticated.user)
            .map_err(|_| StatusError::unauthorized()),
        None if certified.is_err() => Err(StatusError::unauthorized()),
        None => Ok(User::anonymous()),
    }
}

fn translate(request: &HttpRequest, body: Bytes) -> Result<Request<Bytes>, http::Error> {
    let method = Method::from_bytes(request.method().as_str().as_bytes())?;
    let mut translated = Request::builder().method(method).uri(request.uri().to_string());
    for (name, value) in request.headers() {
        if name != actix_header::AUTHORIZATION {
            translated = translated.header(name.as_str(), value.as_bytes());
        }
    }
    // HTTP/2 has the host in the address.
    if request.headers().get(actix_header::HOST).is_none() {
        translated = translated.header(header::HOST, request.connection_info().host());
    }
    translated.body(body)
}

fn reply(response: Response<Body>, peer: Option<Peer>) -> HttpResponse {
    let (parts, body) = response.into_parts();
    let code = actix_web::http::StatusCode::from_u16(parts.status.as_u16())
        .unwrap_or(actix_web::http::StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = HttpResponse::build(code);
    for (name, value) in &parts.headers {
        reply.append_header((name.as_str(), value.as_bytes()));
    }
    match body {
        Body::Full(bytes) => reply.body(bytes.unwrap_or_default()),
        frames @ Body::Frames(_) => match peer {
            Some(peer) => reply.streaming(frames.take_until(Box::pin(peer.gone()))),
            None => reply.streaming(frames),
        },
    }
}

/// The answer of the real server where too many requests are under way.
fn too_many_requests() -> HttpResponse {
    HttpResponse::TooManyRequests()
        .insert_header((actix_header::RETRY_AFTER, "1"))
        .content_type("text/plain; charset=utf-8")
        .body("Too many requests, please try again later.\n")
}

fn refusal(error: &StatusError) -> HttpResponse {
    let code = actix_web::http::StatusCode::from_u16(error.code)
        .unwrap_or(actix_web::http::StatusCode::INTERNAL_SERVER_ERROR);
    HttpResponse::build(code).content_type("application/json").body(error.body().to_string())
}
