//! `/ui/search`: the parents of all operators that contain a text, worst first.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Query},
};
use askama::Template;

use super::{
    frame::{self, Frame, NoPage, Section},
    links,
    parent_row::ParentRow,
    parts::{Link, count, counted},
};
use crate::web::{
    search::{self, Found, FoundParent, SearchQuery},
    state::WebState,
};

#[derive(Template)]
#[template(path = "search.html")]
struct View {
    frame: Frame,
    query: SearchQuery,
    shown: String,
    rows: Vec<FoundRow>,
}

struct FoundRow {
    parent: ParentRow,
    operator: Link,
    kind: String,
}

pub(super) async fn show(
    query: Query<SearchQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let query = query.into_inner();
    let (found, now) = (search::find(&state.board, query.clone()).await?, SystemTime::now());
    let frame = Frame::new("Search", Section::Operators, now).of(&state.board);
    let frame = frame.below("Overview", "/").searching(&query.operator, &query.namespace);
    let shown = shown(&found);
    let rows = found.parents.into_iter().map(|it| FoundRow::new(it, now)).collect();
    Ok(frame::answer(&View { frame, query, shown, rows }))
}

fn shown(Found { parents, remaining }: &Found) -> String {
    match (parents.len(), remaining) {
        (0, _) => "No parent matches.".to_owned(),
        (rows, 0) => counted(rows, "parent", "parents"),
        (rows, more) => format!("The worst {rows} of {} parents", count(rows + more)),
    }
}

impl FoundRow {
    fn new(FoundParent { operator, kind, key, state }: FoundParent, now: SystemTime) -> Self {
        let mut parent = ParentRow::new(&operator, &key, &state, now);
        // Two operators may have parents of one name.
        parent.key = format!("{operator} {key}");
        let href = links::operator(&operator);
        Self { parent, operator: Link { text: operator, href }, kind }
    }
}
