//! `/ui/operators/{operator}/parents/...`: the state of a parent with an explanation.

use std::time::SystemTime;

use actix_web::{
    HttpResponse,
    web::{Data, Path, Query},
};
use askama::Template;

use super::{
    events::Events,
    facts::Fact,
    frame::{self, Frame, NoPage, Section},
    links,
    parts::{Asks, Button, Mark, Prose, counted},
    reconciles::{self, Row},
    sentence::{Approval, ProblemCard},
    short::Shortened,
    time::Moment,
    tree::Branch,
};
use crate::{
    board::{Board, ParentState},
    object::ObjectKey,
    operator::is_paused,
    web::{
        diff::PreviewView,
        explain::{ExplainQuery, Explained},
        parents::{ParentPath, cached_parent},
        related::RelatedView,
        state::WebState,
        why::purpose,
    },
};

#[derive(Template)]
#[template(path = "parent.html")]
struct View {
    frame: Frame,
    key: ObjectKey,
    kind: String,
    operator: String,
    object: Option<String>,
    mark: Mark,
    /// What is wrong, or that all is well.
    what: Shortened,
    problems: Vec<ProblemCard>,
    next: Option<(Moment, &'static str)>,
    since: Option<Moment>,
    facts: Vec<Fact>,
    commands: Vec<Button>,
    children: Vec<Branch>,
    children_omitted: usize,
    map: String,
    related: Vec<RelatedView>,
    /// Whether a preview is shown, and the link to show or hide it.
    is_preview: bool,
    /// The time that the handler has, in seconds.
    deadline: u64,
    changes_nothing: bool,
    other_preview: String,
    preview_error: Option<String>,
    /// The requested Events, and the link to show or hide them.
    events: Option<Events>,
    other_events: String,
    conditions: Vec<Condition>,
    reconciles: Vec<Row>,
    /// How many of them are shown at once.
    recent: usize,
    reconciles_total: String,
}

struct Condition {
    ty: String,
    mark: Mark,
    reason: String,
    message: Prose,
}

/// The reconciles that are shown at once; the others on opening.
const RECENT: usize = 5;

pub(super) async fn show(
    path: Path<ParentPath>,
    query: Query<ExplainQuery>,
    state: Data<WebState>,
) -> Result<HttpResponse, NoPage> {
    let explained = Explained::at(&state.board, &path, &query).await?;
    Ok(frame::answer(&view(&state.board, explained, query.diff.0, SystemTime::now())))
}

fn view(board: &Board, explained: Explained, is_preview: bool, now: SystemTime) -> View {
    let conditions = conditions(&explained.conditions);
    let Explained { operator, key, parent, tree, preview_error, events, related, problems, .. } =
        explained;
    let (name, ty) = (operator.info.name.as_str(), &operator.info.config.parent);
    let object = cached_parent(board, &operator.info, &key, &parent.uid);
    let reconciles = reconciles::rows(&parent.history, now);
    let (history, has_events) = (&parent.history, events.is_some());
    let namespace = key.namespace.as_deref();
    let at = |diff, events| links::parent_with(name, &key, diff, events);
    let approval = parent.approval.as_deref().map(|code| Approval {
        path: format!("{}/allow-deletions", links::parent_api(name, &key)),
        code: code.to_owned(),
    });
    let what = problems.first().map(|first| first.what.clone()).unwrap_or_default().into();
    let cards = problems.into_iter().filter(ProblemCard::is_one);
    View {
        frame: frame(board, name, &key, now).still_if(is_preview).slow_if(has_events),
        kind: ty.kind().to_owned(),
        operator: name.to_owned(),
        object: object.as_ref().map(|_| links::object(ty, &key)),
        mark: parent.phase.into(),
        what,
        problems: cards.map(|it| ProblemCard::new(it, approval.as_ref())).collect(),
        next: parent.next_wake.map(|it| (Moment::ahead(it.at, now), purpose(it.why))),
        since: history.since().map(|at| Moment::past(at, now)),
        facts: facts(&parent),
        commands: commands(name, &key, object.as_ref().is_some_and(|it| is_paused(it, now))),
        children: tree.nodes.iter().map(|it| Branch::below(namespace, it)).collect(),
        children_omitted: tree.omitted,
        map: links::map(name, &key, "", false),
        related,
        changes_nothing: is_preview
            && preview_error.is_none()
            && !tree
                .nodes
                .iter()
                .filter_map(|node| node.preview.as_ref())
                .any(PreviewView::changes_something),
        other_preview: at(!is_preview, has_events),
        is_preview,
        deadline: operator.info.config.handler_deadline.as_secs(),
        preview_error,
        other_events: at(is_preview, !has_events),
        events: events.map(|events| Events::new(events, namespace, now)),
        conditions,
        recent: RECENT.min(reconciles.len()),
        reconciles,
        reconciles_total: counted(
            usize::try_from(history.recorded()).unwrap_or(usize::MAX),
            "reconcile",
            "reconciles",
        ),
        key,
    }
}

fn frame(board: &Board, operator: &str, key: &ObjectKey, now: SystemTime) -> Frame {
    Frame::new(key.to_string(), Section::Operators, now)
        .of(board)
        .below("Overview", "/")
        .below(operator, links::operator(operator))
        .listening_to(operator, Some(key))
}

/// Resuming a parent removes only its annotation, and not a pause of its operator.
fn commands(operator: &str, key: &ObjectKey, is_paused: bool) -> Vec<Button> {
    let api = links::parent_api(operator, key);
    let button = |text, verb| Button::new(text, format!("{api}/{verb}"));
    let what = "No child of it is written until it is resumed.";
    let asks = Asks { what, confirm: None, send: "Pause it" };
    let pause =
        if is_paused { button("Resume", "resume") } else { button("Pause", "pause").asking(asks) };
    vec![button("Reconcile now", "sync"), pause]
}

fn facts(parent: &ParentState) -> Vec<Fact> {
    let mut facts = vec![Fact::code("Uid", &parent.uid)];
    facts.extend(parent.generation.map(|generation| Fact::text("Generation", generation)));
    if parent.failures > 0 {
        facts.push(Fact::text("Failures in a row", parent.failures));
    }
    facts
}

fn conditions(conditions: &serde_json::Value) -> Vec<Condition> {
    let conditions = conditions.as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let condition = |it: serde_json::Value| {
        let ty = text(&it["type"]);
        Condition {
            mark: condition_mark(&ty, &text(&it["status"])),
            reason: text(&it["reason"]),
            message: text(&it["message"]).into(),
            ty,
        }
    };
    conditions.into_iter().map(condition).collect()
}

/// By the rules of kstatus: the first types are bad if true, `Synced` and `Ready` if false.
fn condition_mark(ty: &str, status: &str) -> Mark {
    match (ty, status) {
        ("Stalled" | "Flapping" | "DeletionsHeld", "True") => Mark::bad("true"),
        ("Reconciling", "True") => Mark::busy("true"),
        ("Paused", "True") => Mark::paused("true"),
        (ty, "True") if names_a_problem(ty) => Mark::bad("true"),
        (_, "True") => Mark::good("true"),
        ("Synced" | "Ready", "False") => Mark::bad("false"),
        (ty, "False") if names_a_problem(ty) => Mark::good("false"),
        (_, "False") => Mark::plain("false"),
        _ => Mark::plain("unknown"),
    }
}

/// Whether a condition of this type is bad when it is true. Operators choose their types; these ends are common, such
/// as in `MemoryPressure`, `ReplicaFailure` and `Degraded`.
fn names_a_problem(ty: &str) -> bool {
    const ENDS: [&str; 9] = [
        "Degraded",
        "Error",
        "Expired",
        "Failed",
        "Failure",
        "Pressure",
        "Stalled",
        "Unavailable",
        "Unschedulable",
    ];
    ENDS.iter().any(|end| ty.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_of_a_condition_shows_whether_it_is_good() {
        for (ty, status, expected) in [
            ("Ready", "True", Mark::good("true")),
            ("Ready", "False", Mark::bad("false")),
            ("Stalled", "True", Mark::bad("true")),
            ("MemoryPressure", "True", Mark::bad("true")),
            ("ReplicaFailure", "False", Mark::good("false")),
            ("Reconciling", "True", Mark::busy("true")),
            ("BackupReady", "True", Mark::good("true")),
            ("Issued", "False", Mark::plain("false")),
            ("Degraded", "Unknown", Mark::plain("unknown")),
        ] {
            assert_eq!(condition_mark(ty, status), expected, "{ty} {status}");
        }
    }
}
