//! What is known of the documents that describe types, one for each group and version, so that each is
//! read once for all who ask for it meanwhile, and only if it has changed. Reads none itself.
//!
//! One is as large as all the types of its group. At the start every operator wants that of its
//! parents and every reflector that of its type, and later they look again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
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

/// What a document says of the types that were asked for.
#[derive(Default)]
pub(super) struct Schemas {
    /// Its version, if the server names it.
    pub(super) tag: Option<HeaderValue>,
    pub(super) of: BTreeMap<K8sType, Option<Arc<TypeSchema>>>,
}

/// What is known of one document.
#[derive(Default)]
struct Document {
    wanted: BTreeSet<K8sType>,
    known: Arc<Schemas>,
    /// The request that is under way, if there is one.
    reading: Option<WeakShared<Reading>>,
}

/// The documents, by path.
#[derive(Clone, Default)]
pub(super) struct Documents(Arc<Mutex<HashMap<String, Document>>>);

impl Documents {
    /// The reading that is under way, or a new one.
    pub(super) fn join(
        &self,
        path: &str,
        ty: &K8sType,
        begin: impl FnOnce() -> Reading,
    ) -> Shared<Reading> {
        let mut documents = self.all();
        let document = documents.entry(path.to_owned()).or_default();
        document.wanted.insert(ty.clone());
        let under_way = document.reading.as_ref().and_then(WeakShared::upgrade);
        under_way.filter(|reading| reading.peek().is_none()).unwrap_or_else(|| {
            let reading = begin().shared();
            document.reading = reading.downgrade();
            reading
        })
    }

    /// The version that is known, if all that is wanted is known of it.
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

    pub(super) fn learn(&self, path: &str, read: Schemas) -> Arc<Schemas> {
        let read = Arc::new(read);
        self.all().entry(path.to_owned()).or_default().known = read.clone();
        read
    }

    /// There is no such document: no type of it is published.
    pub(super) fn absent(&self, path: &str) -> Arc<Schemas> {
        let of = self.wanted(path).into_iter().map(|ty| (ty, None)).collect();
        self.learn(path, Schemas { tag: None, of })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all().keys()).finish()
    }
}
