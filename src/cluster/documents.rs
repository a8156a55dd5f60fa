//! Caches what was read of the `OpenAPI` documents, of which there is one per group and version.
//! Concurrent readers share one request, and a document is read again only if it has changed. Sends no
//! requests itself.
//!
//! A document is as large as all types of its group. At the start every operator needs that of its
//! parents and every reflector that of its type, and later they read it again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use http::HeaderValue;

use crate::{
    object::K8sType,
    reply::{ApiError, TypeSchema},
};

pub(super) type Reading = BoxFuture<'static, Result<Arc<Schemas>, ApiError>>;

#[derive(Default)]
pub(super) struct Schemas {
    /// The `ETag` of the document, if the server sends one.
    pub(super) tag: Option<HeaderValue>,
    pub(super) of: BTreeMap<K8sType, Option<Arc<TypeSchema>>>,
}

#[derive(Default)]
struct Document {
    wanted: BTreeSet<K8sType>,
    known: Arc<Schemas>,
    /// The request in progress, if there is one.
    reading: Option<WeakShared<Reading>>,
}

#[derive(Clone, Default)]
pub(super) struct Documents(Arc<Mutex<HashMap<String, Document>>>);

impl Documents {
    pub(super) fn join(
        &self,
        path: &str,
        ty: &K8sType,
        begin: impl FnOnce() -> Reading,
    ) -> Shared<Reading> {
        let mut documents = self.all();
        let document = documents.entry(path.to_owned()).or_default();
        document.wanted.insert(ty.clone());
        let in_progress = document.reading.as_ref().and_then(WeakShared::upgrade);
        in_progress.filter(|reading| reading.peek().is_none()).unwrap_or_else(|| {
            let reading = begin().shared();
            document.reading = reading.downgrade();
            reading
        })
    }

    /// The cached `ETag`, if the cache has the schemas of all wanted types.
    pub(super) fn tag(&self, path: &str) -> Option<HeaderValue> {
        let documents = self.all();
        let Document { wanted, known, .. } = documents.get(path)?;
        known.tag.clone().filter(|_| wanted.iter().all(|ty| known.of.contains_key(ty)))
    }

    pub(super) fn wanted(&self, path: &str) -> BTreeSet<K8sType> {
        self.all().get(path).map(|document| document.wanted.clone()).unwrap_or_default()
    }

    pub(super) fn known(&self, path: &str) -> Arc<Schemas> {
        self.all().get(path).map(|document| document.known.clone()).unwrap_or_default()
    }

    pub(super) fn cache(&self, path: &str, read: Schemas) -> Arc<Schemas> {
        let read = Arc::new(read);
        self.all().entry(path.to_owned()).or_default().known = read.clone();
        read
    }

    /// Caches that the document does not exist, so that none of its types is published.
    pub(super) fn absent(&self, path: &str) -> Arc<Schemas> {
        let of = self.wanted(path).into_iter().map(|ty| (ty, None)).collect();
        self.cache(path, Schemas { tag: None, of })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
