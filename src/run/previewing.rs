//! The preview of a reconcile: the handler is called and its answer is planned. No request is sent and no finalizer is
//! changed; the plan is for the cached state, or for another version of the parent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Previewed, parent::foreseen, reconcile::Reconcile, stage::Stage};
use crate::{
    journal::{Fact, Failure},
    object::Object,
    operator::{ConflictPolicy, Decoration},
    plan::{ChildId, Desired, Plan, Refusal},
};

impl Reconcile {
    pub(super) fn preview(&mut self, instead: Option<Object>) -> Stage {
        self.preview = Some(Box::default());
        self.parent = instead.or_else(|| self.cached_parent());
        let is_staying = self.parent.as_ref().is_some_and(|it| !self.settings.is_leaving(it));
        match self.snapshot.unavailable.clone() {
            _ if !is_staying => self.finish(),
            Some(why) => self.preview_failed(Failure::Unavailable(why)),
            None => self.handle(),
        }
    }

    pub(super) fn preview_failed(&mut self, failure: Failure) -> Stage {
        self.note([Fact::Failed(failure)]);
        self.finish()
    }

    pub(super) fn preview_planned(
        &mut self,
        (desired, status): (Desired, Option<&Value>),
        decoration: &Decoration,
    ) -> Stage {
        match self.planned_as_if_uncontested(desired) {
            Ok(mut previewed) => {
                let config = self.settings.config();
                let status = status
                    .filter(|_| !config.is_decorator() || config.decorator_options().status_fields);
                previewed.parent = foreseen::patch(&self.view(), status);
                let (parent, name) = (self.parent(), self.settings.name());
                let write = decoration.write(parent, name);
                previewed.plan.steps.extend(write.map(|write| write.into_step(parent)));
                self.preview = Some(Box::new(previewed));
                self.finish()
            }
            Err(refusals) => self.preview_failed(Failure::Refused(refusals)),
        }
    }

    fn planned_as_if_uncontested(&mut self, desired: Desired) -> Result<Previewed, Vec<Refusal>> {
        let plan = self.planned(desired.clone())?;
        let contested = contested(&plan);
        if contested.is_empty() {
            return Ok(Previewed { plan, contested, ..Previewed::default() });
        }
        let mut last_applied = self.memory.last_applied().clone();
        for id in contested.keys() {
            last_applied.forget(id);
        }
        self.memory.set_last_applied(last_applied);
        Ok(Previewed { plan: self.planned(desired)?, contested, ..Previewed::default() })
    }
}

fn contested(plan: &Plan) -> BTreeMap<ChildId, String> {
    let reported = plan.last_applied.contested().filter(|it| it.policy == ConflictPolicy::Report);
    reported.map(|it| (it.id.clone(), it.why().to_string())).collect()
}
