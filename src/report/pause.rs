//! The condition and the Event of a pause.

use super::shown::reason_shown;
use crate::{
    journal::{Pause, PausedBy},
    object::Object,
    operator::{Condition, PAUSED_ANNOTATION},
};

/// The type of the condition of a paused parent.
pub(super) const CONDITION: &str = "Paused";

pub(super) fn condition(Pause { by, held }: &Pause) -> Condition {
    let message = match by {
        PausedBy::Annotation => format!("the annotation {PAUSED_ANNOTATION} pauses it: {held}"),
        PausedBy::Operator => format!("the operator is paused: {held}"),
    };
    Condition::new(CONDITION, true, reason(*by), message)
}

/// The pause that the parent shows, if Operetta set the condition.
pub(super) fn shown_by(parent: &Object) -> Option<PausedBy> {
    let shown = reason_shown(parent, CONDITION)?;
    [PausedBy::Annotation, PausedBy::Operator].into_iter().find(|by| self::reason(*by) == shown)
}

/// The reason of the condition, which identifies it as set by Operetta.
fn reason(by: PausedBy) -> &'static str {
    match by {
        PausedBy::Annotation => "PausedByAnnotation",
        PausedBy::Operator => "OperatorPaused",
    }
}

/// The message of the Event.
pub(super) fn announcement(by: PausedBy) -> String {
    match by {
        PausedBy::Annotation => {
            format!("nothing is written while the annotation {PAUSED_ANNOTATION} pauses it")
        }
        PausedBy::Operator => {
            "the operator is paused: nothing is written until it is resumed".to_owned()
        }
    }
}
