//! What a decorator does after the children: puts labels, annotations and status fields on the parent, and
//! removes them from a parent that left the selection.

use serde_json::{Value, json};

use super::{
    Answer,
    parent::{
        decoration::{self, DecorationNext, WantedDecoration},
        status::ReturnedStatus,
    },
    reconcile::Reconcile,
    stage::Stage,
    turn::{Next, waits_for_the_end},
};
use crate::{
    history::ReconcileStep,
    journal::{End, Fact, Held, Pause},
    operator::{Condition, ConditionNames, Decoration},
    plan::Desired,
    report::conditions,
};

const NO_STATUS: &str = "the handler of a decorator returns a status, which is not written: the status belongs \
                         to the controller of the parent; `with_status_fields` allows it";

impl Reconcile {
    /// Whether the decorator removes what it added to the parent.
    pub(super) fn takes_leave(&self) -> bool {
        self.settings.takes_leave(self.parent())
    }

    /// Removes the children, and then what is on the parent.
    pub(super) fn leave(&mut self) -> Stage {
        self.begin_drift();
        self.observed = self.view().observed();
        self.decoration = Some(Decoration::default());
        match self.planned(Desired::default()) {
            Ok(plan) => self.carry_out(plan, None),
            Err(refusals) => self.refused(refusals, None),
        }
    }

    pub(super) fn decorate(
        &mut self,
        decoration: Decoration,
        status: Option<ReturnedStatus>,
    ) -> Stage {
        if let Some(by) = self.paused_by_now() {
            if decoration.write(self.parent(), self.settings.name()).is_some() {
                let waits = waits_for_the_end(by, "decoration");
                self.note([waits, Fact::Paused(Pause { by, held: Held::Undecided })]);
            }
            return self.conclude(status);
        }
        let wanted = WantedDecoration::Metadata(decoration);
        let next = self.ask(|view| decoration::begin(wanted, view));
        self.decorating(status, next)
    }

    pub(super) fn decoration_answered(
        &mut self,
        status: Option<ReturnedStatus>,
        state: decoration::AwaitedDecoration,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| decoration::answered(state, answer, view));
        self.decorating(status, next)
    }

    fn decorating(&mut self, status: Option<ReturnedStatus>, next: DecorationNext) -> Stage {
        match next {
            Next::Ask(request, state) => {
                self.send(request);
                Stage::Decorating(status, state)
            }
            Next::Done(()) => self.conclude(status),
        }
    }

    /// Writes the status fields of a decorator, if the operator allows them.
    pub(super) fn decorate_status(&mut self, status: Option<ReturnedStatus>) -> Stage {
        self.begin_status();
        let config = self.settings.config();
        let (has_fields, writes) =
            (config.decorator_options().status_fields, config.writes_status());
        if !has_fields && status.as_ref().is_some_and(|returned| !returned.0.is_null()) {
            self.note([Fact::Overruled(NO_STATUS)]);
        }
        let status = status.filter(|returned| has_fields && !returned.0.is_null());
        // After an error the fields stay as they are.
        let is_answer = status.is_some() || self.settings.config().decorator_options().conditions;
        if !writes || self.paused_by_now().is_some() || !(is_answer || self.takes_leave()) {
            return self.decorated();
        }
        let fields = if self.takes_leave() { None } else { self.with_conditions(status) };
        let next = self.ask(|view| decoration::begin(WantedDecoration::Status(fields), view));
        self.decorating_status(next)
    }

    pub(super) fn decorating_status_answered(
        &mut self,
        state: decoration::AwaitedDecoration,
        answer: Answer,
    ) -> Stage {
        let next = self.ask(|view| decoration::answered(state, answer, view));
        self.decorating_status(next)
    }

    fn decorating_status(&mut self, next: DecorationNext) -> Stage {
        match next {
            Next::Ask(request, state) => {
                self.send(request);
                Stage::DecoratingStatus(state)
            }
            Next::Done(()) => self.decorated(),
        }
    }

    /// The fields with the conditions of the framework, if these are asked for.
    fn with_conditions(&self, status: Option<ReturnedStatus>) -> Option<ReturnedStatus> {
        let config = self.settings.config();
        if !config.decorator_options().conditions {
            return status;
        }
        let names = ConditionNames::new(&config.name, true);
        let own = |Condition { ty, status, reason, message, .. }: Condition| {
            json!({"type": names.written(&ty), "status": status.as_str(), "reason": reason,
                "message": message})
        };
        let own = conditions::of_report(&self.report()).into_iter().map(own);
        let mut fields = status.map_or_else(|| json!({}), |returned| returned.0);
        match &mut fields["conditions"] {
            Value::Array(conditions) => conditions.extend(own),
            conditions => *conditions = own.collect(),
        }
        Some(ReturnedStatus(fields))
    }

    fn decorated(&mut self) -> Stage {
        self.lap(ReconcileStep::Status);
        let progress = self.journal.progress();
        let is_done = !progress.has_failed() && !progress.waits && self.is_alive();
        if !self.takes_leave() || !is_done {
            return self.finish();
        }
        let now = self.view().parent_now();
        self.parent = now.or_else(|| self.parent.take());
        if self.settings.holds_ours(self.parent()) {
            return self.release();
        }
        self.parent_is(End::Finalized);
        self.finish()
    }
}
