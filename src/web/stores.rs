//! The caches of the board as [`Stores`], for the program's own routes and for webhooks.
//!
//! Nothing is redacted, including Secrets.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, ResponseError, dev::Payload, web::Data};

use super::{state::WebState, status::Refused};
use crate::{
    board::Board,
    object::{Object, ObjectKey, TypeRef},
    operator::{ReadStores, Stores, StoresError},
    store::StoreReader,
};

/// The caches of a board.
struct Cached {
    board: Board,
    /// Whether a type that is not listed yet is an error.
    is_strict: bool,
}

/// The caches behind this board. A type that is not listed yet is empty.
pub(crate) fn stores_of(board: &Board) -> Stores {
    Stores::reading(Cached { board: board.clone(), is_strict: false })
}

/// The same for decisions: a type that is not listed yet is an error.
pub(super) fn listed_stores_of(board: &Board) -> Stores {
    Stores::reading(Cached { board: board.clone(), is_strict: true })
}

impl Cached {
    fn store(&self, ty: TypeRef<'_>) -> Result<StoreReader, StoresError> {
        let TypeRef { api_version, kind } = ty;
        let names = || (api_version.to_owned(), kind.to_owned());
        let store = self.board.store(api_version, kind).ok_or_else(|| {
            let (api_version, kind) = names();
            StoresError::NotWatched { api_version, kind }
        })?;
        if self.is_strict && !store.is_synced() {
            let (api_version, kind) = names();
            return Err(StoresError::NotListed { api_version, kind });
        }
        Ok(store)
    }
}

impl ReadStores for Cached {
    fn get(&self, ty: TypeRef<'_>, key: &ObjectKey) -> Result<Option<Object>, StoresError> {
        Ok(self.store(ty)?.get(key))
    }

    fn list(&self, ty: TypeRef<'_>) -> Result<Vec<Object>, StoresError> {
        Ok(self.store(ty)?.list())
    }
}

impl FromRequest for Stores {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let state = request.app_data::<Data<WebState>>();
        let stores = state.map(|state| stores_of(&state.board));
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
