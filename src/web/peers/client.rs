//! Sends one request to another process of the group.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use secrecy::{ExposeSecret, SecretString};

use super::same_certificate::client_config;
use crate::{object::OneLine, web::tls::Certificates};

/// Says that a request was sent on, so that it is not sent on again.
pub(in crate::web) const SENT_ON: &str = "operetta-sent-on";

/// What another process is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Wanted {
    /// What it would answer to a user.
    Answer,
    /// What it has of a list, to be merged with what others have.
    Share,
}

/// What is sent.
#[derive(Clone)]
pub(in crate::web) struct Asked {
    pub(in crate::web) wanted: Wanted,
    pub(in crate::web) method: Method,
    pub(in crate::web) path_and_query: String,
    pub(in crate::web) accept: Option<HeaderValue>,
    pub(in crate::web) content_type: Option<HeaderValue>,
    pub(in crate::web) token: Option<SecretString>,
    pub(in crate::web) body: Bytes,
}

/// What is answered.
pub(in crate::web) struct PeerAnswer {
    pub(in crate::web) status: StatusCode,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) location: Option<HeaderValue>,
    pub(in crate::web) body: Bytes,
}

/// Why a request could not be sent on.
#[derive(Debug, thiserror::Error)]
pub(in crate::web) enum PeerError {
    #[error("the process is stopping")]
    Stopping,
    #[error("which process works for the parent is not known: {0}")]
    Unread(String),
    #[error(
        "the process {0} works for the parent, and does not say where it answers: ask it, or start it with `--sharded-url`"
    )]
    NoUrl(String),
    #[error("the other process says that it answers at {0:?}, which is no URL")]
    Url(String),
    #[error(
        "the other process answers at {0}: a token, and a request of a process with a certificate, is sent over TLS only, \
         so ask it directly"
    )]
    ClearText(String),
    #[error(
        "the other process did not answer at {url}: {why}. All replicas have to serve the same certificate, and reach \
         each other"
    )]
    Unanswered { url: String, why: String },
}

impl Wanted {
    /// The value of the header.
    pub(in crate::web) fn name(self) -> &'static str {
        match self {
            Self::Answer => "1",
            Self::Share => "share",
        }
    }

    /// How long an answer may take: a preview calls the handler, and a list does not wait for the slowest process.
    fn patience(self) -> Duration {
        match self {
            Self::Answer => Duration::from_secs(30),
            Self::Share => Duration::from_secs(2),
        }
    }

    /// The largest answer in bytes.
    fn max_answer(self) -> usize {
        match self {
            Self::Answer => 32 << 20,
            Self::Share => 16 << 20,
        }
    }
}

/// Sends the request, and reads the whole answer.
pub(in crate::web) async fn ask(
    url: &str,
    asked: Asked,
    certificates: Option<Certificates>,
) -> Result<PeerAnswer, PeerError> {
    let base = url.trim_end_matches('/');
    let uri: Uri = format!("{base}{}", asked.path_and_query)
        .parse()
        .map_err(|_| PeerError::Url(url.to_owned()))?;
    // Whoever answers in clear text may be anybody who may write Leases.
    let is_guarded = asked.token.is_some() || certificates.is_some();
    if is_guarded && uri.scheme_str() != Some("https") {
        return Err(PeerError::ClearText(url.to_owned()));
    }
    let unanswered =
        |why: String| PeerError::Unanswered { url: url.to_owned(), why: OneLine(why).to_string() };
    let patience = asked.wanted.patience();
    match tokio::time::timeout(patience, exchange(uri, asked, certificates)).await {
        Ok(answer) => answer.map_err(|error| unanswered(format!("{error:#}"))),
        Err(_) => Err(unanswered(format!("no answer within {} s", patience.as_secs()))),
    }
}

async fn exchange(
    uri: Uri,
    asked: Asked,
    certificates: Option<Certificates>,
) -> anyhow::Result<PeerAnswer> {
    let max_answer = asked.wanted.max_answer();
    let tls = client_config(certificates.as_ref())?;
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let client = Client::builder(TokioExecutor::new()).build(connector.enable_http1().build());
    let response = client.request(request(uri, asked)?).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, max_answer).collect().await;
    let body = body.map_err(anyhow::Error::from_boxed)?.to_bytes();
    let (content_type, location) =
        (head.headers.get(header::CONTENT_TYPE), head.headers.get(header::LOCATION));
    Ok(PeerAnswer {
        status: head.status,
        content_type: content_type.cloned(),
        location: location.cloned(),
        body,
    })
}

fn request(uri: Uri, asked: Asked) -> anyhow::Result<Request<Full<Bytes>>> {
    let request = Request::builder().method(asked.method).uri(uri);
    let mut request = request.header(SENT_ON, asked.wanted.name());
    for (name, value) in
        [(header::ACCEPT, asked.accept), (header::CONTENT_TYPE, asked.content_type)]
    {
        request = value.into_iter().fold(request, |request, value| request.header(&name, value));
    }
    if let Some(token) = asked.token {
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))?;
        value.set_sensitive(true);
        request = request.header(header::AUTHORIZATION, value);
    }
    Ok(request.body(Full::new(asked.body))?)
}
