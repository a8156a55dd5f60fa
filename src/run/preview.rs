//! The preview of a reconcile: the handler is called and its answer is planned. No request is sent and no finalizer is
//! changed; the plan is for the cached state, or for another version of the parent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Machine, Moment, Previewed, Purpose, parent::foreseen};
use crate::{
    journal::{Fact, Failure},
    object::Object,
    operator::{ConflictPolicy, Decoration},
    plan::{ChildId, Desired, Plan, Refusal},
};

impl Machine {
    pub(super) fn preview(&mut self, instead: Option<Object>, at: &Moment<'_>) {
        self.preview = Some(Box::default());
        self.parent = instead.or_else(|| at.snapshot.parent(&self.key, &self.uid));
        let is_staying = self.parent.as_ref().is_some_and(|it| !self.settings.is_leaving(it));
        match at.snapshot.unavailable(&self.key) {
            _ if !is_staying => self.finish(at),
            Some(why) => self.preview_failed(Failure::Unavailable(why), at),
            None => self.call(Purpose::Sync, at),
        }
    }

    pub(super) fn preview_failed(&mut self, failure: Failure, at: &Moment<'_>) {
        self.note([Fact::Failed(failure)], at);
        self.finish(at);
    }

    pub(super) fn preview_planned(
        &mut self,
        (desired, status): (Desired, Option<&Value>),
        decoration: &Decoration,
        at: &Moment<'_>,
    ) {
        match self.planned_as_if_uncontested(desired, at) {
            Ok(mut previewed) => {
                let config = self.settings.config();
                let status = status
                    .filter(|_| !config.is_decorator() || config.decorator_options().status_fields);
                previewed.parent = self.view(at, |view| foreseen::patch(view, status)).flatten();
                let write =
                    self.view(at, |view| decoration.write(view.parent, view.settings.name()));
                let on_parent = write.flatten().zip(self.parent.as_ref());
                let step = on_parent.map(|(write, parent)| write.into_step(parent));
                previewed.plan.steps.extend(step);
                self.preview = Some(Box::new(previewed));
                self.finish(at);
            }
            Err(refusals) => self.preview_failed(Failure::Refused(refusals), at),
        }
    }

    fn planned_as_if_uncontested(
        &mut self,
        desired: Desired,
        at: &Moment<'_>,
    ) -> Result<Previewed, Vec<Refusal>> {
        let plan = self.planned(desired.clone(), at)?;
        let contested = contested(&plan);
        if contested.is_empty() {
            return Ok(Previewed { plan, contested, ..Previewed::default() });
        }
        let mut last_applied = self.memory.last_applied().clone();
        for id in contested.keys() {
            last_applied.forget(id);
        }
        self.memory.set_last_applied(last_applied);
        Ok(Previewed { plan: self.planned(desired, at)?, contested, ..Previewed::default() })
    }
}

fn contested(plan: &Plan) -> BTreeMap<ChildId, String> {
    let reported = plan.last_applied.contested().filter(|it| it.policy == ConflictPolicy::Report);
    reported.map(|it| (it.id.clone(), it.why().to_string())).collect()
}
