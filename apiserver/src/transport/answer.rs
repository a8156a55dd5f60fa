//! One request of a connection: who sends it, its body, and its answer.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use rustls::pki_types::CertificateDer;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::client;
use crate::{
    authentication,
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

/// How many bytes of frames are sent together: what fits into a record of TLS.
const JOINED: usize = 15 * 1024;

/// The certificates that a client came with, its own first.
pub(super) type Chain = Arc<[CertificateDer<'static>]>;

/// Answers requests.
pub(super) struct Answering {
    server: Server,
    /// How many bytes of bodies are in memory.
    bodies: AtomicUsize,
}

/// An answer on its way to a client.
pub(super) struct Sent {
    body: Body,
    has_ended: bool,
    /// Ends what would not end by itself.
    gone: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _request: client::Request,
}

/// A body that is in memory, or a part of it.
struct Received<'s> {
    bytes: BytesMut,
    length: usize,
    total: &'s AtomicUsize,
}

impl Answering {
    pub(super) fn new(server: Server) -> Self {
        Self { server, bodies: AtomicUsize::new(0) }
    }

    /// Answers a request. A watch ends with the client, which may still wait for any other answer.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        chain: Chain,
        client: client::Request,
    ) -> Result<Response<Sent>, Infallible> {
        Ok(self.respond(request, &chain).await.map(|body| {
            let is_endless = matches!(body, Body::Frames(_));
            let gone = is_endless.then(|| Box::pin(client.gone().clone().cancelled_owned()));
            Sent { body, has_ended: false, gone, _request: client }
        }))
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
        chain: &[CertificateDer<'static>],
    ) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let user = match self.authenticate(&parts, chain) {
            Ok(user) => user,
            Err(error) => return rest::refusal(&error),
        };
        // The bodies of strangers are not read for nothing.
        if user.is_anonymous()
            && let Err(error) = rest::permit(
                &self.server.shared,
                &user,
                &parts.method,
                parts.uri.path(),
                parts.uri.query().unwrap_or_default(),
            )
        {
            return rest::refusal(&error);
        }
        let mut received = Received::new(&self.bodies);
        // After an upgrade another protocol follows, without an end of the request body.
        if !parts.headers.contains_key(header::UPGRADE) && parts.method != Method::CONNECT {
            match tokio::time::timeout(BODY_PATIENCE, received.read(body)).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return too_many_requests(),
                Ok(Err(error)) => {
                    return rest::refusal(&StatusError::bad_request(error.to_string()));
                }
                Err(_) => return rest::refusal(&StatusError::body_too_slow()),
            }
        }
        complete(&mut parts);
        parts.extensions.insert(user);
        self.server.handle(Request::from_parts(parts, received.take())).await
    }

    /// Who sends a request. A certificate counts before a token; a header without a token of the known kind means
    /// nothing.
    fn authenticate(
        &self,
        request: &Parts,
        chain: &[CertificateDer<'static>],
    ) -> Result<User, StatusError> {
        let server = &self.server.shared;
        let certified = authentication::by_certificate(server, chain);
        if let Ok(Some(user)) = certified {
            return Ok(user);
        }
        let given = request.headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut parts = given.trim().splitn(3, ' ');
        let is_bearer = parts.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
        match parts.next().filter(|token| is_bearer && !token.is_empty()) {
            Some(token) => authentication::by_token(server, token, &[])
                .map(|authenticated| authenticated.user)
                .map_err(|_| StatusError::unauthorized()),
            None if certified.is_err() => Err(StatusError::unauthorized()),
            None => Ok(User::anonymous()),
        }
    }
}

impl<'s> Received<'s> {
    fn new(total: &'s AtomicUsize) -> Self {
        Self { bytes: BytesMut::new(), length: 0, total }
    }

    /// Reads a body, or as much of it as is needed to see that it is too large; returns whether there was
    /// room for it.
    async fn read(&mut self, mut body: Incoming) -> Result<bool, hyper::Error> {
        while let Some(frame) = body.frame().await {
            let Ok(chunk) = frame?.into_data() else { continue };
            let room = READ_LIMIT.saturating_sub(self.length);
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

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.has_ended
            || self.gone.as_mut().is_some_and(|gone| gone.as_mut().poll(cx).is_ready())
        {
            return Poll::Ready(None);
        }
        let next = ready!(self.body.poll_next_unpin(cx));
        Poll::Ready(next.map(|Ok(first)| Ok(Frame::data(self.joined(first, cx)))))
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Sent {
    /// The frames of a watch that are there already, which are sent together.
    fn joined(&mut self, first: Bytes, cx: &mut Context<'_>) -> Bytes {
        if !matches!(self.body, Body::Frames(_)) || first.len() >= JOINED {
            return first;
        }
        let Poll::Ready(Some(Ok(second))) = self.next_frame(cx) else { return first };
        let mut joined = BytesMut::with_capacity(JOINED + JOINED / 2);
        joined.extend_from_slice(&first);
        joined.extend_from_slice(&second);
        while joined.len() < JOINED
            && let Poll::Ready(Some(Ok(frame))) = self.next_frame(cx)
        {
            joined.extend_from_slice(&frame);
        }
        joined.freeze()
    }

    fn next_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let next = self.body.poll_next_unpin(cx);
        self.has_ended = matches!(next, Poll::Ready(None));
        next
    }
}

/// Takes the secret away; and HTTP/2 has the host in the address.
fn complete(request: &mut Parts) {
    request.headers.remove(header::AUTHORIZATION);
    let authority = request.uri.authority().map(|host| HeaderValue::from_str(host.as_str()));
    if let Some(Ok(host)) = authority {
        request.headers.entry(header::HOST).or_insert(host);
    }
}

/// The answer of the real server where too many requests are in progress.
fn too_many_requests() -> Response<Body> {
    let text = "Too many requests, please try again later.\n";
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
