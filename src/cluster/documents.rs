//! Caches the `OpenAPI` documents, one per group and version. Concurrent readers share one request, and a
//! document is read again only if it has changed. Sends no requests itself.
//!
//! A document has all types of its group, which may be megabytes. At the start every operator needs the document of
//! its parents, and every reflector the document of its type. The cache keeps all types of a document, for
//! operators that are registered later.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use http::HeaderValue;

use super::schema::Schemas;
use crate::reply::ApiError;

pub(super) type Reading = BoxFuture<'static, Result<Arc<Schemas>, ApiError>>;

#[derive(Default)]
struct Document {
    /// The `ETag` of what is known, if the server sends one.
    tag: Option<HeaderValue>,
    known: Arc<Schemas>,
    /// The request in progress, if there is one.
    reading: Option<WeakShared<Reading>>,
}

#[derive(Clone, Default)]
pub(super) struct Documents(Arc<Mutex<HashMap<String, Document>>>);

impl Documents {
    pub(super) fn join(&self, path: &str, begin: impl FnOnce() -> Reading) -> Shared<Reading> {
        let mut documents = self.all();
        let document = documents.entry(path.to_owned()).or_default();
        let in_progress = document.reading.as_ref().and_then(WeakShared::upgrade);
        in_progress.filter(|reading| reading.peek().is_none()).unwrap_or_else(|| {
            let reading = begin().shared();
            document.reading = reading.downgrade();
            reading
        })
    }

    pub(super) fn tag(&self, path: &str) -> Option<HeaderValue> {
        self.all().get(path)?.tag.clone()
    }

    pub(super) fn known(&self, path: &str) -> Arc<Schemas> {
        self.all().get(path).map(|document| document.known.clone()).unwrap_or_default()
    }

    pub(super) fn cache(
        &self,
        path: &str,
        tag: Option<HeaderValue>,
        read: Schemas,
    ) -> Arc<Schemas> {
        let known = Arc::new(read);
        let mut documents = self.all();
        let document = documents.entry(path.to_owned()).or_default();
        (document.tag, document.known) = (tag, known.clone());
        known
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
