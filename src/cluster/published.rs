//! Reading the schemas of types, while the server publishes them late, not at all, or refuses.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use http::{HeaderValue, StatusCode, header};

use super::{Cluster, api::ApiRequest, documents::Schemas, schema::schemas};
use crate::{
    object::{K8sType, SecretFields},
    reply::{ApiError, ErrorClass, TypeSchema},
    schedule::Backoff,
};

/// A schema that is not published after this time will not be: nothing can be read off it then.
pub const PUBLISHED_WITHIN: Duration = Duration::from_mins(1);
/// How long until a schema that is not there is asked for again.
const RETRY: Duration = Duration::from_secs(2);
/// The same of one that is refused.
const BACKOFF: Backoff = Backoff { min: RETRY, max: Duration::from_mins(5) };
const FAILURES_THAT_LAST: u32 = 3;
/// What is published follows what is served after a moment.
const LAG: Duration = Duration::from_secs(10);

impl Cluster {
    /// What the schema of a type says: as it is now, or was while another who asked waits. `None`
    /// where the server does not publish it (yet).
    pub async fn schema(&self, ty: &K8sType) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        let root = if ty.group().is_empty() { "api" } else { "apis" };
        let path = format!("/openapi/v3/{root}/{}", ty.api_version());
        loop {
            let begin = || self.clone().read_document(ty.clone(), path.clone()).boxed();
            let read = self.documents().join(&path, ty, begin).await?;
            // A document that was read just before the type was wanted does not say.
            if let Some(schema) = read.of.get(ty) {
                return Ok(schema.clone());
            }
        }
    }

    async fn read_document(self, ty: K8sType, path: String) -> Result<Arc<Schemas>, ApiError> {
        let mut request = ApiRequest::get("get", &ty, path.clone());
        let tag = self.documents().tag(&path);
        request.headers.extend(tag.map(|tag| (header::IF_NONE_MATCH, tag)));
        // A connection keeps the buffer of its largest answer for as long as it lasts.
        request.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        let name = request.name();
        let answer = match self.ask(request).await {
            Err(error) if error.code() == Some(404) => return Ok(self.documents().absent(&path)),
            answer => answer?,
        };
        if answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(self.documents().known(&path));
        }
        let tag = answer.headers().get(header::ETAG).cloned();
        let of = schemas(answer.body(), self.documents().wanted(&path));
        let of = of.map_err(|error| ApiError::malformed(name, &error))?;
        Ok(self.documents().learn(&path, Schemas { tag, of }))
    }
}

/// Tells which fields of a type are secret, as soon as that can be read, and once more when it must
/// have changed if its definition has.
pub async fn secret_fields(cluster: Cluster, ty: K8sType, tell: impl Fn(SecretFields) + Send) {
    for wait in [Duration::ZERO, LAG] {
        tokio::time::sleep(wait).await;
        let secrets = published(&cluster, &ty).await;
        tell(secrets);
    }
}

async fn published(cluster: &Cluster, ty: &K8sType) -> SecretFields {
    let (mut unpublished_since, mut failures) = (None, 0);
    loop {
        let retry_in = match cluster.schema(ty).await {
            Ok(Some(schema)) => return schema.secrets.clone(),
            Ok(None) => {
                let since: &mut Instant = unpublished_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PUBLISHED_WITHIN {
                    return SecretFields::default();
                }
                RETRY
            }
            Err(error) => {
                // A server that was not there may publish it late again.
                unpublished_since = None;
                failures += 1;
                refused(ty, &error, failures)
            }
        };
        tokio::time::sleep(retry_in).await;
    }
}

/// Says so once it lasts; returns how long to wait.
fn refused(ty: &K8sType, error: &ApiError, failures: u32) -> Duration {
    if failures == FAILURES_THAT_LAST {
        tracing::warn!(%ty, %error, "the schema cannot be read, nor what it marks as secret");
    }
    match error.class() {
        ErrorClass::Wait(asked) => Backoff::capped(asked),
        _ => BACKOFF.delay(failures, 0),
    }
}
