//! Audits commands, logins and attempts at them over HTTP: a log line and a counter for each. Reads
//! are not audited.

use std::{
    borrow::Cow,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{
    dev::ServiceRequest,
    http::{Method, StatusCode},
    web::Data,
};

use super::{origin, paths::Paths, state::WebState, status::Refused};
use crate::metrics::{Attempt, AttemptOutcome, Metrics};

/// The log target of commands and logins over HTTP, and of changes of the log filter:
/// `operetta::audit`. No filter of [`LogLevel`](super::LogLevel) should hide it.
pub const AUDIT: &str = "operetta::audit";

/// Limits the log lines of unauthenticated clients, who could fill the log. All attempts are counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Quota(Arc<Mutex<Minute>>);

#[derive(Debug, Clone, Copy, Default)]
struct Minute {
    began: Option<Instant>,
    lines: u32,
}

const LINES: u32 = 60;

/// An attempt. It is logged when this is dropped, even if the client went away.
#[derive(Debug)]
pub(super) struct Entry {
    metrics: Metrics,
    quota: Quota,
    /// `None` once it is withdrawn.
    attempt: Option<Attempt>,
    method: Method,
    path: String,
    from: Option<IpAddr>,
    user: Option<String>,
    code: Option<StatusCode>,
}

impl Entry {
    /// The entry of a request that changes something.
    pub(super) fn of(request: &ServiceRequest, quota: &Quota, paths: &Paths) -> Option<Self> {
        if origin::only_reads(request.method()) {
            return None;
        }
        let path = request.match_info().as_str().to_owned();
        let endpoint = paths.find(request.method(), &path);
        let attempt = endpoint.map_or(Attempt::Command, |endpoint| endpoint.attempt);
        Some(Self {
            metrics: request.app_data::<Data<WebState>>()?.metrics.clone(),
            quota: quota.clone(),
            attempt: Some(attempt),
            method: request.method().clone(),
            path,
            from: request.peer_addr().map(|peer| peer.ip()),
            user: None,
            code: None,
        })
    }

    /// The entry of a command that came in a request for another path, as if it had come by itself.
    #[cfg(feature = "mcp")]
    pub(super) fn of_command(
        metrics: &Metrics,
        quota: &Quota,
        (method, path): (Method, String),
        from: Option<IpAddr>,
    ) -> Self {
        let (metrics, quota, attempt) = (metrics.clone(), quota.clone(), Some(Attempt::Command));
        Self { metrics, quota, attempt, method, path, from, user: None, code: None }
    }

    /// Neither logs nor counts it: its commands have entries of their own.
    pub(super) fn withdraw(mut self) {
        self.attempt = None;
    }

    pub(super) fn is_by(&mut self, user: &str) {
        self.user = Some(user.to_owned());
    }

    pub(super) fn is_answered(&mut self, code: StatusCode) {
        self.code = Some(code);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Self { metrics, quota, attempt, method, path, from, user, code } = self;
        let Some(attempt) = *attempt else { return };
        let outcome = outcome(*code);
        metrics.web_attempt(attempt, outcome);
        let is_known = user.is_some() || outcome == AttemptOutcome::Done;
        if !is_known && !quota.has_a_line(Instant::now()) {
            return;
        }
        let user = user.as_deref().map(unmistakable).map(tracing::field::display);
        let (code, from) = (code.map(|code| code.as_u16()), from.map(tracing::field::display));
        let (attempt, outcome) = (attempt.name(), outcome.name());
        tracing::info!(target: AUDIT, user, from, %method, path, code, outcome, "{attempt} over HTTP");
    }
}

/// Records that a known user lacks a permission, for those who may see it.
pub(super) fn record_denial(request: &ServiceRequest, refused: &Refused) {
    let Refused::NotAllowed { user, what, .. } = refused else { return };
    if let Some(state) = request.app_data::<Data<WebState>>() {
        state.board.record_denial(user, what);
    }
}

/// A name of a user, in quotes where it could look like another field of the line.
fn unmistakable(user: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@/+-".contains(&byte);
    if user.bytes().all(is_plain) { user.into() } else { format!("{user:?}").into() }
}

fn outcome(code: Option<StatusCode>) -> AttemptOutcome {
    match code {
        None => AttemptOutcome::Abandoned,
        Some(StatusCode::UNAUTHORIZED) => AttemptOutcome::Unauthenticated,
        Some(StatusCode::FORBIDDEN) => AttemptOutcome::Forbidden,
        Some(code) if code.is_server_error() => AttemptOutcome::Failed,
        Some(code) if code.is_client_error() => AttemptOutcome::Refused,
        Some(_) => AttemptOutcome::Done,
    }
}

impl Quota {
    /// Whether one more line may be logged in this minute.
    fn has_a_line(&self, now: Instant) -> bool {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = minute.began.map(|began| now.saturating_duration_since(began));
        if passed.is_none_or(|passed| passed >= Duration::from_mins(1)) {
            *minute = Minute { began: Some(now), lines: 0 };
        }
        minute.lines += 1;
        minute.lines <= LINES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_look_like_another_field_or_line() {
        for (user, shown) in [
            ("system:serviceaccount:ns:ann", "system:serviceaccount:ns:ann"),
            ("ann outcome=done", "\"ann outcome=done\""),
            ("ann\" code=200 x=\"", r#""ann\" code=200 x=\"""#),
            ("ann\n2026 INFO", r#""ann\n2026 INFO""#),
            ("a\u{202e}b", r#""a\u{202e}b""#),
        ] {
            assert_eq!(unmistakable(user), shown);
        }
    }

    #[test]
    fn the_lines_of_unauthenticated_clients_are_limited_per_minute() {
        let (quota, now) = (Quota::default(), Instant::now());
        assert!((0..LINES).all(|_| quota.has_a_line(now)));
        assert!(!quota.has_a_line(now + Duration::from_secs(59)));
        assert!(quota.has_a_line(now + Duration::from_mins(1)));
    }
}
