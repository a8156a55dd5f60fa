//! The documents that describe types, one for each group and version, each read once for all who
//! ask for it meanwhile, and only if it has changed.
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
use http::{HeaderValue, StatusCode, header};

use super::{
    ApiError, Cluster,
    api::ApiRequest,
    schema::{TypeSchema, schemas},
};
use crate::object::K8sType;

type Reading = BoxFuture<'static, Result<Arc<Schemas>, ApiError>>;

/// What a document says of the types that were asked for.
#[derive(Default)]
struct Schemas {
    /// Its version, if the server names it.
    tag: Option<HeaderValue>,
    of: BTreeMap<K8sType, Option<Arc<TypeSchema>>>,
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

impl Documents {
    /// The reading that is under way, or a new one.
    fn join(&self, path: &str, ty: &K8sType, begin: impl FnOnce() -> Reading) -> Shared<Reading> {
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
    fn tag(&self, path: &str) -> Option<HeaderValue> {
        let documents = self.all();
        let Document { wanted, known, .. } = documents.get(path)?;
        known.tag.clone().filter(|_| wanted.iter().all(|ty| known.of.contains_key(ty)))
    }

    fn wanted(&self, path: &str) -> BTreeSet<K8sType> {
        self.all().get(path).map(|document| document.wanted.clone()).unwrap_or_default()
    }

    fn known(&self, path: &str) -> Arc<Schemas> {
        self.all().get(path).map(|document| document.known.clone()).unwrap_or_default()
    }

    fn learn(&self, path: &str, read: Schemas) -> Arc<Schemas> {
        let read = Arc::new(read);
        self.all().entry(path.to_owned()).or_default().known = read.clone();
        read
    }

    /// There is no such document: no type of it is published.
    fn absent(&self, path: &str) -> Arc<Schemas> {
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
