//! The texts of objects and reports in a script.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    operator::ORPHAN_LABEL,
    report::{Announcement, Report},
    run::Memory,
};

/// Data, phase, conditions, finalizers and managers of an object.
pub(super) fn object(value: &Value) -> String {
    let mut shown = String::new();
    for (name, data) in value["data"].as_object().into_iter().flatten() {
        writeln!(shown, "data {name}: {data}").unwrap();
    }
    if value["metadata"]["labels"].get(ORPHAN_LABEL).is_some() {
        let is_owned = value["metadata"].get("ownerReferences").is_some();
        writeln!(shown, "stays without its parent, owned: {is_owned}").unwrap();
    }
    if let Some(phase) = value["status"].get("phase") {
        writeln!(shown, "phase: {phase}").unwrap();
    }
    for [ty, status, reason, _] in conditions(value) {
        writeln!(shown, "condition {ty}: {status}, {reason}").unwrap();
    }
    if let Some(finalizers) = value["metadata"].get("finalizers") {
        writeln!(shown, "finalizers: {finalizers}").unwrap();
    }
    for entry in value["metadata"]["managedFields"].as_array().into_iter().flatten() {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        writeln!(shown, "managed by {}: {}", text("manager"), text("operation")).unwrap();
    }
    shown
}

/// The conditions of an object, with their messages.
pub(super) fn messages(value: &Value) -> String {
    let line = |[ty, status, reason, message]: [&str; 4]| {
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        format!("{ty}: {status}, {reason}{message}\n")
    };
    conditions(value).map(line).collect()
}

fn conditions(value: &Value) -> impl Iterator<Item = [&str; 4]> {
    let conditions = value["status"]["conditions"].as_array().into_iter().flatten();
    conditions.map(|condition| {
        ["type", "status", "reason", "message"]
            .map(|name| condition[name].as_str().unwrap_or_default())
    })
}

/// What a reconcile reports beside its requests.
pub(super) fn report(report: &Report, memory: &Memory, events: &[Announcement]) -> String {
    let mut shown = String::new();
    let mut line = |what: &str, text: &str| writeln!(shown, "{what}: {text}").unwrap();
    if let Some(failure) = report.failure() {
        line("failure", &failure.to_string());
    }
    for decision in &report.decisions {
        let why = decision.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let what = format!("{:?} {}", decision.what, decision.child);
        let named = std::iter::once(what).chain(decision.paths.iter().cloned());
        line("decision", &format!("{}{why}", named.collect::<Vec<_>>().join(" ")));
        if let Some(drift) = &decision.drift {
            let to = drift.to.as_ref().map(ToString::to_string).unwrap_or_default();
            line("drift", &format!("from {} to {to}", drift.from));
        }
    }
    line("up to date", &report.unchanged.to_string());
    if let Some(unsettled) = report.unsettled() {
        line("unsettled", &unsettled);
    }
    if !report.gauges.in_conflict.is_empty() {
        line("in conflict", &report.gauges.in_conflict.len().to_string());
    }
    if let Some(flapping) = memory.flapping().condition() {
        line("flapping", &flapping.message);
    }
    for Announcement { kind, reason, message, by: _ } in events {
        line("event", &format!("{kind:?} {reason}: {message}"));
    }
    shown
}

/// The requests of a reconcile with their answers, the changes that it read, which trigger the parent, and the
/// facts that explain its end.
pub(super) fn brief(log: &str) -> String {
    const FACTS: [&str; 10] = [
        "Parent",
        "RequestFailed",
        "ParentWaits",
        "Paused",
        "Waits",
        "Failed",
        "Foreign",
        "Contested",
        "Unwatched",
        "RivalFound",
    ];
    let (mut shown, mut sent) = (String::new(), std::collections::BTreeMap::new());
    for line in log.lines() {
        let word = line.trim_start().split([' ', ':']).next().unwrap_or_default();
        if let Some((id, what)) = line.strip_prefix("> send ").and_then(|it| it.split_once(": ")) {
            sent.insert(id, what);
        } else if let Some(answered) = line.strip_prefix("answered ") {
            let (id, answer) = answered.split_once(": ").unwrap();
            writeln!(shown, "{}: {answer}", sent[id]).unwrap();
        } else if line.starts_with("= ")
            || line.starts_with("> cache saw")
            || line.starts_with("> cache absent")
            || line.starts_with("    ")
            || (line.starts_with("  ") && FACTS.contains(&word))
        {
            writeln!(shown, "{line}").unwrap();
        }
    }
    shown
}
