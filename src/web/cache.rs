//! `/api/v1/cache`: what the stores hold.

use actix_web::web::{Data, Json, Path, Query};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    WebState,
    page::{List, ListMeta, PageQuery, PageRequest},
    redact::redacted,
    status::Refused,
    views::{CacheView, ObjectView},
};
use crate::{
    board::{Board, TypeSnapshot},
    object::{K8sType, ObjectKey},
    store::StoreReader,
};

/// The cache of a type, with the names of its objects.
#[derive(Debug, Serialize)]
pub(super) struct CacheList {
    #[serde(rename = "cache")]
    view: CacheView,
    #[serde(flatten)]
    list: List<ObjectView>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ObjectPath {
    r#type: String,
    namespace: Option<String>,
    name: String,
}

pub(super) async fn list_types(state: Data<WebState>) -> Json<List<CacheView>> {
    let items = state.board.types().iter().map(CacheView::from).collect();
    Json(List { items, metadata: ListMeta::default() })
}

pub(super) async fn list(
    ty: Path<String>,
    query: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<Json<CacheList>, Refused> {
    let cache = find(&state.board, &ty)?;
    let list = objects(&cache.store, &query.check()?);
    Ok(Json(CacheList { view: (&cache).into(), list }))
}

pub(super) async fn show(
    path: Path<ObjectPath>,
    state: Data<WebState>,
) -> Result<Json<Value>, Refused> {
    let ObjectPath { r#type, namespace, name } = path.into_inner();
    let store = find(&state.board, &r#type)?.store;
    let key = key_of(store.ty(), namespace.as_deref(), &name)?;
    match store.get(&key) {
        Some(object) => Ok(Json(redacted(&object))),
        None => Err(left_out(&store, &key)
            .unwrap_or_else(|| Refused::NoObject { ty: store.ty().clone(), key })),
    }
}

/// Why there is no such object, if that is because it cannot be read.
pub(super) fn left_out(store: &StoreReader, key: &ObjectKey) -> Option<Refused> {
    store.undecodable(key).map(Refused::LeftOut)
}

/// The key that a path names; a namespace where the type has none is refused, and the reverse.
pub(super) fn key_of(
    ty: &K8sType,
    namespace: Option<&str>,
    name: &str,
) -> Result<ObjectKey, Refused> {
    match (ty.is_namespaced(), namespace) {
        (true, Some(namespace)) => Ok(ObjectKey::namespaced(namespace, name)),
        (false, None) => Ok(ObjectKey::cluster(name)),
        (true, None) => Err(Refused::NamespaceMissing(ty.clone())),
        (false, Some(_)) => Err(Refused::NamespaceForbidden(ty.clone())),
    }
}

/// A type by `plural`, `plural.group` or, as kubectl knows it too, `plural.version.group`.
fn find(board: &Board, name: &str) -> Result<TypeSnapshot, Refused> {
    let is_named = |cache: &TypeSnapshot| {
        let ty = cache.store.ty();
        ty.resource_name() == name
            || format!("{}.{}.{}", ty.plural(), ty.version(), ty.group()) == name
    };
    board.types().into_iter().find(is_named).ok_or_else(|| Refused::NoType(name.to_owned()))
}

fn objects(store: &StoreReader, wanted: &PageRequest) -> List<ObjectView> {
    let keys = store.keys();
    let start = wanted.after.as_ref().map_or(0, |after| keys.partition_point(|key| key <= after));
    let following = &keys[start..];
    let page = &following[..wanted.limit.min(following.len())];
    // What went since the keys were read is left out.
    let items = page.iter().filter_map(|key| store.get(key)).map(|o| ObjectView::from(&o));
    let metadata = ListMeta::new(page.last(), following.len() - page.len());
    List { items: items.collect(), metadata }
}
