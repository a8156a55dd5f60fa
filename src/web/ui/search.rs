//! `/ui/search`: the parents of all operators that contain a text, worst first.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Query},
};
use askama::Template;
use serde::{Deserialize, Serialize};

use super::{
    frame::{self, Frame, NoPage, Section},
    glance::Glance,
    links,
    parent_row::ParentRow,
    parts::{Link, count, counted},
};
use crate::web::{
    members::{Item, Members, Share},
    search::{self, FoundParent, ORDER, SearchQuery},
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

/// What a process gives of a parent that was found.
#[derive(Debug, Serialize, Deserialize)]
struct FoundGlance {
    kind: String,
    parent: Glance,
}

pub(super) async fn show(
    query: Query<SearchQuery>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, NoPage> {
    let query = query.into_inner();
    let own = search::find(&state.board, query.clone()).await?.map(FoundGlance::from);
    if let Some(answer) = members.asks(&own) {
        return Ok(answer);
    }
    let (answers, now) = (members.shares().await, SystemTime::now());
    let frame = Frame::new("Search", Section::Operators, now).of(&state.board);
    let frame = frame.below("Overview", "/").searching(&query.operator, &query.namespace);
    let frame = frame.merged_from(&answers);
    let found = own.with(answers.into_shares(), ORDER);
    let shown = shown(&found);
    let rows = found.items.into_iter().map(|it| FoundRow::new(it, now)).collect();
    Ok(frame::answer(&View { frame, query, shown, rows }))
}

fn shown(found: &Share<FoundGlance>) -> String {
    match (found.items.len(), found.remaining()) {
        (0, _) => "No parent matches.".to_owned(),
        (rows, 0) => counted(rows, "parent", "parents"),
        (rows, more) => format!("The worst {rows} of {} parents", count(rows + more)),
    }
}

impl From<FoundParent> for FoundGlance {
    fn from(FoundParent { kind, state }: FoundParent) -> Self {
        Self { kind, parent: Glance::from(&state) }
    }
}

impl FoundRow {
    fn new(Item { spot, value }: Item<FoundGlance>, now: SystemTime) -> Self {
        let FoundGlance { kind, parent } = value;
        let mut parent = ParentRow::new(&spot.operator, &spot.key, parent, now);
        // Two operators may have parents of one name.
        parent.key = format!("{} {}", spot.operator, spot.key);
        let href = links::operator(&spot.operator);
        Self { parent, operator: Link { text: spot.operator, href }, kind }
    }
}
