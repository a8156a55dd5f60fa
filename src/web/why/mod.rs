//! Explains a parent in one or two sentences: its state, what it waits for, and what to do. Pure: a
//! function of the board and the last reconcile.

mod words;

use std::time::SystemTime;

pub(super) use words::purpose;
use words::{advice, end_of, what_failed, within};

use crate::{
    board::{OperatorState, ParentPhase, ParentState, ReconcileStage},
    history::{Decided, NextWake, Outcome, Reconcile},
    operator::Pause,
    plan::FlappingSummary,
    schedule::WakeReason,
};

pub(super) struct Facts<'a> {
    pub(super) state: &'a OperatorState,
    /// The pause of the operator.
    pub(super) paused: Option<&'a Pause>,
    pub(super) parent: &'a ParentState,
    pub(super) limit: usize,
    pub(super) now: SystemTime,
}

const ON_CONFLICT: &str = " Let the other manager release these fields or apply the desired values, or \
                           choose another policy for the child type (`with_conflicts`).";

const UP_TO_DATE: &str = "Everything is up to date";

const NAMED: usize = 3;

impl Facts<'_> {
    pub(super) fn why(&self) -> String {
        let parts = [self.operator(), self.flapping_summary(), Some(self.state())];
        let parts: Vec<_> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        parts.join(" ")
    }

    fn flapping_summary(&self) -> Option<String> {
        let FlappingSummary { why, message } = self.parent.flapping_summary.as_deref()?;
        Some(format!(
            "It is flapping: {message}. {} Until then its writes are delayed more and more.",
            end_of(*why)
        ))
    }

    fn operator(&self) -> Option<String> {
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

    fn state(&self) -> String {
        let last = self.parent.history.last();
        match self.parent.phase {
            ParentPhase::Pending if last.is_none() => match self.state {
                OperatorState::Running => self.queued("It has not been reconciled yet"),
                _ => "It has not been reconciled yet and waits for the operator.".to_owned(),
            },
            ParentPhase::Pending => self.queued("It will be reconciled again"),
            ParentPhase::Running => self.running(),
            ParentPhase::Paused => self.paused(),
            ParentPhase::Failing | ParentPhase::Stalled => self.failing(last.map(|it| &**it)),
            ParentPhase::Finalizing => {
                format!(
                    "It is terminating: {}.{}",
                    self.message("it is being finalized"),
                    self.next()
                )
            }
            // It waits only because it is flapping.
            ParentPhase::Waiting
                if self.parent.flapping_summary.is_some() && self.parent.message.is_none() =>
            {
                self.next().trim_start().to_owned()
            }
            ParentPhase::Waiting => {
                let (message, advice) = (self.message("for its children"), self.on_conflict());
                format!("It waits: {message}.{advice}{}", self.next())
            }
            ParentPhase::Ready => {
                let up_to_date = self.up_to_date(last.map(|it| &**it));
                let ready = if up_to_date == UP_TO_DATE { " and ready" } else { "" };
                format!("{up_to_date}{ready}.{}", self.next())
            }
            ParentPhase::Synced => format!(
                "{}, but it is not ready: {}. The operator has nothing left to do: check what is named.{}",
                self.up_to_date(last.map(|it| &**it)),
                self.message("children are not ready"),
                self.next()
            ),
        }
    }

    fn queued(&self, what: &str) -> String {
        let limit = self.limit;
        format!("{what}: it waits for one of the {limit} permits of its operator.")
    }

    fn running(&self) -> String {
        match &self.parent.message {
            Some(message) if self.parent.stage == ReconcileStage::HandlerTimeout => format!(
                "A reconcile is in progress and hangs: {message}. It cannot continue until the handler \
                 returns. Fix the handler and restart the process."
            ),
            _ => "A reconcile is in progress.".to_owned(),
        }
    }

    fn paused(&self) -> String {
        let pending = self.message("nothing is pending");
        let unknown = Pause::default();
        let pause = self.paused.or(self.parent.pause.as_deref()).unwrap_or(&unknown);
        let (who, span, reason) = (pause.who(), pause.span(), pause.reason_given());
        if self.paused.is_some() {
            return format!(
                "{who} has paused the operator{span}, and nothing is written: {pending}.{reason} \
                 Resume the operator to continue."
            );
        }
        format!(
            "{who} has paused it by the annotation operetta.dev/paused{span}, and nothing is \
             written: {pending}.{reason} Resume it or remove the annotation to continue."
        )
    }

    fn failing(&self, last: Option<&Reconcile>) -> String {
        let Some(Outcome::Failed { reason, message }) = last.map(|it| &it.outcome) else {
            return format!(
                "It fails: {}.{}",
                self.message("its last reconcile died"),
                self.next()
            );
        };
        let times = match self.parent.failures {
            0 | 1 => "Its last reconcile failed".to_owned(),
            times => format!("Its last {times} reconciles failed"),
        };
        let (what, advice) = (what_failed(*reason), advice(*reason, self.parent.phase));
        format!("{times}: {what}{}. {advice}{}", message.trim_end_matches('.'), self.next())
    }

    fn on_conflict(&self) -> &'static str {
        let decisions = self.parent.history.last().map(|it| &*it.decisions).unwrap_or_default();
        if decisions.iter().any(|it| it.what == Decided::Conflict) { ON_CONFLICT } else { "" }
    }

    /// The beginning of a sentence.
    fn up_to_date(&self, last: Option<&Reconcile>) -> String {
        let stuck = last.map(|it| &*it.decisions).unwrap_or_default();
        let stuck: Vec<String> = stuck
            .iter()
            .filter(|it| matches!(it.what, Decided::Conflict | Decided::Held | Decided::Waiting))
            .map(|it| format!("{}: {}", it.child, it.why.as_deref().unwrap_or(it.what.name())))
            .collect();
        if !stuck.is_empty() {
            format!("{UP_TO_DATE} except {}", named(&stuck))
        } else if self.parent.flapping_summary.is_some() {
            format!("{UP_TO_DATE} for now")
        } else {
            UP_TO_DATE.to_owned()
        }
    }

    fn message(&self, otherwise: &str) -> String {
        let message = self.parent.message.as_deref().unwrap_or(otherwise);
        message.trim_end_matches('.').to_owned()
    }

    /// When it is reconciled next without a trigger, and why.
    fn next(&self) -> String {
        let Some(NextWake { at, why }) = self.parent.next_wake else {
            return match (self.parent.stage, self.parent.phase) {
                (ReconcileStage::Queued, _) => self.queued(" It will be reconciled again"),
                (ReconcileStage::InProgress, _) => " A reconcile is in progress.".to_owned(),
                (_, ParentPhase::Stalled) => " It is not retried before that.".to_owned(),
                _ => String::new(),
            };
        };
        let seconds = at.duration_since(self.now).unwrap_or_default().as_secs();
        let advice =
            if why == WakeReason::Retry { "; use the command sync to retry now" } else { "" };
        format!(" It is reconciled again {} {}{advice}.", within(seconds), purpose(why))
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
