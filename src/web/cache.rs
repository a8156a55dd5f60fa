//! `/api/v1/cache`: the contents of the stores.

use std::time::SystemTime;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Json, Path, Query, block},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    accept,
    endpoint::{Form, JSON, Parameter},
    page::{Following, List, ListMeta, PageQuery, PageRequest},
    redact::redacted,
    selection::{Selection, SelectionQuery},
    state::WebState,
    status::Refused,
    views::{CacheView, ObjectView},
};
use crate::{
    board::{Board, TypeSnapshot},
    object::{K8sType, Object, ObjectKey, legible_yaml},
    store::StoreReader,
};

/// The cache of a type, with the names of its objects.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CacheContents")]
pub(super) struct CacheList {
    #[serde(rename = "cache")]
    view: CacheView,
    #[serde(flatten)]
    list: List<ObjectView>,
}

/// A Kubernetes object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct CachedObject(Value);

#[derive(Debug, Deserialize)]
pub(super) struct ObjectPath {
    r#type: String,
    namespace: Option<String>,
    name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct OutputQuery {
    output: Option<String>,
}

pub(super) const YAML: &str = "application/yaml";

pub(super) const OUTPUT: Parameter = Parameter {
    name: "output",
    form: Form::OneOf(&["json", "yaml"]),
    meaning: "the format of the object; by default the `Accept` header decides",
};

pub(super) async fn list_types(state: Data<WebState>) -> Json<List<CacheView>> {
    let now = SystemTime::now();
    let items = state.board.types().iter().map(|ty| CacheView::new(ty, now)).collect();
    Json(List { items, metadata: ListMeta::default() })
}

pub(super) async fn list(
    ty: Path<String>,
    selection: Query<SelectionQuery>,
    page: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<Json<CacheList>, Refused> {
    let cache = find(&state.board, &ty)?;
    let selection = selection.into_inner().check(cache.store.ty())?;
    let name = format!("cache of {} {}", cache.store.ty(), selection.words());
    let wanted = page.check(name)?;
    let store = cache.store.clone();
    // Reading the labels from the JSON of each object must not block other requests.
    let list = block(move || objects(&store, &selection, wanted)).await;
    let list = list.map_err(|_| Refused::Stopping)?;
    Ok(Json(CacheList { view: CacheView::new(&cache, SystemTime::now()), list }))
}

pub(super) async fn show(
    request: HttpRequest,
    path: Path<ObjectPath>,
    query: Query<OutputQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let is_yaml = query.is_yaml(&request)?;
    let object = cached(&state.board, &path)?;
    Ok(if is_yaml {
        HttpResponse::Ok().content_type(YAML).body(yaml(&state.board, &object))
    } else {
        HttpResponse::Ok().json(CachedObject(redacted(&state.board, &object)))
    })
}

pub(super) fn yaml(board: &Board, object: &Object) -> String {
    legible_yaml(&redacted(board, object)).expect("a JSON value can be written")
}

pub(super) fn cached(board: &Board, path: &ObjectPath) -> Result<Object, Refused> {
    let store = find(board, &path.r#type)?.store;
    let key = key_of(store.ty(), path.namespace.as_deref(), &path.name)?;
    let gone = || Refused::NoObject { ty: store.ty().clone(), key: key.clone() };
    store
        .get(&key)
        .ok_or_else(|| store.undecodable_at(&key).map_or_else(gone, Refused::Undecodable))
}

impl OutputQuery {
    /// Whether the query, or else the `Accept` header, asks for YAML.
    fn is_yaml(&self, request: &HttpRequest) -> Result<bool, Refused> {
        match self.output.as_deref() {
            Some("json") => Ok(false),
            Some("yaml") => Ok(true),
            Some(other) => {
                Err(Refused::BadRequest(format!("output: `{other}` is neither json nor yaml")))
            }
            None => Ok(accept::prefers(request.headers(), YAML, JSON)),
        }
    }
}

/// The key of a path. Its namespace must fit the scope of the type.
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

/// A type by `plural`, `plural.group` or `plural.version.group`, as in kubectl.
pub(super) fn find(board: &Board, name: &str) -> Result<TypeSnapshot, Refused> {
    let is_named = |cache: &TypeSnapshot| {
        let ty = cache.store.ty();
        ty.resource_name() == name
            || format!("{}.{}.{}", ty.plural(), ty.version(), ty.group()) == name
    };
    board.types().into_iter().find(is_named).ok_or_else(|| Refused::NoType(name.to_owned()))
}

/// A page of the selected objects. The store is unsorted, so each page scans all of it.
fn objects(store: &StoreReader, selection: &Selection, wanted: PageRequest) -> List<ObjectView> {
    let mut found = store.objects();
    found.retain(|object| {
        wanted.after.as_ref().is_none_or(|after| object.key() > after) && selection.holds(object)
    });
    let count = found.len();
    keep_first(&mut found, wanted.limit);
    let items = found.iter().map(ObjectView::from).collect();
    let last = found.last().map(Object::key);
    let following = match count - found.len() {
        0 => Following::Nothing,
        more => Following::About(more),
    };
    let metadata = wanted.followed_by(last, found.len(), following);
    List { items, metadata }
}

/// Keeps the first objects by key, and sorts only these.
pub(super) fn keep_first(objects: &mut Vec<Object>, limit: usize) {
    let by_key = |a: &Object, b: &Object| a.key().cmp(b.key());
    if objects.len() > limit {
        objects.select_nth_unstable_by(limit, by_key);
        objects.truncate(limit);
    }
    objects.sort_unstable_by(by_key);
}
