//! What a decorator does after the children: puts labels, annotations and status fields on the parent, and
//! removes them from a parent that left the selection.

use serde_json::{Value, json};

use super::{
    Machine, Moment,
    begin::waits_for_the_end,
    parent::{
        decoration::{self, Wanted},
        status::Returned,
    },
    stage::{Awaited, Stage},
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

impl Machine {
    /// Whether the decorator removes what it added to the parent.
    pub(super) fn takes_leave(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| self.settings.takes_leave(parent))
    }

    /// Removes the children, and then what is on the parent.
    pub(super) fn leave(&mut self, at: &Moment<'_>) {
        let Some(parent) = self.parent.clone() else { return };
        self.begin_drift(at);
        self.observed = self.view(at, |view| view.snapshot.observed(&parent)).unwrap_or_default();
        self.decoration = Some(Decoration::default());
        if let Ok(plan) = self.planned(Desired::default(), at) {
            self.carry_out(plan, None, at);
        }
    }

    pub(super) fn decorate(
        &mut self,
        decoration: Decoration,
        status: Option<Returned>,
        at: &Moment<'_>,
    ) {
        if let Some(by) = self.paused_by_now(at) {
            let name = self.settings.name();
            let is_due = self.view(at, |view| decoration.write(view.parent, name).is_some());
            if is_due.unwrap_or_default() {
                let waits = waits_for_the_end(by, "decoration");
                self.note([waits, Fact::Paused(Pause { by, held: Held::Undecided })], at);
            }
            return self.conclude(status, at);
        }
        self.stage = Stage::Decorating(status);
        let wanted = Wanted::Metadata(decoration);
        let next = self.ask(at, |view| decoration::begin(wanted, view));
        self.decoration_next(next, at);
    }

    pub(super) fn decoration_next(&mut self, next: Option<decoration::Next>, at: &Moment<'_>) {
        if let Some(decoration::Next::Ask(request, state)) = next {
            return self.send(request, Awaited::Decoration(state));
        }
        match std::mem::replace(&mut self.stage, Stage::WritingStatus) {
            Stage::Decorating(status) => self.conclude(status, at),
            _ => self.decorated(at),
        }
    }

    /// Writes the status fields of a decorator, if that is asked for.
    pub(super) fn decorate_status(&mut self, status: Option<Returned>, at: &Moment<'_>) {
        self.stage = Stage::WritingStatus;
        let news = self.memory.flapping().news();
        self.note(news.into_iter().map(|(why, message)| Fact::Flapping(why, message)), at);
        self.note([Fact::StatusBegan], at);
        let config = self.settings.config();
        let (has_fields, writes) =
            (config.decorator_options().status_fields, config.writes_status());
        if !has_fields && status.as_ref().is_some_and(|returned| !returned.0.is_null()) {
            self.note([Fact::Overruled(NO_STATUS)], at);
        }
        let status = status.filter(|returned| has_fields && !returned.0.is_null());
        // After an error the fields stay as they are.
        let is_answer = status.is_some() || self.settings.config().decorator_options().conditions;
        if !writes || self.paused_by_now(at).is_some() || !(is_answer || self.takes_leave()) {
            return self.decorated(at);
        }
        let wanted = Wanted::Status(if self.takes_leave() {
            None
        } else {
            self.with_conditions(status, at)
        });
        let next = self.ask(at, |view| decoration::begin(wanted, view));
        self.decoration_next(next, at);
    }

    /// The fields with the conditions of the framework, if these are asked for.
    fn with_conditions(&self, status: Option<Returned>, at: &Moment<'_>) -> Option<Returned> {
        let config = self.settings.config();
        if !config.decorator_options().conditions {
            return status;
        }
        let names = ConditionNames::new(&config.name, true);
        let own = |Condition { ty, status, reason, message, .. }: Condition| {
            json!({"type": names.written(&ty), "status": status.as_str(), "reason": reason,
                "message": message})
        };
        let own = conditions::of_report(&self.report(at)).into_iter().map(own);
        let mut fields = status.map_or_else(|| json!({}), |returned| returned.0);
        match &mut fields["conditions"] {
            Value::Array(conditions) => conditions.extend(own),
            conditions => *conditions = own.collect(),
        }
        Some(Returned(fields))
    }

    fn decorated(&mut self, at: &Moment<'_>) {
        self.lap(ReconcileStep::Status, at);
        let progress = self.journal.progress();
        let is_done = !progress.has_failed() && !progress.waits && self.is_alive();
        if !self.takes_leave() || !is_done {
            return self.finish(at);
        }
        let (key, uid) = (self.key.clone(), self.uid.clone());
        let now = self.view(at, |view| view.snapshot.parent(&key, &uid)).flatten();
        self.parent = now.or_else(|| self.parent.take());
        if self.parent.as_ref().is_some_and(|parent| self.settings.holds_ours(parent)) {
            return self.release(at);
        }
        self.parent_is(End::Finalized, at);
        self.finish(at);
    }
}
