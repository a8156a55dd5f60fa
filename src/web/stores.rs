//! Read access to the caches of the operators, for the program's own routes.
//!
//! Nothing is redacted, including Secrets.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, ResponseError, dev::Payload, web::Data};
use kube::Resource;
use serde::de::DeserializeOwned;

use super::{state::WebState, status::Refused};
use crate::{
    board::Board,
    object::{KeyRef, Object, ObjectKey, ParseAsError, TypeRef},
    store::StoreReader,
};

/// The caches of the operators of this process: the parent and child types that they watch. Cheap to
/// clone, and an extractor of actix-web.
///
/// A read returns copies of the current cache. It is empty before the first list of a type.
///
/// ```
/// use actix_web::{Responder, web};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::web::{Stores, StoresError};
///
/// async fn texts(stores: Stores) -> Result<impl Responder, StoresError> {
///     let texts = stores.list::<ConfigMap>()?.into_iter().filter_map(|map| map.data);
///     Ok(web::Json(texts.collect::<Vec<_>>()))
/// }
/// ```
///
/// Secrets are not redacted: a route that shows them has to do that itself.
#[derive(Debug, Clone)]
pub struct Stores(Board);

/// A read of the stores failed.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// No operator of this process watches the type.
    #[error("no operator watches {kind}.{api_version}")]
    NotWatched {
        /// `v1` or `group/version`.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// A cached object does not fit the Rust type.
    #[error(transparent)]
    Unreadable(#[from] ParseAsError),
}

impl Stores {
    /// The caches behind this board, see [`Running::board`](crate::supervisor::Running::board).
    pub fn new(board: &Board) -> Self {
        Self(board.clone())
    }

    /// One object: by `("namespace", "name")`, or by its name if it is cluster-scoped.
    ///
    /// # Errors
    /// When no operator watches the type, or the object does not fit it.
    pub fn get<'k, K>(&self, key: impl Into<KeyRef<'k>>) -> Result<Option<K>, StoresError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let object = self.get_object((&*K::api_version(&()), &*K::kind(&())), key)?;
        Ok(object.as_ref().map(Object::parse_as).transpose()?)
    }

    /// All objects of a type, by key.
    ///
    /// # Errors
    /// When no operator watches the type, or an object does not fit it.
    pub fn list<K>(&self) -> Result<Vec<K>, StoresError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.list_objects((&*K::api_version(&()), &*K::kind(&())))?
            .iter()
            .map(|object| Ok(object.parse_as()?))
            .collect()
    }

    /// One object of a type given by its names, such as `("v1", "Pod")`.
    ///
    /// # Errors
    /// When no operator watches the type.
    pub fn get_object<'k, 't>(
        &self,
        ty: impl Into<TypeRef<'t>>,
        key: impl Into<KeyRef<'k>>,
    ) -> Result<Option<Object>, StoresError> {
        let KeyRef { namespace, name } = key.into();
        Ok(self.store(ty.into())?.get(&ObjectKey::new(namespace, name)))
    }

    /// All objects of a type given by its names, by key.
    ///
    /// # Errors
    /// When no operator watches the type.
    pub fn list_objects<'t>(&self, ty: impl Into<TypeRef<'t>>) -> Result<Vec<Object>, StoresError> {
        Ok(self.store(ty.into())?.list())
    }

    fn store(
        &self,
        TypeRef { api_version, kind }: TypeRef<'_>,
    ) -> Result<StoreReader, StoresError> {
        self.0.store(api_version, kind).ok_or_else(|| StoresError::NotWatched {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

impl FromRequest for Stores {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let state = request.app_data::<Data<WebState>>();
        let stores = state.map(|state| Self::new(&state.board));
        ready(
            stores.ok_or_else(|| Refused::Internal("the stores are not mounted".to_owned()).into()),
        )
    }
}

impl ResponseError for StoresError {
    fn status_code(&self) -> actix_web::http::StatusCode {
        actix_web::http::StatusCode::INTERNAL_SERVER_ERROR
    }

    fn error_response(&self) -> HttpResponse {
        Refused::Internal(self.to_string()).error_response()
    }
}
