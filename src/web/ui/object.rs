//! `/ui/cache/{type}/.../{name}`: one object as YAML, redacted as in the API.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use askama::Template;

use super::{
    facts::Fact,
    frame::{self, Frame, NoPage, Section},
    links,
    parts::{Mark, size},
};
use crate::{
    board::Board,
    object::{Object, ObjectKey},
    web::{
        cache::{ObjectPath, cached, yaml},
        owners,
        state::WebState,
    },
};

#[derive(Template)]
#[template(path = "object.html")]
struct View {
    frame: Frame,
    key: ObjectKey,
    kind: String,
    mark: Option<Mark>,
    facts: Vec<Fact>,
    /// The links of the parents that own it, with their names.
    owners: Vec<(String, String)>,
    /// The links of this object as a parent, with the names of the operators.
    parents: Vec<(String, String)>,
    yaml: String,
}

/// No event reports changes of objects that no reconcile is about.
const REFRESH: u32 = 5;

pub(super) async fn show(
    path: Path<ObjectPath>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let object = cached(&state.board, &path)?;
    let (ty, now) = (object.ty(), SystemTime::now());
    let frame = Frame::new(object.key().to_string(), Section::Cache, now).of(&state.board);
    let frame = frame.below("Overview", "/").below("Cache", "/ui/cache");
    Ok(frame::answer(&View {
        frame: frame.below(ty.resource_name(), links::cache(ty)).refreshed_every(REFRESH),
        key: object.key().clone(),
        kind: ty.kind().to_owned(),
        mark: object.is_deleting().then(|| Mark::warn("terminating")),
        facts: facts(&object),
        owners: owners(&state.board, &object),
        parents: parents(&state.board, &object),
        yaml: yaml(&state.board, &object),
    }))
}

fn facts(object: &Object) -> Vec<Fact> {
    let mut facts = vec![
        Fact::code("Version", object.resource_version()),
        Fact::code("Uid", object.uid()),
        Fact::code("API version", object.ty().api_version()),
        Fact::text("Size in the cache", size(object.bytes())),
    ];
    facts.extend(object.generation().map(|generation| Fact::text("Generation", generation)));
    facts
}

/// The parents among its owners.
fn owners(board: &Board, object: &Object) -> Vec<(String, String)> {
    let owners = owners::owners(board, object).unwrap_or_default();
    let links = |owner: &Object| {
        let named = format!("{} {}", owner.ty().kind(), owner.key());
        parents(board, owner).into_iter().map(move |(_, href)| (named.clone(), href))
    };
    owners.iter().flat_map(links).collect()
}

/// The operators of which this object is a parent.
fn parents(board: &Board, object: &Object) -> Vec<(String, String)> {
    let operators = board.operators().into_iter().map(|operator| operator.info);
    let operators = operators.filter(|info| info.config.parent == *object.ty());
    let known = operators.filter(|info| board.parent(info.name.as_str(), object.key()).is_some());
    known
        .map(|info| (info.name.to_string(), links::parent(info.name.as_str(), object.key())))
        .collect()
}
