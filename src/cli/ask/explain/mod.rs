//! What `explain` prints: pure, from an answer of the HTTP API.

use std::fmt::Write;

use crate::{
    cli::table::{Table, message},
    object::OneLine,
};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::{
    age::{ago, ahead},
    answers::{Action, Child, Events, Parent, Preview, Problem, Reconcile, Related},
    status::{key, paused},
};

/// A parent with all that is known about it.
pub(super) fn explain(operator: &str, parent: &Parent, now: Timestamp, is_wide: bool) -> String {
    let sections = [
        head(operator, parent, now),
        conditions(&parent.conditions, now, is_wide),
        children(parent, is_wide),
        changes(parent),
        related(&parent.related, is_wide),
        history(&parent.history, now, is_wide),
        parent.events.as_ref().map(|it| events(it, now, is_wide)).unwrap_or_default(),
    ];
    let sections: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    sections.join("\n")
}

/// What else ends the wait.
fn or_when(why: &str) -> &'static str {
    match why {
        "Throttled" => "",
        "Slowed" | "Unsettled" => ", or when the parent changes",
        _ => ", or when something changes",
    }
}

fn head(operator: &str, parent: &Parent, now: Timestamp) -> String {
    let failures = match parent.failures {
        0 => String::new(),
        1 => " (1 failure)".to_owned(),
        count => format!(" ({count} failures in a row)"),
    };
    let next = parent.next_wake.as_ref().map_or_else(
        || "when something changes".to_owned(),
        |next| format!("in {} ({}){}", ahead(&next.at, now), next.why, or_when(&next.why)),
    );
    let pause = parent.pause.as_ref().map(|pause| ("Pause", paused(pause, now)));
    let mut text = String::new();
    let before = [
        ("Name", key(parent)),
        ("Operator", operator.to_owned()),
        ("Phase", format!("{}{failures}", parent.phase)),
    ];
    let after = [("Reconciles", parent.reconciles.to_string()), ("Next", next)];
    // A text in memory takes everything.
    let line = |text: &mut String, (name, value): (&str, String)| {
        let _ = writeln!(text, "{:12}{}", format!("{name}:"), OneLine(value));
    };
    for fact in before.into_iter().chain(pause) {
        line(&mut text, fact);
    }
    text += &problems(parent);
    for fact in after {
        line(&mut text, fact);
    }
    text
}

/// What, why, and what to do, for each problem.
fn problems(parent: &Parent) -> String {
    let all = [&parent.why].into_iter().chain(&parent.other_problems);
    all.map(problem).collect()
}

fn problem(Problem { what, because, actions }: &Problem) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // A text in memory takes everything.
        let _ = writeln!(text, "{name:12}{}", OneLine(value));
    };
    line("What:", what);
    for (at, why) in because.iter().enumerate() {
        line(if at == 0 { "Why:" } else { "" }, why);
    }
    for Action { text, command, in_code } in actions {
        line(if *in_code { "In code:" } else { "Do this:" }, text);
        if let Some(command) = command {
            line("", &format!("$ {command}"));
        }
    }
    text
}

fn conditions(conditions: &[Value], now: Timestamp, is_wide: bool) -> String {
    let mut table = Table::new(&["CONDITION", "STATUS", "REASON", "AGE", "MESSAGE"]);
    let text = |condition: &Value, name: &str| {
        condition[name].as_str().map(str::to_owned).unwrap_or_default()
    };
    for condition in conditions {
        table.row([
            text(condition, "type"),
            text(condition, "status"),
            text(condition, "reason"),
            ago(&text(condition, "lastTransitionTime"), now),
            message(&text(condition, "message"), is_wide),
        ]);
    }
    if conditions.is_empty() { String::new() } else { table.print() }
}

fn children(parent: &Parent, is_wide: bool) -> String {
    let mut table = Table::new(&["CHILD", "READINESS", "LAST DECISION", "MESSAGE"]);
    for child in &parent.children {
        add(&mut table, child, 0, is_wide);
    }
    if parent.children.is_empty() {
        return "It has no children.\n".to_owned();
    }
    let omitted = match parent.children_omitted {
        0 => String::new(),
        count => format!("{count} more are not shown.\n"),
    };
    table.print() + &omitted
}

fn add(table: &mut Table, child: &Child, depth: usize, is_wide: bool) {
    let decision = child.decision.as_ref();
    let why = decision.and_then(|it| it.why.as_deref()).filter(|why| !why.is_empty());
    table.row([
        format!("{}{}", "  ".repeat(depth), name(child)),
        child.readiness.state.clone(),
        decision.map(|it| it.what.clone()).unwrap_or_default(),
        message(why.unwrap_or(&child.readiness.message), is_wide),
    ]);
    for below in &child.children {
        add(table, below, depth + 1, is_wide);
    }
}

fn name(Child { kind, namespace, name, .. }: &Child) -> String {
    match namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

/// What a reconcile would change, if that was asked for.
fn changes(parent: &Parent) -> String {
    let mut text = String::new();
    if let Some(error) = &parent.preview_error {
        let _ = writeln!(text, "There is no preview: {}", OneLine(error));
    }
    for child in &parent.children {
        if let Some(preview) = &child.preview {
            text += &change(&name(child), preview);
        }
    }
    text
}

fn change(child: &str, Preview { action, why, differences }: &Preview) -> String {
    let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let mut text = format!("{}\n", OneLine(format_args!("{action} {child}{why}")));
    for difference in differences {
        for (sign, value) in [("-", &difference.live), ("+", &difference.desired)] {
            if let Some(value) = value {
                let of_field = format_args!("{}: {value}", difference.path);
                let _ = writeln!(text, "  {sign} {}", OneLine(of_field));
            }
        }
    }
    text
}

fn related(related: &[Related], is_wide: bool) -> String {
    let mut table = Table::new(&["RELATED", "WHICH", "FOUND", "MESSAGE"]);
    for Related { kind, which, found, problem } in related {
        table.row([
            kind.clone(),
            which.clone(),
            found.map(|found| found.to_string()).unwrap_or_default(),
            message(problem.as_deref().unwrap_or_default(), is_wide),
        ]);
    }
    if related.is_empty() { String::new() } else { table.print() }
}

fn history(history: &[Reconcile], now: Timestamp, is_wide: bool) -> String {
    let mut table = Table::new(&["RECONCILE", "AGE", "TOOK", "OUTCOME", "CAUSES", "DECISIONS"]);
    for reconcile in history {
        let Reconcile {
            number,
            started,
            duration_milliseconds,
            causes,
            outcome,
            decisions,
            omitted,
        } = reconcile;
        let reason = outcome.reason.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        let causes: Vec<&str> = causes.iter().map(|cause| cause.message.as_str()).collect();
        let mut decided: Vec<String> =
            decisions.iter().map(|it| format!("{} {}", it.what, it.child)).collect();
        if *omitted > 0 {
            decided.push(format!("{omitted} more"));
        }
        table.row([
            number.to_string(),
            ago(started, now),
            format!("{duration_milliseconds:.1}ms"),
            format!("{}{reason}", outcome.result),
            message(&causes.join("; "), is_wide),
            message(&decided.join(", "), is_wide),
        ]);
    }
    if history.is_empty() { String::new() } else { table.print() }
}

fn events(events: &Events, now: Timestamp, is_wide: bool) -> String {
    let mut table = Table::new(&["LAST SEEN", "TYPE", "REASON", "OBJECT", "COUNT", "MESSAGE"]);
    for event in &events.items {
        table.row([
            ago(&event.last_seen, now),
            event.r#type.clone(),
            event.reason.clone(),
            name(&event.object),
            event.count.to_string(),
            message(&event.message, is_wide),
        ]);
    }
    let mut text =
        if events.items.is_empty() { "There are no Events.\n".to_owned() } else { table.print() };
    for error in &events.errors {
        let _ = writeln!(text, "Events cannot be read: {}", OneLine(error));
    }
    text
}

#[cfg(test)]
mod tests;
