//! Sends one request and reads its answer.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use tokio::sync::Semaphore;

use super::{
    boot_clock::election_now, closing::closed, documents::Documents, retry_after::retry_after,
    unsent::described,
};
use crate::{
    election::Fence,
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object},
    reply::{ApiError, Refusal},
};

/// The timeouts of requests and watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// How long any request but a watch may take. Default 30 seconds.
    pub request: Duration,
    /// How long a watch may stay silent before it is reopened. Before that a list request checks that
    /// the server is reachable and that its versions have not regressed. Default 45 seconds: with a request
    /// timeout of 30 seconds, a server that is frozen is noticed after 75.
    pub silence: Duration,
    /// How long a watch lasts (`timeoutSeconds`), so that a lost connection is noticed. Default 290
    /// seconds.
    pub watch: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            silence: Duration::from_secs(45),
            watch: Duration::from_secs(290),
        }
    }
}

/// How requests, watches and lists are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterSettings {
    pub(crate) timeouts: Timeouts,
    /// How long no object of a type is deleted after its versions regressed on the server.
    pub(crate) deletions_held: Duration,
    /// Whether lists are streamed (`sendInitialEvents`, KEP-3157) instead of read in pages of 500
    /// objects.
    pub(crate) streaming_lists: bool,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        let (timeouts, deletions_held) = (Timeouts::default(), Duration::from_mins(1));
        Self { timeouts, deletions_held, streaming_lists: false }
    }
}

/// Why no answer to a write is awaited any longer.
const ENDED: &str = "this process is no longer the leader, and does not wait for the answer";

/// The default limit of an answer in bytes, large enough for a page of a list.
const MAX_ANSWER: usize = 256 << 20;

/// A connection to the API server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cluster {
    client: Client,
    metrics: Metrics,
    pub(super) managers: KeptManagers,
    user_agent: String,
    settings: ClusterSettings,
    pub(super) documents: Documents,
    /// Closed while another process leads; `None` without an election.
    fence: Option<Fence>,
    /// For writes behind the fence, if it is another client.
    writer: Option<Client>,
    /// For watches, if it is another client.
    watcher: Option<Client>,
    /// The turn of a list that is in no hurry.
    pub(super) turns: Arc<Semaphore>,
}

pub(super) struct ApiRequest<'a> {
    pub(super) method: Method,
    /// The verb of RBAC: `get`, `list`, `watch`, `patch`...
    pub(super) verb: &'static str,
    /// The resource type, for metrics.
    pub(super) ty: &'a K8sType,
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    pub(super) headers: HeaderMap,
    /// The largest answer that is read, in bytes.
    pub(super) max_answer: usize,
}

impl<'a> ApiRequest<'a> {
    pub(super) fn get(verb: &'static str, ty: &'a K8sType, path: String) -> Self {
        let (query, body, headers) = <_>::default();
        let (method, content_type, max_answer) = (Method::GET, "application/json", MAX_ANSWER);
        Self { method, verb, ty, path, query, content_type, body, headers, max_answer }
    }

    pub(super) fn with_query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// Verb and path, to name the request in errors.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.verb, self.path)
    }

    fn uri(&self) -> String {
        let mut encoder = form_urlencoded::Serializer::new(String::new());
        encoder.extend_pairs(self.query.iter().map(|(name, value)| (*name, value.as_str())));
        match encoder.finish() {
            query if query.is_empty() => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }
}

impl Cluster {
    /// A connection that keeps the given managers' `managedFields` of every object it reads.
    pub(crate) fn new(client: Client, metrics: Metrics, managers: KeptManagers) -> Self {
        let user_agent = concat!("operetta/", env!("CARGO_PKG_VERSION")).to_owned();
        let (settings, documents, fence, writer, watcher) = <_>::default();
        let turns = Arc::new(Semaphore::new(1));
        Self {
            client,
            metrics,
            managers,
            user_agent,
            settings,
            documents,
            fence,
            writer,
            watcher,
            turns,
        }
    }

    /// The same connection, whose watches are sent by another client. A connection keeps the buffer of its largest
    /// answer, and a watch keeps its connection: it should not be that of a list.
    #[must_use]
    pub(crate) fn with_watcher(self, watcher: Option<Client>) -> Self {
        Self { watcher, ..self }
    }

    /// The same connection with other settings.
    #[must_use]
    pub(crate) fn with_settings(self, settings: ClusterSettings) -> Self {
        Self { settings, ..self }
    }

    /// The same connection with the program's name in the `User-Agent`, which audit logs show.
    #[must_use]
    pub(crate) fn of_program(self, name: &str, version: &str) -> Self {
        let user_agent = format!("{}/{} {}", token(name), token(version), self.user_agent);
        Self { user_agent, ..self }
    }

    pub(crate) fn settings(&self) -> ClusterSettings {
        self.settings
    }

    /// The same connection with the operator's name in the `User-Agent`, which audit logs show.
    #[must_use]
    pub(crate) fn in_the_name_of(&self, operator: &str) -> Self {
        let user_agent = format!("{} ({operator})", self.user_agent);
        Self { user_agent, ..self.clone() }
    }

    /// The same connection for what only a test asks, so that it does not count as a request of the operators.
    #[cfg(feature = "testkit")]
    #[must_use]
    pub(crate) fn of_testkit(&self) -> Self {
        let user_agent = concat!("operetta-testkit/", env!("CARGO_PKG_VERSION")).to_owned();
        Self { user_agent, ..self.clone() }
    }

    /// The same connection, which sends no write while the fence is closed. Writes are sent by `writer`, if there
    /// is one.
    #[must_use]
    pub(crate) fn behind(self, fence: Fence, writer: Option<Client>) -> Self {
        Self { fence: Some(fence), writer, ..self }
    }

    /// The fence of its writes.
    pub(super) fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(super) fn parse(
        &self,
        request: &str,
        ty: &K8sType,
        text: &[u8],
    ) -> Result<Object, ApiError> {
        let malformed = |why: String| ApiError::Malformed { request: request.to_owned(), why };
        let text = std::str::from_utf8(text).map_err(|error| malformed(error.to_string()))?;
        Object::parse(ty, text, &self.managers).map_err(|error| malformed(error.to_string()))
    }

    pub(super) async fn send(&self, request: ApiRequest<'_>) -> Result<Bytes, ApiError> {
        Ok(self.ask(request).await?.into_body())
    }

    pub(super) async fn ask(&self, request: ApiRequest<'_>) -> Result<Response<Bytes>, ApiError> {
        let (name, after) = (request.name(), self.settings.timeouts.request);
        let max_answer = request.max_answer;
        let fence = self.fence_before(&request).cloned();
        // Whoever gives the Lease back knows of it.
        let _writing = fence.as_ref().map(Fence::writing);
        let exchange = async {
            let (head, body) = self.open(request).await?.into_parts();
            Ok(Response::from_parts(head, read_body(&name, body, max_answer).await?))
        };
        tokio::select! {
            biased;
            answer = tokio::time::timeout(after, exchange) => match answer {
                Ok(answer) => answer,
                Err(_) => Err(ApiError::TimedOut { request: name, after }),
            },
            () = until_closed(fence) => Err(unreachable(&name, ENDED)),
        }
    }

    /// The fence that the request must not pass while it is closed, if it writes. A dry run writes nothing.
    fn fence_before(&self, request: &ApiRequest<'_>) -> Option<&Fence> {
        let is_dry_run = request.query.iter().any(|(name, _)| *name == "dryRun");
        self.fence.as_ref().filter(|_| request.method != Method::GET && !is_dry_run)
    }

    /// Sends a request and returns when its answer begins. The body of a refusal is read whole.
    pub(super) async fn open(&self, request: ApiRequest<'_>) -> Result<Response<Body>, ApiError> {
        let (name, verb, ty) = (request.name(), request.verb, request.ty);
        let (metrics, code, started) = (&self.metrics, None, Instant::now());
        let mut attempt = Attempt { metrics, verb, ty, code, started };
        let result = self.exchange(&name, request).await;
        attempt.code = match &result {
            Ok(response) => Some(response.status().as_u16()),
            Err(error) => error.code(),
        };
        result
    }

    async fn exchange(
        &self,
        name: &str,
        request: ApiRequest<'_>,
    ) -> Result<Response<Body>, ApiError> {
        let verb = request.verb;
        let mut http = Request::builder()
            .method(request.method.clone())
            .uri(request.uri())
            .header(header::USER_AGENT, &self.user_agent)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, request.content_type)
            .body(Body::from(request.body))
            .map_err(|error| unreachable(name, error))?;
        http.headers_mut().extend(request.headers);
        let client = self.client_for(name, verb, &http)?;
        let response =
            client.send(http).await.map_err(|error| unreachable(name, described(error)))?;
        if response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        Err(refused(name, response).await?)
    }
}

impl Cluster {
    /// The client for a request; none for a write while the fence is closed. A dry run writes nothing.
    fn client_for(
        &self,
        name: &str,
        verb: &str,
        request: &Request<Body>,
    ) -> Result<&Client, ApiError> {
        let is_dry_run = request.uri().query().is_some_and(|query| query.contains("dryRun=All"));
        match &self.fence {
            Some(fence) if request.method() != Method::GET && !is_dry_run => {
                let may_write = fence.is_open(election_now().boot);
                let client = may_write.then(|| self.writer.as_ref().unwrap_or(&self.client));
                client.ok_or_else(|| ApiError::NotLeading { request: name.to_owned() })
            }
            _ if verb == "watch" => Ok(self.watcher.as_ref().unwrap_or(&self.client)),
            _ => Ok(&self.client),
        }
    }
}

/// Replaces what a `User-Agent` must not contain (RFC 9110, section 5.6.2).
fn token(text: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
    text.chars().map(|c| if is_allowed(c) { c } else { '-' }).collect()
}

/// Counts a request when it ends, also when it is cancelled.
struct Attempt<'a> {
    metrics: &'a Metrics,
    verb: &'static str,
    ty: &'a K8sType,
    /// The status code, if an answer has begun.
    code: Option<u16>,
    started: Instant,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.metrics.api_request(self.verb, self.ty, self.code, self.started.elapsed());
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster({})", self.user_agent)
    }
}

pub(super) fn unreachable(
    request: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ApiError {
    ApiError::Unreachable { request: request.to_owned(), source: error.into().into() }
}

async fn until_closed(fence: Option<Fence>) {
    match fence {
        Some(fence) => closed(fence).await,
        None => std::future::pending().await,
    }
}

async fn refused(name: &str, response: Response<Body>) -> Result<ApiError, ApiError> {
    let code = response.status().as_u16();
    let retry_after = retry_after(response.headers(), SystemTime::now());
    let body = read_body(name, response.into_body(), MAX_ANSWER).await?;
    let refusal = Box::new(Refusal::read(code, retry_after, &body));
    Ok(ApiError::Refused { request: name.to_owned(), refusal })
}

async fn read_body(name: &str, body: Body, max_answer: usize) -> Result<Bytes, ApiError> {
    let limited = http_body_util::Limited::new(body, max_answer);
    let collected = limited.collect().await.map_err(|error| unreachable(name, error))?;
    Ok(collected.to_bytes())
}
