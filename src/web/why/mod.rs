//! One sentence or two for a tired person: where a parent stands, what it is stuck on, and what to do.
//! Pure: words from what the board, the last reconcile and the children say.

mod words;

use std::time::SystemTime;

pub(super) use words::purpose;
use words::{advice, end_of, what_failed, within};

use crate::{
    board::{OperatorPause, OperatorState, ParentPhase, ParentState, ReconcileStage},
    history::{Decided, NextWake, Outcome, Reconcile},
    plan::FlappingSummary,
    schedule::WakeReason,
};

/// What the sentence is made from.
pub(super) struct Facts<'a> {
    pub(super) state: &'a OperatorState,
    pub(super) paused: Option<&'a OperatorPause>,
    pub(super) parent: &'a ParentState,
    /// Children that are there and not ready, in words.
    pub(super) unready: &'a [String],
    pub(super) places: usize,
    pub(super) now: SystemTime,
}

/// Fields of a child whose type only reports that others hold them.
const LET_GO: &str = " Let the other manager let go of these fields, or set what is desired, or choose \
                      another policy for the child type (`with_conflicts`).";

/// So many children are named.
const NAMED: usize = 3;

impl Facts<'_> {
    /// The sentence.
    pub(super) fn why(&self) -> String {
        let said = [self.trouble_of_operator(), self.flapping_summary(), Some(self.standing())];
        let said: Vec<_> = said.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        said.join(" ")
    }

    /// The condition `Flapping`, and what to do about it.
    fn flapping_summary(&self) -> Option<String> {
        let FlappingSummary { why, message } = self.parent.flapping_summary.as_deref()?;
        Some(format!(
            "It does not come to rest: {message}. {} Until then each write of it waits longer.",
            end_of(*why)
        ))
    }

    fn trouble_of_operator(&self) -> Option<String> {
        match self.state {
            OperatorState::Starting { waiting_for } if waiting_for.is_empty() => {
                Some("The operator is starting.".to_owned())
            }
            OperatorState::Starting { waiting_for } => {
                Some(format!("The operator is starting: it waits for {}.", waiting_for.join(", ")))
            }
            OperatorState::Degraded { reasons } => {
                Some(format!("The operator is degraded: {}.", reasons.join("; ")))
            }
            OperatorState::Running => None,
        }
    }

    fn standing(&self) -> String {
        let last = self.parent.history.last();
        match self.parent.phase {
            ParentPhase::Pending if last.is_none() => match self.state {
                OperatorState::Running => self.queued("It has not run yet"),
                _ => "It has not run yet, and runs when the operator can.".to_owned(),
            },
            ParentPhase::Pending => self.queued("It is to run again"),
            ParentPhase::Running => self.running(),
            ParentPhase::Paused => self.paused(),
            ParentPhase::Failing | ParentPhase::Stalled => self.failing(last.map(|run| &**run)),
            ParentPhase::Finalizing => {
                format!("It is on its way out: {}.{}", self.message("it is finalized"), self.next())
            }
            // That it does not come to rest is all that it waits for.
            ParentPhase::Waiting
                if self.parent.flapping_summary.is_some() && self.parent.message.is_none() =>
            {
                self.next().trim_start().to_owned()
            }
            ParentPhase::Waiting => {
                let (message, advice) = (self.message("for its children"), self.of_conflict());
                format!("It waits: {message}.{advice}{}", self.next())
            }
            ParentPhase::Synced => self.synced(last.map(|run| &**run)),
        }
    }

    fn queued(&self, what: &str) -> String {
        let places = self.places;
        format!("{what}: it waits for one of the {places} places among the runs of its operator.")
    }

    fn running(&self) -> String {
        match &self.parent.message {
            Some(message) if self.parent.run == ReconcileStage::Overdue => format!(
                "A reconcile is under way and hangs: {message}. Nothing more happens to it before the \
                 handler returns; mend the handler and restart the process."
            ),
            _ => "A reconcile is under way.".to_owned(),
        }
    }

    fn paused(&self) -> String {
        let pending = self.message("nothing is pending");
        match self.paused {
            Some(_) => format!(
                "A person has paused the operator, and nothing is written: {pending}. Resume the \
                 operator to go on."
            ),
            None => format!(
                "A person has paused it by the annotation operetta.dev/paused, and nothing is \
                 written: {pending}. Resume it, or take the annotation off, to go on."
            ),
        }
    }

    fn failing(&self, last: Option<&Reconcile>) -> String {
        let Some(Outcome::Failed { reason, message }) = last.map(|run| &run.outcome) else {
            return format!(
                "It fails: {}.{}",
                self.message("its last reconcile died"),
                self.next()
            );
        };
        let times = match self.parent.failures {
            0 | 1 => "Its last reconcile failed".to_owned(),
            times => format!("Its last {times} runs failed"),
        };
        let (what, advice) = (what_failed(*reason), advice(*reason, self.parent.phase));
        format!("{times}: {what}{}. {advice}{}", message.trim_end_matches('.'), self.next())
    }

    /// What a person can do where others hold fields of a child.
    fn of_conflict(&self) -> &'static str {
        let decisions = self.parent.history.last().map(|run| &*run.decisions).unwrap_or_default();
        if decisions.iter().any(|it| it.what == Decided::Conflict) { LET_GO } else { "" }
    }

    fn synced(&self, last: Option<&Reconcile>) -> String {
        let stuck = last.map(|run| &*run.decisions).unwrap_or_default();
        let stuck: Vec<String> = stuck
            .iter()
            .filter(|it| matches!(it.what, Decided::Conflict | Decided::Held | Decided::Waiting))
            .map(|it| format!("{}: {}", it.child, it.why.as_deref().unwrap_or(it.what.name())))
            .collect();
        let next = self.next();
        if !stuck.is_empty() {
            return format!("All is as desired, but for {}.{next}", named(&stuck));
        }
        if self.parent.flapping_summary.is_some() {
            return format!("For now all is as desired.{next}");
        }
        if self.unready.is_empty() {
            return format!("All is as desired, and nothing is to be done.{next}");
        }
        format!(
            "All is as desired, but not everything is ready: {}. That is not for the operator to \
             mend: look at what it names.{next}",
            named(self.unready)
        )
    }

    fn message(&self, otherwise: &str) -> String {
        let message = self.parent.message.as_deref().unwrap_or(otherwise);
        message.trim_end_matches('.').to_owned()
    }

    /// When it runs again by itself, and why.
    fn next(&self) -> String {
        let Some(NextWake { at, why }) = self.parent.next_wake else {
            return match (self.parent.run, self.parent.phase) {
                (ReconcileStage::Queued, _) => self.queued(" It is to run again"),
                (ReconcileStage::UnderWay, _) => " A reconcile is under way.".to_owned(),
                (_, ParentPhase::Stalled) => " It is not tried again before that.".to_owned(),
                _ => String::new(),
            };
        };
        let seconds = at.duration_since(self.now).unwrap_or_default().as_secs();
        let advice = if why == WakeReason::Retry { "; order a sync to try at once" } else { "" };
        format!(" It runs again {} {}{advice}.", within(seconds), purpose(why))
    }
}

fn named(some: &[String]) -> String {
    let shown = some.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    match some.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests;
