//! A line of the timeline as a sentence: pure.

use std::{fmt::Display, time::SystemTime};

use k8s_openapi::jiff::Timestamp;

use crate::board::{ActivityKind, LeaderChange, Line, Names, Shelf};

/// The line in words, without its full stop. Names are between backticks.
pub(in crate::web) fn sentence(line: &Line) -> String {
    let was = if line.children.count == 1 { "was" } else { "were" };
    match line.kind {
        ActivityKind::Created => format!("{} {was} created", children(line)),
        ActivityKind::Adopted => format!("{} {was} adopted", children(line)),
        ActivityKind::Updated => format!("{} {was} updated{}", children(line), fields(line)),
        ActivityKind::Recreated => {
            format!("{} {was} deleted, to be created again{}", children(line), fields(line))
        }
        ActivityKind::Deleted => format!("{} {was} deleted", children(line)),
        ActivityKind::Repaired => repaired(line, was),
        ActivityKind::Held => held(line),
        ActivityKind::Allowed => {
            format!("Deletions of {} that are held were allowed{}", parents(line), by(line))
        }
        ActivityKind::Released => {
            format!("Deletions that had been held were carried out: {}", children(line))
        }
        ActivityKind::Failing => format!("{} began to fail{}", parents(line), because(line)),
        ActivityKind::Recovered => format!("{} recovered", parents(line)),
        ActivityKind::Paused => format!("{} paused{}{}", was_done(line), by(line), because(line)),
        ActivityKind::Resumed => format!("{} resumed{}", was_done(line), by(line)),
        ActivityKind::Leader => leader(line),
        ActivityKind::Registered => format!("{} registered", operators(line)),
        ActivityKind::Unregistered => format!("{} removed", operators(line)),
        ActivityKind::Denied => denied(line),
        ActivityKind::Rejected => rejected(line),
    }
}

/// Up to when entries of a shelf are missing.
pub(in crate::web) fn dropped((shelf, at): (Shelf, SystemTime)) -> String {
    let at = Timestamp::try_from(at).map_or_else(|_| String::new(), |time| format!("{time:.0}"));
    format!("Older entries about {} were dropped at {at}", shelf.name())
}

fn repaired(line: &Line, was: &str) -> String {
    let children = children(line);
    if line.is_removed {
        return format!("{children} {was} removed by others and created again");
    }
    let who = line.who.as_ref().map_or_else(|| "others".to_owned(), |who| format!("`{who}`"));
    format!("{children} {was} changed by {who}{} and written again", fields(line))
}

fn held(line: &Line) -> String {
    let why = because(line);
    match line.parents.count {
        1 => format!("Deletions of {} are held{why}", children(line)),
        _ => format!("Deletions are held: {}{why}", children(line)),
    }
}

fn leader(line: &Line) -> String {
    let lease = line.details.kept.first().map_or("", String::as_str);
    let is_leading = |to: &Option<_>| match to {
        Some(to) => format!("`{to}` leads now"),
        None => "nobody leads now".to_owned(),
    };
    let what = match &line.leader {
        Some(LeaderChange::Gained) => "This process leads now".to_owned(),
        Some(LeaderChange::Lost { to }) => {
            format!("This process leads no more, {}", is_leading(to))
        }
        Some(LeaderChange::Passed { to }) => {
            let text = is_leading(to);
            text.replacen("nobody", "Nobody", 1)
        }
        None => String::new(),
    };
    format!("{what}, by the Lease `{lease}`")
}

fn denied(line: &Line) -> String {
    let who = line.who.as_deref().unwrap_or_default();
    match (line.details.kept.as_slice(), line.details.count) {
        ([access], 1) => format!("The user {who:?} was denied: {access}"),
        (_, count) => format!("The user {who:?} was denied {count} different requests"),
    }
}

fn rejected(line: &Line) -> String {
    let who = line.who.as_deref().unwrap_or_default();
    match line.parents.count {
        1 => format!("{} was rejected for the user {who:?}{}", parents(line), because(line)),
        count => format!("{count} objects were rejected for the user {who:?}{}", because(line)),
    }
}

/// The children with their parents.
fn children(line: &Line) -> String {
    let children = match (line.children.kept.as_slice(), line.children.count) {
        ([child], 1) => format!("`{child}`"),
        (_, 1) => "1 child".to_owned(),
        (_, count) => format!("{count} children"),
    };
    format!("{children} of {}", parents(line))
}

fn parents(line: &Line) -> String {
    match (line.parents.kept.as_slice(), line.parents.count) {
        ([parent], 1) => format!("`{parent}`"),
        (_, count) => format!("{count} parents"),
    }
}

fn was_done(line: &Line) -> String {
    match line.parents.count {
        0 => format!("{} was", the_operator(line)),
        1 => format!("{} was", parents(line)),
        _ => format!("{} were", parents(line)),
    }
}

fn the_operator(line: &Line) -> String {
    let name = line.operators.kept.first().map(ToString::to_string).unwrap_or_default();
    format!("The operator `{name}`")
}

fn operators(line: &Line) -> String {
    match line.operators.count {
        1 => format!("{} was", the_operator(line)),
        count => format!("{count} operators were"),
    }
}

fn fields(line: &Line) -> String {
    match line.fields.count {
        0 => String::new(),
        _ => format!(" at {}", listed(&line.fields, 3)),
    }
}

/// The first names, and how many more there are.
pub(super) fn listed<T: Display>(names: &Names<T>, limit: usize) -> String {
    let shown: Vec<String> =
        names.kept.iter().take(limit).map(|name| format!("`{name}`")).collect();
    let more = names.count - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn by(line: &Line) -> String {
    line.who.as_ref().map_or_else(String::new, |who| format!(" by {who:?}"))
}

fn because(line: &Line) -> String {
    // Messages of others may end with one.
    let why = line.details.kept.first().map(|why| why.trim_end_matches('.'));
    why.map_or_else(String::new, |why| format!(": {why}"))
}

#[cfg(test)]
mod tests;
