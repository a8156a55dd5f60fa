//! What ends the writing of a run before its plan is carried out. Asked before children are written
//! together, and before each further write of one: a run with thousands of children takes its time,
//! and the parent goes on with its life.

use super::{Context, End, PausedBy, Report, pause};
use crate::{cluster::ApiError, history::Verb, object::Object, operator::is_paused, plan::Step};

/// Why a run writes no further child.
pub(super) enum Halt {
    /// The parent is not what was planned for: another run decides again.
    Outdated,
    /// It, or the operator, was paused.
    Paused(PausedBy),
    /// The server asked to be left alone for a while.
    Throttled,
}

impl Halt {
    /// Why nothing more is to be written, if so.
    pub(super) fn now(context: &Context, parent: &Object, report: &Report) -> Option<Self> {
        if report.end != End::Alive || context.has_left(parent) {
            return Some(Self::Outdated);
        }
        let paused = context.paused_meanwhile(parent).map(Self::Paused);
        paused.or_else(|| report.is_throttled().then_some(Self::Throttled))
    }

    /// Why a child is not written once more, if so. What was handed over for an adoption is not left
    /// half done, unless it would be adopted by a parent that has left.
    pub(super) fn before(
        context: &Context,
        parent: &Object,
        verb: Verb,
        report: &Report,
    ) -> Option<Self> {
        let halt = Self::now(context, parent, report)?;
        (verb != Verb::Adopted || matches!(halt, Self::Outdated)).then_some(halt)
    }

    /// Notes what is not done for it.
    pub(super) fn hold(&self, step: &Step, report: &mut Report) {
        report.put_off += usize::from(!matches!(step, Step::Delete(_)));
        match self {
            Self::Outdated if report.end == End::Alive => report.end = End::Outdated,
            Self::Outdated => {}
            Self::Paused(by) => pause::hold_step(step, *by, report),
            Self::Throttled => report.hold_back(step.id()),
        }
    }
}

/// Whether the parent is, live, as the plan believes. Asked before a child is created that may be
/// missing because the parent is being deleted in the foreground, or because somebody paused the parent
/// and then deleted the child: the watch of the children can be faster than that of the parent.
pub(super) async fn is_as_planned(
    context: &Context,
    parent: &Object,
    report: &mut Report,
) -> Result<bool, ApiError> {
    let Some(live) = context.cluster().read(parent.ty(), parent.key()).await? else {
        report.end = End::Gone;
        return Ok(false);
    };
    if is_as_planned_for(parent, &live) && context.selects(&live) && !is_paused(&live) {
        return Ok(true);
    }
    report.end = End::Outdated;
    context.learn_live(live);
    Ok(false)
}

fn is_as_planned_for(parent: &Object, live: &Object) -> bool {
    let is_same =
        live.generation() == parent.generation() && (live.generation().is_some() || live == parent);
    live.uid() == parent.uid() && !live.is_deleting() && is_same
}
