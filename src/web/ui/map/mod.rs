//! `/ui/operators/{operator}/map/...`: the map of a parent as a drawing that works without script, as a list on narrow
//! screens, and the chosen object beside it.
//!
//! ```text
//! web::map --> fold --> layout --> figure --> map.html
//!         +--> panel (reads the chosen object) ---^
//! ```
//!
//! Invariants:
//! - Each box is a link that chooses its object, so that the keyboard reaches all of them.
//! - However many objects there are, few boxes are drawn: the objects of one type fold.

mod figure;
mod fold;
mod layout;
mod panel;

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;
use serde::Deserialize;

use self::{
    figure::{Figure, Shape},
    panel::{Choice, Panel},
};
use super::{
    frame::{self, Frame, NoPage, Section},
    links,
    parts::Mark,
};
use crate::{
    object::ObjectKey,
    web::{
        endpoint::Parameter, explain::DIFF, map::Mapped, parents::ParentPath, state::WebState,
        switch::Switch,
    },
};

#[derive(Template)]
#[template(path = "map.html")]
struct View {
    frame: Frame,
    key: ObjectKey,
    kind: String,
    operator: String,
    mark: Mark,
    /// The page of the parent.
    parent: String,
    figure: Figure,
    chosen: String,
    panel: Option<Panel>,
    omitted: usize,
    errors: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MapQuery {
    #[serde(default)]
    at: String,
    #[serde(default)]
    diff: Switch,
}

pub(super) const PARAMETERS: &[Parameter] =
    &[Parameter::text("at", "the id of the object that is shown beside the map"), DIFF];

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<MapQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let (board, now) = (&state.board, SystemTime::now());
    let mapped = Mapped::at(board, &path).await?;
    let MapQuery { at, diff: Switch(is_preview) } = query.into_inner();
    let choice = Choice { board, mapped: &mapped, id: &at, is_preview, now };
    let panel = if at.is_empty() { None } else { choice.panel().await };
    let (name, key) = (mapped.operator.info.name.as_str(), mapped.key.clone());
    let mark = Mark::from(mapped.parent.phase);
    let frame = Frame::new(format!("Map of {key}"), Section::Operators, now)
        .of(board)
        .below("Overview", "/")
        .below(name, links::operator(name))
        .below(key.to_string(), links::parent(name, &key))
        .listening_to(name, Some(&key))
        .still_if(is_preview)
        .slow_if(true);
    Ok(frame::answer(&View {
        frame,
        kind: mapped.operator.info.config.parent.kind().to_owned(),
        operator: name.to_owned(),
        mark,
        parent: links::parent(name, &key),
        figure: Figure::of(&mapped.map, mark, key.namespace.as_deref()),
        chosen: at,
        panel,
        omitted: mapped.map.omitted,
        errors: mapped.map.errors,
        key,
    }))
}

impl View {
    fn href(&self, shape: &Shape) -> String {
        links::map(&self.operator, &self.key, &shape.id, false)
    }

    fn is_chosen(&self, shape: &Shape) -> bool {
        shape.id == self.chosen
    }
}
