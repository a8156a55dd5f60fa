//! The registered operators. The one place that starts and stops an operator of a running process.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

use tokio::sync::oneshot;

use super::{
    RegistrationError,
    sources::Sources,
    types::{Types, Watched},
};
use crate::{
    actors::{Asked, Elected, MeteredRecipient, OperatorHandle, OperatorStateChanged, Sharded},
    board::{OperatorState, ParentFilter},
    cluster::Cluster,
    execute::{Context, Gone},
    object::K8sType,
    operator::{AnyHandler, AnyOperator, ConfigError, OperatorConfig},
    supervisor::{
        RunError,
        demand::{self, Demand, Demanding, Sharing},
        elections::Elections,
        fences::Fences,
        wiring::{Stores, Wiring},
    },
};

pub(crate) struct Members {
    pub(super) wiring: Wiring,
    fences: Fences,
    elections: Elections,
    pub(super) types: Types,
    sources: Sources,
    pub(super) operators: BTreeMap<String, Member>,
    pub(super) is_plan_only: bool,
    /// The types of which webhooks read all objects.
    reads: BTreeSet<K8sType>,
    /// The part of all parents that is watched; `None` for all.
    pub(super) sharing: Option<Sharing>,
    /// How often that changed.
    pub(super) shared: u64,
}

/// A registered operator.
pub(super) struct Member {
    pub(super) needs: Needs,
    /// Held until it goes.
    pub(super) context: Option<Arc<Context>>,
    pub(super) draining: Weak<Context>,
    pub(super) operator: OperatorHandle,
    gone: Option<Gone>,
    /// What it needs once its new configuration has taken effect.
    pub(super) next: Option<Needs>,
    /// How often it was reconfigured.
    pub(super) reconfigured: u64,
}

/// What an operator needs to be watched.
pub(super) struct Needs {
    pub(super) config: OperatorConfig,
    pub(super) sees_all_parents: bool,
    pub(super) is_open: bool,
    pub(super) whole: Vec<K8sType>,
}

/// An operator that goes: its reconciles are to end.
pub(super) struct Leaving {
    pub(super) name: String,
    pub(super) context: Arc<Context>,
    pub(super) operator: OperatorHandle,
    pub(super) gone: Gone,
}

/// How many parents an error names.
const MOST_NAMED: usize = 20;

/// What remains after an operator: watches that are being closed, and its election.
pub(super) struct Remains {
    pub(super) types: Vec<(K8sType, Gone)>,
    pub(super) elected: Option<Elected>,
}

impl Members {
    pub(crate) fn new(
        wiring: Wiring,
        fences: Fences,
        elections: Elections,
        is_plan_only: bool,
    ) -> Self {
        let (types, sources, operators, reads, shared) = <_>::default();
        let sharing = elections.sharded().map(|_| Sharing::default());
        Self {
            wiring,
            fences,
            elections,
            types,
            sources,
            operators,
            is_plan_only,
            reads,
            sharing,
            shared,
        }
    }

    /// The same where webhooks read all objects of these types.
    pub(crate) fn reading(self, reads: BTreeSet<K8sType>) -> Self {
        Self { reads, ..self }
    }

    /// Registers operators at once, so that each watch is opened once. With `is_open` more are expected later.
    pub(crate) fn admit(
        &mut self,
        operators: Vec<AnyOperator>,
        is_open: bool,
    ) -> Result<(), RunError> {
        let mut newcomers = Vec::new();
        for AnyOperator { mut config, handler } in operators {
            config.plan_only |= self.is_plan_only;
            config.is_sharded = self.sharing.is_some();
            let sees_all_parents = config.sees_all_parents(handler.has_finalizer());
            let needs = Needs { config, sees_all_parents, is_open, whole: Vec::new() };
            newcomers.push((needs, handler));
        }
        let reread = self.keep_managers(newcomers.iter().map(|(needs, _)| needs));
        let demand = self.demand_with(newcomers.iter().map(|(needs, _)| needs));
        let watches = demand.watches();
        for (needs, _) in &mut newcomers {
            needs.whole = self.sources.whole_for(&needs.config, &watches);
        }
        let labels = self.labels_with(newcomers.iter().map(|(needs, _)| needs));
        let closed = self.types.follow(demand, (&labels, &reread), &self.wiring);
        debug_assert!(closed.is_empty(), "nobody goes");
        let limits = newcomers.iter().map(|(needs, _)| needs.config.max_concurrent_reconciles);
        self.wiring.shared_permits.set_limits(self.limits().chain(limits));
        for (needs, handler) in newcomers {
            self.start(needs, handler)?;
        }
        self.publish();
        self.show_labelling();
        Ok(())
    }

    fn start(&mut self, needs: Needs, handler: AnyHandler) -> Result<(), RunError> {
        let config = &needs.config;
        self.fences.add(&config.name)?;
        let sources = self.sources.open(config, &needs.whole, (&self.types, &self.wiring));
        let stores = || Stores {
            parents: self.types.store(&config.parent),
            children: config.children.iter().map(|child| self.types.store(&child.ty)).collect(),
            sources: sources.clone(),
            relies_on: demand::relied_on(config, &self.types.watches()),
        };
        let operator = AnyOperator { config: config.clone(), handler };
        let (context, gone) = self.wiring.context(operator, &stores(), &self.fences)?;
        if self.is_plan_only {
            context.gate().hold();
        }
        let operator = self.wiring.start_operator(&context, stores());
        self.elections.join((&context, &operator), &self.wiring, &self.fences);
        let types = needs.types();
        for ty in &types {
            self.types.join(ty, context.name(), &operator);
        }
        self.sources.join(config, context.name(), &operator);
        let name = config.name.clone();
        let (draining, context, gone) = (Arc::downgrade(&context), Some(context), Some(gone));
        let (next, reconfigured) = (None, 0);
        let member = Member { needs, context, draining, operator, gone, next, reconfigured };
        self.operators.insert(name, member);
        Ok(())
    }

    /// Checks an operator that is to be registered.
    pub(super) fn check(
        &self,
        config: &OperatorConfig,
        handler: &AnyHandler,
    ) -> Result<(), RegistrationError> {
        config.validate()?;
        config.validate_handler(handler)?;
        match self.operators.get(&config.name) {
            Some(member) if member.context.is_none() => {
                return Err(RegistrationError::Leaving(config.name.clone()));
            }
            Some(_) => return Err(ConfigError::Duplicate(config.name.clone()).into()),
            None => {}
        }
        for other in self.needs_with([].into_iter()) {
            config.validate_beside(&other.config)?;
        }
        Ok(())
    }

    /// Begins to finalize the parents of an operator.
    pub(super) fn finalize(
        &mut self,
        name: &str,
    ) -> Result<oneshot::Receiver<()>, RegistrationError> {
        let member = self.running(name)?;
        let operator = self.wiring.board.operator(name);
        if !operator.is_some_and(|shown| shown.state == OperatorState::Running) {
            return Err(RegistrationError::NotListed(name.to_owned()));
        }
        Ok(member.operator.finalize())
    }

    /// Why an operator was not finalized.
    pub(super) fn not_finalized(&self, name: &str) -> RegistrationError {
        let all = ParentFilter::default();
        let page = self.wiring.board.parents(name, &all, None, MOST_NAMED);
        let parents = page.map(|page| page.items).unwrap_or_default().into_iter();
        let parents = parents.map(|(key, _)| key.to_string()).collect();
        RegistrationError::NotFinalized { operator: name.to_owned(), parents }
    }

    pub(super) fn running(&self, name: &str) -> Result<&Member, RegistrationError> {
        match self.operators.get(name) {
            Some(member) if member.context.is_none() => {
                Err(RegistrationError::Leaving(name.to_owned()))
            }
            Some(member) => Ok(member),
            None => Err(RegistrationError::Unknown(name.to_owned())),
        }
    }

    /// Begins the removal of an operator.
    pub(super) fn dismiss(&mut self, name: &str) -> Result<Leaving, RegistrationError> {
        let unknown = || RegistrationError::Unknown(name.to_owned());
        let member = self.operators.get_mut(name).ok_or_else(unknown)?;
        let (Some(context), Some(gone)) = (member.context.take(), member.gone.take()) else {
            return Err(RegistrationError::Leaving(name.to_owned()));
        };
        let operator = member.operator.clone();
        Ok(Leaving { name: name.to_owned(), context, operator, gone })
    }

    /// Removes an operator whose actors have ended.
    pub(super) fn remove(&mut self, name: &str) -> Remains {
        let (mut types, mut elected) = (Vec::new(), None);
        if let Some(member) = self.operators.remove(name)
            && let Ok(name) = member.needs.config.operator_name()
        {
            self.types.part(&name);
            self.sources.part(&name);
            elected = self.elections.part(&name);
            self.fences.remove(name.as_str());
            types = self.follow();
            let readers = self.operators.values().map(|member| &member.needs.config);
            types.extend(self.sources.close_unread(readers, &self.wiring));
            self.publish();
            self.wiring.shared_permits.set_limits(self.limits());
            self.wiring.board.unregister(&name);
            self.wiring.metrics.operator_removed(&name);
            let gone = OperatorStateChanged { operator: name, state: None };
            // Nobody listens when the process is stopping.
            let _ = self.wiring.states.send(gone);
        }
        Remains { types, elected }
    }

    /// Removes the metrics of types that nothing watches any more.
    pub(super) fn forget(&self, types: &[K8sType]) {
        for ty in types {
            if !self.types.is_watched(ty) && !self.sources.is_watched(ty) {
                self.wiring.metrics.type_removed(ty);
            }
        }
    }

    pub(super) fn election_ended(&self, lease: &str) {
        self.wiring.metrics.election_ended(lease);
    }

    pub(super) fn web_requests(&self, operator: &str) -> Option<MeteredRecipient<Asked>> {
        Some(self.operators.get(operator)?.operator.web_requests())
    }

    /// The operators that are running, or going.
    pub(crate) fn contexts(&self) -> Vec<Arc<Context>> {
        self.operators.values().filter_map(|member| member.draining.upgrade()).collect()
    }

    /// The connection of migrations, which writes only while this process leads with an operator of parents of this type. If
    /// there is none, any operator stands for the process.
    pub(crate) fn connection_for(&self, ty: &K8sType) -> Cluster {
        let is_of_type =
            |config: &&OperatorConfig| ty.resource_name() == config.parent.resource_name();
        let configs = || self.operators.values().map(|member| &member.needs.config);
        let config = configs().find(is_of_type).or_else(|| configs().next());
        let cluster = self.wiring.cluster.in_the_name_of("migration");
        self.fences.behind_any(cluster, config.map(|config| config.name.as_str()))
    }

    pub(crate) fn sharded(&self) -> Option<&Sharded> {
        self.elections.sharded()
    }

    pub(crate) fn elected(&self) -> Vec<Elected> {
        self.elections.all()
    }

    pub(crate) fn watched(&self) -> Watched {
        self.types.watched.clone()
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.operators.keys().cloned().collect()
    }
}

// === what they need ===

impl Members {
    pub(super) fn demand_with<'a>(&'a self, newcomers: impl Iterator<Item = &'a Needs>) -> Demand {
        let demanding: Vec<Demanding<'_>> =
            self.needs_with(newcomers).map(Needs::demanding).collect();
        let labels = demanding.iter().map(|it| it.config.labels.parent_uid.clone()).collect();
        let sharing = self.sharing.clone();
        let sharing = sharing.map(|sharing| Sharing { parent_labels: labels, ..sharing });
        Demand::of(&demanding, &self.reads).continuing(self.types.demand()).shared(sharing)
    }

    /// Closes what nobody needs any more.
    pub(super) fn follow(&mut self) -> Vec<(K8sType, Gone)> {
        let demand = self.demand_with([].into_iter());
        self.types.follow(demand, (&BTreeSet::new(), &BTreeSet::new()), &self.wiring)
    }

    pub(super) fn labels_with<'a>(
        &'a self,
        newcomers: impl Iterator<Item = &'a Needs>,
    ) -> BTreeSet<String> {
        self.needs_with(newcomers).map(|it| it.config.labels.parent_uid.clone()).collect()
    }

    fn needs_with<'a>(
        &'a self,
        newcomers: impl Iterator<Item = &'a Needs>,
    ) -> impl Iterator<Item = &'a Needs> {
        self.operators.values().flat_map(Member::all_needs).chain(newcomers)
    }

    pub(super) fn limits(&self) -> impl Iterator<Item = usize> {
        let needs = self.operators.values().flat_map(Member::all_needs);
        needs.map(|needs| needs.config.max_concurrent_reconciles)
    }

    pub(super) fn publish(&self) {
        let needs = || self.operators.values().flat_map(Member::all_needs);
        let configs: Vec<&OperatorConfig> = needs().map(|needs| &needs.config).collect();
        let read = needs().flat_map(|needs| &needs.whole).cloned().collect();
        self.wiring.published.set(self.types.published(), &configs, &read);
    }
}

impl Member {
    fn all_needs(&self) -> impl Iterator<Item = &Needs> {
        [&self.needs].into_iter().chain(&self.next)
    }
}

impl Needs {
    /// The types of which it watches objects.
    pub(super) fn types(&self) -> BTreeSet<K8sType> {
        let children = self.config.children.iter().map(|child| &child.ty);
        children.chain([&self.config.parent]).chain(&self.whole).cloned().collect()
    }

    fn demanding(&self) -> Demanding<'_> {
        let Self { config, sees_all_parents, is_open, whole } = self;
        Demanding { config, sees_all_parents: *sees_all_parents, is_open: *is_open, whole }
    }
}
