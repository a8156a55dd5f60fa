//! The one table of a reconcile: what follows each event at each stage. A pair that is not in it is an internal error,
//! which ends the reconcile without a write and names both.
//!
//! Five steps: observe, handle, plan, write, report. A parent that is leaving is finalized instead.
//!
//! | stage | event | what follows |
//! |---|---|---|
//! | `Fresh` | `Started` | **observe** the parent, or preview what a reconcile would do |
//! | `ReadingParent` | `Answered` | prepare it as it was read |
//! | `ReadingLeavingParent` | `Answered` | finalize it, unless it has changed |
//! | `ChangingFinalizer` | `Answered` | look for undecodable children |
//! | `ReadingUndecodable` | `Answered` | read the next one, or refresh the caches |
//! | `Refreshing` | `Resumed` | **handle**: ask for related objects, or call the handler |
//! | `Called` | `HandlerReturned` | read what it named, **plan** what it desires, finalize, or report its error |
//! | `Called` | `HandlerTimeout` | report the timeout while the handler is waited for |
//! | `ReadingRelated` | `RelatedRead` | call the handler with them, or wait for their list |
//! | `ReportingTimeout` | `Answered` | retry that status write, or wait for the handler again |
//! | `ReportingTimeout` | `HandlerReturned` | keep the result until the status is written |
//! | `ReadingSchemaForTimeout` | `SchemaRead` | write that status |
//! | `ReadingSchemaForTimeout` | `HandlerReturned` | keep the result until the status is written |
//! | `DryRunning` | `Answered` | check the next doubtful child, or go on |
//! | `ReadingTerminating` | `Answered` | read the next one, or go on |
//! | `ReadingParentAgain` | `Answered` | judge the deletions, unless the parent has changed |
//! | `Reserving` | `Reserved` | **write**, with the deletions or without |
//! | `Writing` | `Answered` | continue with that child, and write more; at the end delete |
//! | `Deleting` | `Answered` | delete the next child; at the end report |
//! | `Listing` | `Answered` | read the next list, or delete what was found |
//! | `Collecting` | `Answered` | delete the next child that Kubernetes does not collect |
//! | `CollectingOthers` | `Answered` | delete the next of the other children; at the end release the parent |
//! | `Releasing` | `Answered` | end, without our finalizer |
//! | `Decorating` | `Answered` | **report** when the labels and annotations are on the parent |
//! | `Judging` | `Resumed` | judge the readiness, and write the status |
//! | `ReadingSchema` | `SchemaRead` | redact with it, and continue |
//! | `WritingStatus` | `Answered` | retry it, write only the conditions, or end |
//! | `DecoratingStatus` | `Answered` | retry it, or end |

use std::{fmt::Debug, sync::Arc};

use super::{
    Ended, Job, Settings,
    cache_snapshot::{Now, Snapshot},
    effect::{
        Aim, Effect,
        Event::{
            self, Answered, HandlerReturned, HandlerTimeout, RelatedRead, Reserved, Resumed,
            SchemaRead, Started,
        },
    },
    reconcile::Reconcile,
    stage::Stage,
};
use crate::{
    history::ReconcileStep,
    journal::{Fact, Failure},
    object::Object,
    report::Announced,
};

/// One reconcile.
#[derive(Debug)]
pub(crate) struct Machine {
    stage: Stage,
    reconcile: Reconcile,
}

impl Machine {
    pub(crate) fn new(settings: Arc<Settings>, job: Job, now: Now) -> Self {
        Self { stage: Stage::Fresh, reconcile: Reconcile::new(settings, job, now) }
    }

    pub(crate) fn step(&mut self, event: Event, snapshot: Snapshot, now: Now) -> Vec<Effect> {
        self.reconcile.begin_step(snapshot, now);
        let stage = std::mem::replace(&mut self.stage, Stage::Finished);
        self.stage = self.reconcile.follow(stage, event);
        self.reconcile.end_step()
    }

    /// The steps of the reconcile that ended since the last call, in their order.
    pub(crate) fn laps(&mut self) -> impl Iterator<Item = ReconcileStep> + use<> {
        self.reconcile.laps()
    }

    pub(crate) fn parent(&self) -> Option<&Object> {
        self.reconcile.parent.as_ref()
    }

    #[cfg(test)]
    pub(super) fn stage(&self) -> String {
        name(&self.stage)
    }

    #[cfg(test)]
    pub(super) fn facts(&self) -> &[Fact] {
        self.reconcile.journal.facts()
    }

    pub(crate) fn announced_mut(&mut self) -> &mut Announced {
        self.reconcile.memory.announced_mut()
    }

    pub(crate) fn end(self) -> Ended {
        self.reconcile.end()
    }
}

impl Reconcile {
    /// The stage that follows.
    fn follow(&mut self, stage: Stage, event: Event) -> Stage {
        match (stage, event) {
            // === observe ===
            (Stage::Fresh, Started(Aim::Reconcile)) => self.observe(),
            (Stage::Fresh, Started(Aim::Plan(instead))) => self.preview(instead),
            (Stage::ReadingParent, Answered(_, answer)) => self.parent_read(answer),
            (Stage::ReadingLeavingParent(cached), Answered(_, answer)) => {
                self.leaving_parent_read(&cached, answer)
            }
            (Stage::ChangingFinalizer { is_due, awaited }, Answered(_, answer)) => {
                self.finalizer_answered(is_due, awaited, answer)
            }
            (Stage::ReadingUndecodable(child, left), Answered(_, answer)) => {
                self.undecodable_child_read(&child, left, answer)
            }
            (Stage::Refreshing, Resumed) => self.handle(),

            // === handle, plan ===
            (Stage::Called, HandlerReturned(result)) => self.handler_returned(result),
            (Stage::Called, HandlerTimeout(deadline)) => self.handler_late(deadline),
            (Stage::ReadingRelated, RelatedRead(related)) => self.related_read(related),
            (Stage::ReportingTimeout(awaited, returned), Answered(_, answer)) => {
                self.timeout_answered(*awaited, returned, answer)
            }
            (Stage::ReportingTimeout(awaited, None), HandlerReturned(result)) => {
                Stage::ReportingTimeout(awaited, Some(Box::new(result)))
            }
            (Stage::ReadingSchemaForTimeout(writing, returned), SchemaRead(schema)) => {
                self.schema_read_for_timeout(*writing, returned, schema)
            }
            (Stage::ReadingSchemaForTimeout(writing, None), HandlerReturned(result)) => {
                Stage::ReadingSchemaForTimeout(writing, Some(Box::new(result)))
            }

            // === write ===
            (Stage::DryRunning(plan, doubt), Answered(_, answer)) => {
                self.dry_run_answered(plan, *doubt, answer)
            }
            (Stage::ReadingTerminating(plan, child, left), Answered(_, answer)) => {
                self.terminating_read(plan, (&child, left), answer)
            }
            (Stage::ReadingParentAgain(plan), Answered(_, answer)) => {
                self.parent_read_again(plan, answer)
            }
            (Stage::Reserving(plan), Reserved(reserved)) => {
                self.judge_deletions(plan, Some(reserved))
            }
            (Stage::Writing(plan, window), Answered(id, answer)) if window.awaits(id) => {
                self.write_answered(plan, window, (id, answer))
            }
            (Stage::Deleting(plan, awaited, left), Answered(_, answer)) => {
                self.deletion_answered(plan, *awaited, left, answer)
            }

            // === finalize ===
            (Stage::Listing(listing), Answered(_, answer)) => self.listed(*listing, answer),
            (Stage::Collecting(child, awaited, left), Answered(_, answer)) => {
                self.collecting_answered(child, *awaited, left, answer)
            }
            (Stage::CollectingOthers(awaited, left), Answered(_, answer)) => {
                self.collecting_other_answered(*awaited, left, answer)
            }
            (Stage::Releasing(awaited), Answered(_, answer)) => {
                self.release_answered(awaited, answer)
            }

            // === report ===
            (Stage::Decorating(status, awaited), Answered(_, answer)) => {
                self.decoration_answered(status, *awaited, answer)
            }
            (Stage::Judging(status), Resumed) => self.judge_readiness(status),
            (Stage::ReadingSchema(then), SchemaRead(schema)) => self.schema_read(then, schema),
            (Stage::WritingStatus(awaited), Answered(_, answer)) => {
                self.status_answered(*awaited, answer)
            }
            (Stage::DecoratingStatus(awaited), Answered(_, answer)) => {
                self.decorating_status_answered(*awaited, answer)
            }
            (stage, event) => self.impossible(&stage, &event),
        }
    }

    /// Ends the reconcile because of a bug: nothing more is written.
    pub(super) fn impossible(&mut self, stage: &Stage, event: &Event) -> Stage {
        let failure = Failure::ImpossibleStep { stage: name(stage), event: name(event) };
        self.note([Fact::Failed(failure)]);
        self.effects.push(Effect::Finished);
        Stage::Finished
    }
}

/// The name of a variant, without what it holds.
pub(super) fn name(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take_while(char::is_ascii_alphanumeric).collect()
}
