//! The HTTP of webhooks: one path for each, which takes a review and answers one.

use std::time::Duration;

use actix_web::{
    App, Error, HttpRequest, HttpResponse,
    body::MessageBody,
    dev::{ServiceFactory, ServiceRequest, ServiceResponse},
    http::StatusCode,
    mime::APPLICATION_JSON,
    web::{self, Data, Payload, Query},
};
use serde::Deserialize;

use super::{
    calls::Failed,
    reviews::{NoAnswer, Sent, Served, admit, convert},
};
use crate::object::OneLine;

#[derive(Debug, Deserialize)]
struct TimeoutQuery {
    timeout: Option<String>,
}

/// The limit of kube-apiserver for an object is 3 MiB; a review may have two of them.
const MAX_BODY: usize = 8 << 20;
/// That of kube-apiserver for conversions.
const CONVERSION_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn app(
    served: Served,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(Data::new(served))
        .route("/webhooks/{path:.*}", web::post().to(called))
        .default_service(web::to(|request: HttpRequest| async move {
            refused(
                StatusCode::NOT_FOUND,
                &format!("{} is no webhook of this process", request.path()),
            )
        }))
}

async fn called(
    request: HttpRequest,
    query: Query<TimeoutQuery>,
    body: Payload,
    served: Data<Served>,
) -> HttpResponse {
    if !is_json(&request) {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send a review as application/json");
    }
    let body = match body.to_bytes_limited(MAX_BODY).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return refused(StatusCode::BAD_REQUEST, "the body is incomplete"),
        Err(_) => {
            let text = format!("the review is larger than {MAX_BODY} bytes");
            return refused(StatusCode::PAYLOAD_TOO_LARGE, &text);
        }
    };
    let (path, asked) = (request.path(), query.timeout.as_deref().and_then(seconds));
    let trace = request.headers().get("traceparent").and_then(|it| it.to_str().ok());
    let sent = |longest| Sent { body: &body, within: within(asked, longest), trace };
    let answered = if let Some(webhook) = served.registered.admission(path) {
        admit(&served, webhook, sent(webhook.timeout)).await
    } else if let Some(versions) = served.registered.conversion(path) {
        convert(&served, versions, sent(CONVERSION_TIMEOUT)).await
    } else {
        return refused(StatusCode::NOT_FOUND, &format!("{path} is no webhook of this process"));
    };
    match answered {
        Ok(answer) => HttpResponse::Ok().json(answer),
        Err(no_answer) => no_answer.response(path),
    }
}

impl NoAnswer {
    /// A failure is an id, under which the log has the reason: a text of a handler may hold a Secret.
    fn response(self, path: &str) -> HttpResponse {
        let failed = match self {
            Self::Review(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
            Self::OtherType(ty) => {
                let text = format!("{path} is not for {ty}: correct the webhook configuration");
                return refused(StatusCode::BAD_REQUEST, &text);
            }
            Self::Failed(failed) => failed,
        };
        let id = uuid();
        let (code, text) = match &failed {
            Failed::Busy => (StatusCode::SERVICE_UNAVAILABLE, "too many calls are in progress"),
            Failed::TimedOut(_) => {
                (StatusCode::GATEWAY_TIMEOUT, "the handler did not return in time")
            }
            Failed::Error(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the handler failed"),
            Failed::Panicked(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the handler panicked"),
        };
        tracing::warn!(path, %id, "no answer of a webhook: {}", OneLine(format_args!("{failed:?}")));
        refused(code, &format!("{text}: the log of the operator has the reason under {id}"))
    }
}

fn refused(code: StatusCode, text: &str) -> HttpResponse {
    HttpResponse::build(code).content_type("text/plain; charset=utf-8").body(text.to_owned())
}

fn is_json(request: &HttpRequest) -> bool {
    let ty = actix_web::HttpMessage::mime_type(request).ok().flatten();
    ty.is_some_and(|ty| ty.essence_str() == APPLICATION_JSON.essence_str())
}

/// Nine tenths of the time that the API server waits: an answer has to get there.
fn within(asked: Option<Duration>, configured: Duration) -> Duration {
    asked.unwrap_or(configured).min(configured) * 9 / 10
}

/// `10s`, `1500ms`, `1m30s`, as Go writes durations.
fn seconds(text: &str) -> Option<Duration> {
    let number =
        |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(text) = text.strip_suffix("ms") {
        return number(text).map(|millis| Duration::from_secs_f64(millis / 1e3));
    }
    let (minutes, rest) = text.split_once('m').unwrap_or(("0", text));
    let seconds =
        rest.strip_suffix('s').and_then(number).or_else(|| rest.is_empty().then_some(0.0))?;
    Some(Duration::from_secs_f64(number(minutes)?.min(60.0) * 60.0 + seconds.min(3600.0)))
}

/// Identifies an entry of the log.
fn uuid() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:x}-{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests;
