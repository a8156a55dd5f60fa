//! The condition and the Events of a pause.

use std::{sync::Arc, time::SystemTime};

use k8s_openapi::jiff::Timestamp;

use super::{Report, shown};
use crate::{
    journal::{Pause, PausedBy},
    object::{Object, Quoted, Redactor},
    operator::{self, Condition, MisunderstoodPause, PAUSED_ANNOTATION},
};

/// The type of the condition of a paused parent.
pub(super) const CONDITION: &str = "Paused";

pub(super) fn condition(report: &Report) -> Option<Condition> {
    let Pause { by, held } = report.paused?;
    let message = match by {
        PausedBy::Annotation => format!("the annotation {PAUSED_ANNOTATION} pauses it: {held}"),
        PausedBy::Operator => format!("the operator is paused: {held}"),
    };
    Some(Condition::new(CONDITION, true, reason(by), explained(message, report)))
}

/// What is known of a pause, without secrets.
pub(super) fn shown_with(known: &operator::Pause, redactor: &Redactor) -> Arc<operator::Pause> {
    Arc::new(known.with_texts(|text| redactor.shown(&Quoted::new(text)).to_string()))
}

/// The reason is last, because users write it.
fn explained(message: String, report: &Report) -> String {
    match &report.pause {
        Some(pause) => format!("{message}; {pause}"),
        None => message,
    }
}

/// The pause that the parent shows, if Operetta set the condition.
pub(super) fn shown_by(parent: &Object) -> Option<PausedBy> {
    let shown = shown::reason_shown(parent, CONDITION)?;
    [PausedBy::Annotation, PausedBy::Operator].into_iter().find(|by| self::reason(*by) == shown)
}

/// The reason of the condition, which identifies it as set by Operetta.
fn reason(by: PausedBy) -> &'static str {
    match by {
        PausedBy::Annotation => "PausedByAnnotation",
        PausedBy::Operator => "OperatorPaused",
    }
}

/// Since when the parent shows that it is paused.
pub(crate) fn shown_since(parent: &Object) -> Option<SystemTime> {
    shown_by(parent)?;
    let condition = shown::shown(parent, CONDITION).filter(|it| it["status"] == "True")?;
    let since: Timestamp = condition["lastTransitionTime"].as_str()?.parse().ok()?;
    Some(since.into())
}

/// The message of the Event about the begin.
pub(super) fn announcement(by: PausedBy, report: &Report) -> String {
    let message = match by {
        PausedBy::Annotation => {
            format!("nothing is written while the annotation {PAUSED_ANNOTATION} pauses it")
        }
        PausedBy::Operator => {
            "the operator is paused: nothing is written until it is resumed".to_owned()
        }
    };
    explained(message, report)
}

/// The reason and the message of the Event about a value that is not understood.
pub(super) fn warning(misunderstood: &MisunderstoodPause) -> (&'static str, String) {
    let MisunderstoodPause { text, pauses } = misunderstood;
    if *pauses {
        let message = format!(
            "the annotation {PAUSED_ANNOTATION} pauses the parent, but {text:?} in it is not understood: write \
             by=, since=, until= with times as 2026-12-01T10:00:00Z, and reason= at the end"
        );
        return ("PauseUnclear", message);
    }
    let message = format!(
        "the annotation {PAUSED_ANNOTATION} is {text:?}, which does not pause the parent: set it to \
         \"true\""
    );
    ("NotPaused", message)
}
