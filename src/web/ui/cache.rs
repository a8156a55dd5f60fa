//! `/ui/cache` and `/ui/cache/{type}`: the contents of the stores.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query, block},
};
use askama::Template;
use serde::Deserialize;

use super::{
    facts::CacheRow,
    frame::{self, Frame, NoPage, Section},
    links,
    parts::{Mark, count, counted},
};
use crate::{
    object::{Object, ObjectKey},
    store::StoreReader,
    web::{cache, state::WebState, status::Refused},
};

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct ObjectsQuery {
    /// A part of the name.
    #[serde(default)]
    q: String,
    #[serde(default)]
    r#continue: String,
}

#[derive(Template)]
#[template(path = "cache.html")]
struct Types {
    frame: Frame,
    caches: Vec<CacheRow>,
}

#[derive(Template)]
#[template(path = "objects.html")]
struct Objects {
    frame: Frame,
    cache: CacheRow,
    query: ObjectsQuery,
    shown: String,
    rows: Vec<Row>,
    first: Option<String>,
    next: Option<String>,
}

struct Chosen {
    page: Vec<Object>,
    /// On all pages.
    total: usize,
    has_more: bool,
}

struct Row {
    key: String,
    namespace: Option<String>,
    name: String,
    href: String,
    mark: Mark,
    version: String,
    generation: Option<i64>,
}

const ROWS: usize = 100;
/// No event reports changes of objects that no reconcile is about.
const REFRESH: u32 = 5;

pub(super) async fn types(state: Data<WebState>) -> HttpResponse {
    let now = SystemTime::now();
    let caches = state.board.types();
    let caches = caches.iter().map(|cache| CacheRow::new(cache, now)).collect();
    let frame = Frame::new("Cache", Section::Cache, now).of(&state.board);
    let frame = frame.below("Overview", "/").refreshed_every(REFRESH);
    frame::answer(&Types { frame, caches })
}

pub(super) async fn list(
    ty: Path<String>,
    query: Query<ObjectsQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let (cache, query) = (cache::find(&state.board, &ty)?, query.into_inner());
    let (after, q, store) =
        (links::after(&query.r#continue)?, query.q.clone(), cache.store.clone());
    let first = after.as_ref().map(|_| query.at(&store, ""));
    // Scanning all objects must not block other requests.
    let chosen = block(move || Chosen::of(&store, &q, after.as_ref())).await;
    let Chosen { page, total, has_more } = chosen.map_err(|_| Refused::Stopping)?;
    let (now, store) = (SystemTime::now(), &cache.store);
    let last = page.last().filter(|_| has_more);
    let next = last.map(|last| query.at(store, &last.key().to_string()));
    let frame = Frame::new(store.ty().resource_name(), Section::Cache, now).of(&state.board);
    Ok(frame::answer(&Objects {
        frame: frame.below("Overview", "/").below("Cache", "/ui/cache").refreshed_every(REFRESH),
        cache: CacheRow::new(&cache, now),
        shown: shown(page.len(), total),
        rows: page.iter().map(Row::new).collect(),
        first,
        next,
        query,
    }))
}

fn shown(rows: usize, chosen: usize) -> String {
    match rows {
        0 => "No object matches.".to_owned(),
        _ if rows == chosen => counted(rows, "object", "objects"),
        _ => format!("{rows} of {} objects", count(chosen)),
    }
}

impl Chosen {
    fn of(store: &StoreReader, q: &str, after: Option<&ObjectKey>) -> Self {
        let needle = q.to_lowercase();
        let is_named = |key: &ObjectKey| key.to_string().to_lowercase().contains(&needle);
        let mut page = store.objects();
        page.retain(|object| needle.is_empty() || is_named(object.key()));
        let total = page.len();
        page.retain(|object| after.is_none_or(|after| object.key() > after));
        let has_more = page.len() > ROWS;
        cache::keep_first(&mut page, ROWS);
        Self { page, total, has_more }
    }
}

impl ObjectsQuery {
    fn at(&self, store: &StoreReader, after: &str) -> String {
        let query = links::query(&[("q", &self.q), ("continue", after)]);
        format!("{}{query}", links::cache(store.ty()))
    }
}

impl Row {
    fn new(object: &Object) -> Self {
        let key = object.key();
        let mark =
            if object.is_deleting() { Mark::warn("terminating") } else { Mark::good("exists") };
        Self {
            key: key.to_string(),
            namespace: key.namespace.as_deref().map(ToOwned::to_owned),
            name: key.name.to_string(),
            href: links::object(object.ty(), key),
            mark,
            version: object.resource_version().to_string(),
            generation: object.generation(),
        }
    }
}
