//! The lines of the log about what reconciles wrote, and why.

use crate::{
    history::{Cause, Decided, Decision, Reconcile},
    object::{ObjectKey, OneLine},
    operator::OperatorName,
};

/// The target of the lines, by which a filter asks for them: `operetta::writes=debug`.
const WRITES: &str = "operetta::writes";

/// Logs each write of a child.
pub(super) fn log_writes(operator: &OperatorName, parent: &ObjectKey, reconcile: &Reconcile) {
    if !tracing::enabled!(target: WRITES, tracing::Level::DEBUG) {
        return;
    }
    let because = because(&reconcile.causes);
    for write in reconcile.writes() {
        let what = OneLine(what(write));
        tracing::debug!(target: WRITES, %operator, %parent, because, "{what}");
    }
}

fn what(Decision { child, what, paths, drift, .. }: &Decision) -> String {
    let verb = match what {
        Decided::Created => "created",
        Decided::Adopted => "adopted",
        Decided::Recreated => "deleted, to create it again,",
        Decided::Deleted => "deleted",
        Decided::Unchanged => "wrote without a change",
        _ => "updated",
    };
    let places = if paths.is_empty() { String::new() } else { format!(" at {}", paths.join(", ")) };
    let manager = drift.as_ref().and_then(|drift| drift.manager.as_deref());
    let rival = manager.map(|manager| format!(", which `{manager}` had changed"));
    format!("{verb} {child}{places}{}", rival.unwrap_or_default())
}

fn because(causes: &[Cause]) -> String {
    let Some((first, more)) = causes.split_first() else { return String::new() };
    let first = OneLine(first.to_string());
    match more.len() {
        0 => first.to_string(),
        more => format!("{first}, and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::{Drift, Verb, WriteRecord},
        object::ResourceVersion,
    };

    #[test]
    fn a_line_says_what_was_written_and_who_had_changed_it() {
        let of = |verb, paths: &[&str], manager: Option<&str>| {
            let drift = manager.map(|manager| {
                let from = ResourceVersion::new("7");
                Box::new(Drift { manager: Some(manager.to_owned()), from, to: None })
            });
            let paths = paths.iter().map(|&path| path.to_owned()).collect();
            what(&WriteRecord { child: "ConfigMap.v1 a/b".to_owned(), verb, paths, drift }.into())
        };
        assert_eq!(of(Verb::Created, &[], None), "created ConfigMap.v1 a/b");
        assert_eq!(
            of(Verb::Updated, &[".data.a", ".data.b"], Some("kubectl")),
            "updated ConfigMap.v1 a/b at .data.a, .data.b, which `kubectl` had changed"
        );
        assert_eq!(
            of(Verb::Deleted, &[".spec"], None),
            "deleted, to create it again, ConfigMap.v1 a/b at .spec"
        );
    }

    #[test]
    fn the_first_cause_is_named_and_the_others_are_counted() {
        assert_eq!(because(&[Cause::Restarted]), "the process started");
        assert_eq!(because(&[Cause::Restarted, Cause::Resync]), "the process started, and 1 more");
    }
}
