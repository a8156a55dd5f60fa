//! The tools about one parent: its explanation, the tree of its children, what a reconcile would change, and Events. Pure.

use std::time::SystemTime;

use serde_json::Value;

use super::{
    answers::{Head, ago, counted, shortened},
    arguments::Arguments,
};
use crate::{
    history::{Action, Decision, Outcome, Problem, Reconcile},
    web::{
        diff::{DifferenceView, PreviewView},
        explain::Explained,
        kubernetes_events::EventView,
        tree::Node,
    },
};

/// What is shown of a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Explanation,
    Children,
    Diff,
    Events,
}

/// The limit of a value in a difference.
const MAX_VALUE: usize = 150;
const RECONCILES: usize = 5;

pub(super) fn answer(explained: &Explained, part: Part, arguments: &Arguments) -> String {
    let only = Only { kind: arguments.text("kind"), problems: arguments.switch("problems") };
    match part {
        Part::Explanation => explanation(explained),
        Part::Children => children(explained, &only),
        Part::Diff => diff(explained, &only),
        Part::Events => events(explained, &only),
    }
}

/// What of the objects is wanted.
struct Only<'a> {
    kind: Option<&'a str>,
    problems: bool,
}

impl Only<'_> {
    fn is_kind(&self, kind: &str) -> bool {
        self.kind.is_none_or(|only| only.eq_ignore_ascii_case(kind))
    }
}

fn title(explained: &Explained) -> String {
    let Explained { operator, key, parent, .. } = explained;
    let (kind, name) = (operator.info.config.parent.kind(), &operator.info.name);
    format!("{kind} {key} of {name}: {}", parent.phase.name())
}

// === The explanation ===

fn explanation(explained: &Explained) -> String {
    let Explained { parent, conditions, tree, related, problems, .. } = explained;
    let now = SystemTime::now();
    let since = parent.history.since().map(|at| format!(" since {}", ago(at, now)));
    let head = Head::new(&format!("{}{}.", title(explained), since.unwrap_or_default()));
    let mut lines: Vec<String> = problems.iter().flat_map(problem).collect();
    lines.extend(conditions.as_array().into_iter().flatten().map(condition));
    let mut all = Vec::new();
    flatten(&tree.nodes, 0, &mut all);
    let bad = all.iter().filter(|(_, node)| !is_good(node)).count();
    lines.push(format!(
        "Children: {}, {bad} of them not ready. The tool `children` shows them.",
        all.len() + tree.omitted
    ));
    lines.extend(related.iter().filter_map(|it| {
        Some(format!("Related {} {}: {}", it.kind, it.which, it.problem.as_ref()?))
    }));
    lines.push(format!("Reconciles since the process started: {}.", parent.history.recorded()));
    let newest = parent.history.newest_first().take(RECONCILES);
    lines.extend(newest.map(|it| reconcile(it, now)));
    let question = "ask with `children`, `diff` or `events` for the details";
    head.with_lines(lines, 0, question)
}

fn problem(Problem { what, because, actions, .. }: &Problem) -> Vec<String> {
    let because = because.iter().map(|why| format!("Because: {why}"));
    let action = |Action { text, command, in_code }: &Action| {
        let who = if *in_code { "In code" } else { "Do this" };
        let command = command.as_ref().map(|command| format!(": `{command}`")).unwrap_or_default();
        format!("{who}: {text}{command}")
    };
    std::iter::once(format!("{what}.")).chain(because).chain(actions.iter().map(action)).collect()
}

fn condition(condition: &Value) -> String {
    let text = |name: &str| condition[name].as_str().unwrap_or_default();
    let reason = Some(text("reason")).filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("Condition {}={}{reason}: {}", text("type"), text("status"), text("message"))
}

fn reconcile(reconcile: &Reconcile, now: SystemTime) -> String {
    let failure = match &reconcile.outcome {
        Outcome::Failed { reason, message } => format!(" ({}: {message})", reason.name()),
        _ => String::new(),
    };
    let (started, outcome) = (ago(reconcile.started, now), reconcile.outcome.name());
    let mut parts = vec![format!("Reconcile {started}: {outcome}{failure}")];
    let causes: Vec<String> = reconcile.causes.iter().map(ToString::to_string).collect();
    if !causes.is_empty() {
        parts.push(format!("because {}", causes.join(", ")));
    }
    let decided: Vec<String> = reconcile.decisions.iter().map(decision).collect();
    if !decided.is_empty() {
        parts.push(decided.join(", "));
    }
    parts.join("; ")
}

fn decision(Decision { child, what, .. }: &Decision) -> String {
    format!("{} {child}", what.name())
}

// === Children ===

fn children(explained: &Explained, only: &Only<'_>) -> String {
    let mut all = Vec::new();
    flatten(&explained.tree.nodes, 0, &mut all);
    let omitted = explained.tree.omitted;
    let bad = all.iter().filter(|(_, node)| !is_good(node)).count();
    let head = Head::new(&format!("{}.", title(explained))).and(&format!(
        "{}, {bad} of them not ready. What belongs to a child is below it, behind `>`.",
        counted(all.len() + omitted, "child", "children")
    ));
    let is_wanted = |node: &Node| only.is_kind(&node.ty.kind) && (!only.problems || !is_good(node));
    let lines = all
        .iter()
        .filter(|(_, node)| is_wanted(node))
        .map(|(depth, node)| format!("{}{}", ">".repeat(*depth), child(node)));
    head.with_lines(lines, omitted, "ask for a `kind`, or with `problems` for what is not ready")
}

fn flatten<'a>(nodes: &'a [Node], depth: usize, into: &mut Vec<(usize, &'a Node)>) {
    for node in nodes {
        into.push((depth, node));
        flatten(&node.children, depth + 1, into);
    }
}

fn child(node: &Node) -> String {
    let message = Some(node.readiness.message.as_str()).filter(|message| !message.is_empty());
    let message = message.map(|message| format!(", {message}")).unwrap_or_default();
    let mut parts = vec![format!("{}: {}{message}", named(node), node.readiness.state)];
    if node.facts.as_ref().is_some_and(|facts| !facts.owned) {
        parts.push("it has the label of the parent, but is not owned by it".to_owned());
    }
    if let Some(Decision { what, why, .. }) = &node.decision {
        let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        parts.push(format!("last reconcile: {}{why}", what.name()));
    }
    parts.join("; ")
}

fn named(node: &Node) -> String {
    format!("{} {}", node.ty.kind, node.key)
}

/// By the names of `ReadyState`.
fn is_good(node: &Node) -> bool {
    matches!(node.readiness.state, "Ready" | "Exists")
}

// === What a reconcile would change ===

fn diff(explained: &Explained, only: &Only<'_>) -> String {
    let head = Head::new(&format!("{}.", title(explained)));
    if let Some(why) = &explained.preview_error {
        return head.and(&format!("There is no preview: {why}")).alone();
    }
    let changes = explained.tree.nodes.iter().filter(|node| only.is_kind(&node.ty.kind));
    let changes: Vec<(&Node, &PreviewView)> =
        changes.filter_map(|node| Some((node, node.preview.as_ref()?))).collect();
    let count = changes.iter().filter(|(_, preview)| preview.changes_something()).count();
    let head = match count {
        0 => head.and("A reconcile would change no child."),
        count => head.and(&format!(
            "A reconcile would change {}. `-` is live, `+` is desired.",
            counted(count, "child", "children")
        )),
    };
    let lines = changes.iter().flat_map(|(node, preview)| change(node, preview));
    head.with_lines(
        lines,
        explained.tree.omitted,
        "ask for a `kind`; these are lines, not children",
    )
}

fn change(node: &Node, PreviewView { action, why, differences }: &PreviewView) -> Vec<String> {
    let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let first = format!("{action} {}{why}", named(node));
    std::iter::once(first).chain(differences.iter().map(difference)).collect()
}

fn difference(DifferenceView { path, desired, live }: &DifferenceView) -> String {
    let value = |sign: &str, value: &Option<Value>| {
        let value = value.as_ref().map(|value| shortened(&value.to_string(), MAX_VALUE));
        value.map(|value| format!(" {sign} {value}")).unwrap_or_default()
    };
    format!("> {path}{}{}", value("-", live), value("+", desired))
}

// === Events ===

fn events(explained: &Explained, only: &Only<'_>) -> String {
    let head = Head::new(&format!("{}.", title(explained)));
    let Some(events) = &explained.events else { return head.alone() };
    let is_wanted = |event: &&EventView| {
        only.is_kind(&event.object.kind) && (!only.problems || event.r#type == "Warning")
    };
    let found: Vec<&EventView> = events.items.iter().filter(is_wanted).collect();
    let mut head =
        head.and(&format!("{}.", counted(found.len() + events.omitted, "Event", "Events")));
    for error in &events.errors {
        head = head.and(&format!("Events could not be read: {error}"));
    }
    if events.objects_omitted > 0 {
        let objects = counted(events.objects_omitted, "object was", "objects were");
        head = head.and(&format!("{objects} not asked about."));
    }
    let now = SystemTime::now();
    let question = "ask for a `kind`, or with `problems` for warnings alone";
    head.with_lines(found.into_iter().map(|it| event(it, now)), events.omitted, question)
}

fn event(event: &EventView, now: SystemTime) -> String {
    let EventView { last_seen, r#type, reason, object, message, count, .. } = event;
    let when = last_seen.as_ref().map(|time| format!(", {}", ago(time.0, now)));
    let (kind, key, when) = (&object.kind, &object.key, when.unwrap_or_default());
    format!("{type} {reason} of {kind} {key}, {count} times{when}: {message}")
}
