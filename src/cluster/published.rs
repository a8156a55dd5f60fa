//! Reads the published schemas of types, also from servers that publish them late or not at all.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use http::{HeaderValue, StatusCode, header};

use super::{Cluster, api::ApiRequest, schema::Schemas};
use crate::{
    object::{K8sType, OneLine},
    reply::{ApiError, ErrorClass, TypeSchema},
    schedule::Backoff,
};

/// A schema that is not published after this time is treated as absent: the status may then have any field.
pub(crate) const PUBLISHED_WITHIN: Duration = Duration::from_mins(1);
/// How long until a schema that is not published is requested again, at first and when it is treated as absent.
const RETRY: Duration = Duration::from_secs(2);
const RETRY_ABSENT: Duration = Duration::from_mins(1);
/// The same after a failed request.
const BACKOFF: Backoff = Backoff { min: RETRY, max: Duration::from_mins(5) };
/// How many failures in a row are logged.
const FAILURES_BEFORE_WARNING: u32 = 3;
/// Servers publish a changed definition with a delay.
const LAG: Duration = Duration::from_secs(10);

impl Cluster {
    /// The schema of a type, read now or by a concurrent request. `None` where the server does not
    /// publish it (yet).
    pub(crate) async fn schema(&self, ty: &K8sType) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        let root = if ty.group().is_empty() { "api" } else { "apis" };
        let path = format!("/openapi/v3/{root}/{}", ty.api_version());
        let begin = || self.clone().read_document(ty.clone(), path.clone()).boxed();
        let read = self.documents.join(&path, begin).await?;
        read.of(ty).map_err(|error| ApiError::malformed(format!("get {path}"), error))
    }

    /// Shows in a refusal which of its causes are transition rules of the type's schema. None is if the schema
    /// cannot be read now.
    pub(super) async fn with_transition_rules(
        &self,
        ty: &K8sType,
        mut error: ApiError,
    ) -> ApiError {
        let ApiError::Refused { refusal, .. } = &mut error else { return error };
        if ty.is_builtin() || !refusal.is_by_validation() {
            return error;
        }
        if let Ok(Some(schema)) = self.schema(ty).await {
            for cause in &mut refusal.causes {
                cause.is_transition_rule = schema.transitions.is_one(cause);
            }
        }
        error
    }

    async fn read_document(self, ty: K8sType, path: String) -> Result<Arc<Schemas>, ApiError> {
        let mut request = ApiRequest::get("get", &ty, path.clone());
        match self.documents.tag(&path) {
            Some(tag) => request.headers.insert(header::IF_NONE_MATCH, tag),
            // A connection keeps the buffer of its largest answer until it is closed.
            None => request.headers.insert(header::CONNECTION, HeaderValue::from_static("close")),
        };
        let name = request.name();
        let answer = match self.ask(request).await {
            // None of its types is published.
            Err(error) if error.code() == Some(404) => {
                return Ok(self.documents.cache(&path, None, Schemas::default()));
            }
            answer => answer?,
        };
        if answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(self.documents.known(&path));
        }
        let tag = answer.headers().get(header::ETAG).cloned();
        let read = Schemas::read(answer.body(), &ty);
        let read = read.map_err(|error| ApiError::malformed(name, &error))?;
        Ok(self.documents.cache(&path, tag, read))
    }
}

/// Reports the schema of a type as soon as it can be read, and again after the delay with which servers publish a
/// changed definition.
pub(crate) async fn definition(
    cluster: Cluster,
    ty: K8sType,
    report: impl Fn(Arc<TypeSchema>) + Send,
) {
    for wait in [Duration::ZERO, LAG] {
        tokio::time::sleep(wait).await;
        let schema = published(&cluster, &ty).await;
        report(schema);
    }
}

async fn published(cluster: &Cluster, ty: &K8sType) -> Arc<TypeSchema> {
    let (mut unpublished_since, mut failures) = (None, 0);
    loop {
        let retry_in = match cluster.schema(ty).await {
            Ok(Some(schema)) => return schema,
            Ok(None) => {
                let since: &mut Instant = unpublished_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PUBLISHED_WITHIN { RETRY_ABSENT } else { RETRY }
            }
            Err(error) => {
                // A restarted server publishes it late again.
                unpublished_since = None;
                failures += 1;
                retry_after_failure(ty, &error, failures)
            }
        };
        tokio::time::sleep(retry_in).await;
    }
}

/// Logs repeated failures; returns how long to wait.
fn retry_after_failure(ty: &K8sType, error: &ApiError, failures: u32) -> Duration {
    if failures == FAILURES_BEFORE_WARNING {
        tracing::warn!(%ty, error = %OneLine(error),
            "cannot read the schema of the type: fields marked as secret are unknown");
    }
    match error.class() {
        ErrorClass::Wait(asked) => Backoff::capped(asked),
        _ => BACKOFF.delay(failures, 0),
    }
}
