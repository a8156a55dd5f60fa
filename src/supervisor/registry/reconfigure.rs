//! Another configuration of a registered operator.
//!
//! The watches of both configurations are open until the new one has taken effect.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    RegistrationError, in_place,
    members::{Member, Members, Needs},
};
use crate::{
    actors::Reconfigured,
    execute::{Context, Gone},
    object::K8sType,
    operator::OperatorConfig,
    store::Store,
    supervisor::demand,
};

/// A new configuration that has not taken effect.
pub(super) struct Reconfiguring {
    pub(super) name: String,
    /// How many the operator has had.
    pub(super) number: u64,
    pub(super) is_applied: oneshot::Receiver<()>,
}

impl Members {
    /// Gives an operator another configuration.
    pub(super) fn reconfigure(
        &mut self,
        mut config: OperatorConfig,
    ) -> Result<Reconfiguring, RegistrationError> {
        config.plan_only |= self.is_plan_only;
        config.is_sharded = self.sharing.is_some();
        let name = config.name.clone();
        let member = self.running(&name)?;
        let context = member.context.clone().ok_or(RegistrationError::Stopped)?;
        config.validate()?;
        let concerns_all = in_place::concerns_all(context.config(), &config)?;
        let next = Needs {
            sees_all_parents: config.sees_all_parents(context.parts.handler.has_finalizer()),
            is_open: true,
            whole: member.needs.whole.clone(),
            config,
        };
        let changed = self.watch_for(&next);
        let (context, children) = self.context_for(&next.config, &context)?;
        let (applied, is_applied) = oneshot::channel();
        let relies_on = demand::relied_on(&next.config, &self.types.watches());
        self.wiring.show_configuration(&context);
        let new = Reconfigured {
            context: context.clone(),
            children: children.iter().map(Store::reader).collect(),
            relies_on,
            changed,
            concerns_all,
            applied,
        };
        let number = self.hand_over(next, context, new);
        self.wiring.shared_permits.set_limits(self.limits());
        self.publish();
        Ok(Reconfiguring { name, number, is_applied })
    }

    /// Returns the types of which watches are opened or replaced.
    fn watch_for(&mut self, next: &Needs) -> Vec<K8sType> {
        let reread = self.keep_managers(std::iter::once(next));
        let demand = self.demand_with(std::iter::once(next));
        let difference = demand.since(self.types.demand());
        let labels = self.labels_with(std::iter::once(next));
        // Nothing is closed: what the former configuration needs is still in the demand.
        self.types.follow(demand, (&labels, &reread), &self.wiring);
        reread.into_iter().chain(difference.opened).chain(difference.changed).collect()
    }

    fn context_for(
        &self,
        config: &OperatorConfig,
        context: &Context,
    ) -> Result<(Arc<Context>, Vec<Store>), RegistrationError> {
        let children = config.children.iter().map(|child| self.types.store(&child.ty));
        let children: Vec<Store> = children.collect();
        let context = context.reconfigured(config.clone(), children.clone())?;
        Ok((Arc::new(context), children))
    }

    fn hand_over(&mut self, next: Needs, context: Arc<Context>, new: Reconfigured) -> u64 {
        let Some(member) = self.operators.get_mut(&next.config.name) else { return 0 };
        member.operator.reconfigure(new);
        // It learns the conditions of the watches again.
        for ty in next.types() {
            self.types.join(&ty, context.name(), &member.operator);
        }
        member.draining = Arc::downgrade(&context);
        (member.context, member.next) = (Some(context), Some(next));
        member.reconfigured += 1;
        member.reconfigured
    }

    /// A new configuration has taken effect: watches that only the earlier configuration needed are closed.
    pub(super) fn settle(&mut self, name: &str, number: u64) -> Vec<(K8sType, Gone)> {
        let Some(Member { needs, next, reconfigured, .. }) = self.operators.get_mut(name) else {
            return Vec::new();
        };
        let Some(next) = next.take_if(|_| *reconfigured == number) else { return Vec::new() };
        *needs = next;
        let used = needs.types();
        if let Ok(operator) = needs.config.operator_name() {
            self.types.part_unless(&operator, &used);
        }
        let closed = self.follow();
        self.publish();
        closed
    }
}
