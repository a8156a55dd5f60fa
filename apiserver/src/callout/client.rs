//! One POST per call, on a connection of its own. Keeps no connections and follows no redirects.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::{Either, join_all, select};
use http::{Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, runtime::Handle};
use tokio_rustls::TlsConnector;

use super::{Failure, Services, Target, verifier};

/// The largest answer that is read.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// Makes calls, and blocks its thread meanwhile. It exists on threads that may wait only: those of
/// [`tokio::task::spawn_blocking`].
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    runtime: Handle,
    services: Arc<Services>,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Post<'a> {
    pub target: &'a Target,
    pub body: String,
    /// As the client calls itself.
    pub agent: &'static str,
    pub timeout: Duration,
    /// Whether the request names its timeout.
    pub tells_timeout: bool,
}

impl Caller {
    /// Calls are made on this runtime.
    pub(crate) fn new(runtime: Handle, services: Arc<Services>) -> Self {
        Self { runtime, services }
    }

    /// Makes one call.
    pub(crate) fn post(&self, post: Post<'_>) -> Result<Bytes, Failure> {
        self.runtime.block_on(send(post, &self.services))
    }

    /// Makes calls at the same time; the answers are in the order of the calls.
    pub(crate) fn post_all(&self, posts: Vec<Post<'_>>) -> Vec<Result<Bytes, Failure>> {
        let sent = posts.into_iter().map(|post| send(post, &self.services));
        self.runtime.block_on(join_all(sent))
    }
}

async fn send(post: Post<'_>, services: &Services) -> Result<Bytes, Failure> {
    let seconds = post.timeout.as_secs();
    let query = if post.tells_timeout { format!("?timeout={seconds}s") } else { String::new() };
    let (url, timeout) = (post.target.url(&query), post.timeout);
    let unanswered = |why: String| Failure::Unanswered { url: url.clone(), why };
    match tokio::time::timeout(timeout, exchange(post, services, &query)).await {
        Ok(Ok((code, is_text, body))) if code != 200 => Err(Failure::refused(code, is_text, &body)),
        Ok(Ok((_, _, body))) => Ok(body),
        Ok(Err(why)) => Err(unanswered(why)),
        Err(_) => Err(unanswered("context deadline exceeded".to_owned())),
    }
}

async fn exchange(
    post: Post<'_>,
    services: &Services,
    query: &str,
) -> Result<(u16, bool, Bytes), String> {
    let Post { target, body, agent, timeout: _, tells_timeout: _ } = post;
    let address = target.address(services)?;
    let tcp = TcpStream::connect(address)
        .await
        .map_err(|error| Failure::dial(&address.to_string(), &error))?;
    // A body behind its head would wait for the acknowledgement of that. Without it, answers are only later.
    let _ = tcp.set_nodelay(true);
    let name = ServerName::try_from(target.name.clone()).map_err(|error| error.to_string())?;
    let config = verifier::config(&target.bundle).map_err(|error| error.to_string())?;
    let tls = TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
        .map_err(|error| Failure::handshake(target, &error))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tls))
        .await
        .map_err(|error| error.to_string())?;
    let request = Request::post(format!("{}{query}", target.path))
        .header(header::HOST, &target.host)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, agent)
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(|_| "EOF".to_owned())?;
        let (parts, body) = answer.into_parts();
        let media = parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_text = media.is_none_or(|media| media.starts_with("text/"));
        let body = Limited::new(body, ANSWER_LIMIT).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok((parts.status.as_u16(), is_text, body))
    };
    // The connection works while the answer is waited for, and ends with it.
    match select(pin!(answer), pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((_, answer)) => answer.await,
    }
}
