//! The tool `map`: the objects around a parent, and who set which field of one of them. Pure.

use super::{
    answers::{Head, counted, shortened},
    arguments::Arguments,
};
use crate::web::map::{Map, MapNode, OwnerView, Relation, Role};

/// How much is said of the fields of one manager, in bytes.
const MAX_FIELDS: usize = 300;

pub(super) fn answer(map: &Map, arguments: &Arguments) -> String {
    match &map.owners {
        Some(owners) => owned(owners),
        None => objects(map, arguments),
    }
}

fn objects(map: &Map, arguments: &Arguments) -> String {
    let kind = arguments.text("kind");
    let is_wanted = |node: &MapNode| {
        kind.is_none_or(|kind| kind.eq_ignore_ascii_case(&node.ty.kind))
            && (!arguments.switch("problems") || !is_good(node))
    };
    let around = counted(map.nodes.len().saturating_sub(1), "object", "objects");
    let mut head = Head::new(&format!(
        "{around} around it. What belongs to an object is below it, behind `>`. `fields_of` takes the id in brackets."
    ));
    for error in &map.errors {
        head = head.and(&format!("Not read: {error}"));
    }
    let mut all = Vec::new();
    if let Some(parent) = map.nodes.first() {
        walk(map, parent, 0, None, &mut all);
    }
    let shown = all.into_iter().filter(|(_, _, node)| is_wanted(node));
    let lines = shown.map(|(depth, relation, node)| line(depth, relation, node));
    head.with_lines(
        lines,
        map.omitted,
        "ask for a `kind`, or with `problems` for what is not ready",
    )
}

type Found<'a> = (usize, Option<Relation>, &'a MapNode);

/// What a map relates has no circles: each object is beneath what it exists because of.
fn walk<'a>(
    map: &'a Map,
    node: &'a MapNode,
    depth: usize,
    relation: Option<Relation>,
    into: &mut Vec<Found<'a>>,
) {
    into.push((depth, relation, node));
    for edge in map.edges.iter().filter(|edge| edge.from == node.id) {
        let below = map.nodes.iter().find(|it| it.id == edge.to);
        match (below, edge.relation) {
            // It is shown where it belongs to, and a map of many Pods names it often.
            (Some(below), Relation::Mounts) if below.role == Role::Child => {}
            (Some(below), relation) => walk(map, below, depth + 1, Some(relation), into),
            (None, _) => {}
        }
    }
}

fn line(depth: usize, relation: Option<Relation>, node: &MapNode) -> String {
    let how = match relation {
        Some(Relation::Mounts) => "mounts ",
        Some(Relation::Reads) => "reads ",
        Some(Relation::Owns) | None => "",
    };
    let message = Some(&node.message).filter(|message| !message.is_empty());
    let message = message.map(|message| format!(", {message}")).unwrap_or_default();
    let (kind, key, state, id) = (&node.ty.kind, &node.key, node.state, &node.id);
    let mut parts =
        vec![format!("{}{how}{kind} {key}: {state}{message} [{id}]", ">".repeat(depth))];
    parts.extend(node.decision.as_ref().map(|it| format!("last reconcile: {}", it.what.name())));
    parts.extend(node.changed_by.as_ref().map(|who| format!("changed by {who} since")));
    parts.extend(node.logs.first().map(|command| format!("logs: `{command}`")));
    parts.join("; ")
}

/// By the names of `ReadyState`, and of a parent by those of its phases.
fn is_good(node: &MapNode) -> bool {
    matches!(node.state, "Ready" | "Exists" | "ready" | "Selection")
}

fn owned(owners: &[OwnerView]) -> String {
    let head = Head::new(&format!(
        "{} set fields of it.",
        counted(owners.len(), "field manager has", "field managers have")
    ));
    head.with_lines(owners.iter().map(manager), 0, "read `.metadata.managedFields` of the object")
}

fn manager(owner: &OwnerView) -> String {
    let OwnerView { manager, operation, subresource, time, fields, omitted } = owner;
    let of = if subresource.is_empty() { String::new() } else { format!(" of {subresource}") };
    let at = if time.is_empty() { String::new() } else { format!(" at {time}") };
    let more = if *omitted > 0 { format!(" and {omitted} more") } else { String::new() };
    let fields = shortened(&fields.join(" "), MAX_FIELDS);
    format!("{manager}, {operation}{of}{at}: {fields}{more}")
}
