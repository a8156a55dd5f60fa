//! The tool that shows the activity.

use std::time::SystemTime;

use actix_web::web::block;

use super::{
    answers::{Head, ago, counted},
    arguments::Arguments,
    client::Client,
    requests::ApiRequest,
};
use crate::{
    board::Line,
    web::{
        activity::{self, ActivityQuery},
        status::Refused,
    },
};

/// More lines never fit.
const LINES: usize = 50;

pub(super) async fn activity(client: &Client, arguments: &Arguments) -> Result<String, Refused> {
    let (operator, namespace) = (arguments.operator()?, arguments.namespace(client)?);
    client.may(&ApiRequest::activity(operator, namespace)).await?;
    let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let query = ActivityQuery {
        operator: owned(operator),
        namespace: owned(namespace),
        kind: owned(arguments.text("kind")),
        q: owned(arguments.text("text")),
        since: owned(arguments.text("since")),
    };
    let now = SystemTime::now();
    let (filter, board) = (query.check(now)?, client.state.board.clone());
    // Folding everything must not block other requests.
    let page = block(move || board.activity(&filter, None, LINES)).await;
    let page = page.map_err(|_| Refused::Stopping)?;
    let head = Head::new(&format!("{}, newest first.", counted(page.total, "entry", "entries")));
    let dropped = page.dropped.iter().map(|one| format!("{}.", activity::dropped(*one)));
    let lines = page.lines.iter().map(|it| line(it, now)).chain(dropped);
    let question = "ask for an `operator`, a `namespace`, a `kind`, a `text`, or with `since`";
    Ok(head.with_lines(lines, page.remaining, question))
}

fn line(line: &Line, now: SystemTime) -> String {
    let (when, what) = (ago(line.last, now), activity::sentence(line));
    let times = if line.times > 1 { format!(" ({} times)", line.times) } else { String::new() };
    match line.operators.kept.first() {
        Some(operator) => format!("{when}, {operator}: {what}{times}."),
        None => format!("{when}: {what}{times}."),
    }
}
