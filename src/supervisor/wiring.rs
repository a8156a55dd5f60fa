//! Creates the stores and actors and connects them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use kube::Client;
use tokio::{runtime::Handle, sync::mpsc::UnboundedSender};

use super::{
    RunError,
    demand::{self, Demanding, Watches},
    fences::Fences,
    published::PublishedTo,
    running,
    web_requests::Operators,
};
use crate::{
    actors::{
        ArbiterPool, Asked, MeteredRecipient, OperatorActor, OperatorParts, OperatorStateChanged,
        Reflector, ReflectorParts, RelatedParts, RelatedReflector,
    },
    board::{BEAT_EVERY, Board, OperatorInfo, Reader, ReconcileStage},
    cluster::{Cluster, WatchSpec},
    execute::{Context, ContextParts, ParentTypes, RequestPermits, SharedPermits, Show},
    journal::Failure,
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object},
    operator::{AnyHandler, OperatorConfig, OperatorName},
    related::{Reads, Source, SourceSpec},
    store::Store,
    web::Program,
};

type Registered = (OperatorConfig, AnyHandler);

/// The actors of related types.
type RelatedReflectors = Vec<(SourceSpec, RelatedReflector)>;

/// What all parts of the process share.
pub(super) struct Wiring {
    pub(super) cluster: Cluster,
    pub(super) runtime: Handle,
    pub(super) board: Board,
    pub(super) metrics: Metrics,
    watches: Watches,
    stores: BTreeMap<K8sType, Store>,
    sources: Vec<Source>,
    states: UnboundedSender<OperatorStateChanged>,
    pub(super) fences: Fences,
    published: PublishedTo,
    shared_permits: SharedPermits,
    requests: RequestPermits,
    parent_types: ParentTypes,
}

/// The started operators of a process.
pub(super) struct Started {
    pub(super) contexts: Vec<Arc<Context>>,
    pub(super) operators: Operators,
}

impl Wiring {
    pub(super) fn new(
        (client, program): (Client, &Program),
        runtime: Handle,
        operators: &[Registered],
        states: UnboundedSender<OperatorStateChanged>,
        fences: Fences,
    ) -> Self {
        let configs: Vec<&OperatorConfig> = operators.iter().map(|(config, _)| config).collect();
        let demanding: Vec<Demanding<'_>> = operators
            .iter()
            .map(|(config, handler)| Demanding {
                config,
                sees_all_parents: config.sees_all_parents(handler.has_finalizer()),
            })
            .collect();
        let watches = demand::watches(&demanding);
        let labels: BTreeSet<String> =
            configs.iter().map(|config| config.labels.parent_uid.clone()).collect();
        let stores = watches.keys().map(|ty| (ty.clone(), Store::new(ty.clone(), labels.clone())));
        let stores: BTreeMap<K8sType, Store> = stores.collect();
        let managers = configs.iter().flat_map(|config| {
            let own = [&config.name].into_iter().chain(&config.predecessor.field_managers);
            own.chain(&config.beside).cloned()
        });
        let managers = KeptManagers::new(managers).with_labels_of_operators(&labels);
        let metrics = Metrics::new();
        let sources = demand::sources(&configs);
        let related = sources.iter().map(|source| &source.ty);
        let types: BTreeSet<&K8sType> = watches.keys().chain(related).collect();
        metrics.tell_apart(&types.iter().copied().collect::<Vec<_>>());
        for ty in types {
            metrics.type_registered(ty);
        }
        let cluster =
            Cluster::new(client, metrics.clone(), managers).with_settings(program.settings);
        let limits = configs.iter().map(|config| config.max_concurrent_reconciles);
        Self {
            shared_permits: SharedPermits::for_limits(limits),
            requests: RequestPermits::default(),
            parent_types: ParentTypes::default(),
            cluster: match &program.name {
                Some((name, version)) => cluster.of_program(name, version),
                None => cluster,
            },
            runtime,
            board: Board::new(),
            metrics,
            sources: sources_for(sources, &watches, &stores),
            stores,
            watches,
            states,
            fences,
            published: PublishedTo::default(),
        }
    }

    /// Starts every actor. The reflectors start last, when all operators are their observers.
    pub(super) fn start(
        &self,
        operators: Vec<Registered>,
        pool: &ArbiterPool,
    ) -> Result<Started, RunError> {
        self.start_pulse_of_runtime();
        let mut reflectors = self.reflectors();
        let mut related = self.related_reflectors();
        let (mut contexts, mut operators_by_name) = (Vec::new(), Operators::new());
        for (config, handler) in operators {
            let context = Arc::new(self.context(config, handler)?);
            let operator = self.start_operator(&context, pool, (&mut reflectors, &mut related));
            operators_by_name.insert(context.name().to_string(), operator);
            contexts.push(context);
        }
        let recipients =
            reflectors.into_iter().map(|(ty, reflector)| (ty, reflector.start_counted()));
        let configs: Vec<&OperatorConfig> =
            contexts.iter().map(|context| context.config()).collect();
        self.published.open(recipients.collect(), &configs);
        for (_, reflector) in related {
            reflector.start_poked();
        }
        Ok(Started { contexts, operators: operators_by_name })
    }

    pub(super) fn watched(&self) -> running::Watches {
        let each = |(ty, specs): (&K8sType, &Vec<WatchSpec>)| {
            let reader = self.stores[ty].reader();
            specs.iter().map(move |spec| (spec.clone(), reader.clone())).collect::<Vec<_>>()
        };
        let stores = self.watches.iter().flat_map(each).collect();
        running::Watches { cluster: self.cluster.clone(), stores }
    }

    fn start_pulse_of_runtime(&self) {
        let pulse = self.board.pulse("runtime".to_owned(), Instant::now());
        self.runtime.spawn(async move {
            loop {
                tokio::time::sleep(BEAT_EVERY).await;
                pulse.beat(Instant::now());
            }
        });
    }

    fn reflectors(&self) -> BTreeMap<K8sType, Reflector> {
        let reflector = |(ty, scopes): (&K8sType, &Vec<WatchSpec>)| {
            let store = self.stores[ty].clone();
            self.board.add_store(store.reader());
            let parts = ReflectorParts {
                store,
                scopes: scopes.clone(),
                cluster: self.cluster.clone(),
                runtime: self.runtime.clone(),
                board: self.board.clone(),
                mailbox: self.metrics.mailbox("reflector", &self.metrics.type_label(ty)),
            };
            (ty.clone(), Reflector::new(parts))
        };
        self.watches.iter().map(reflector).collect()
    }

    /// The actors of the related types that need watches of their own.
    fn related_reflectors(&self) -> RelatedReflectors {
        let reflector = |source: &Source| {
            let spec = source.spec().clone();
            self.board.add_source(source.clone());
            let label = self.metrics.type_label(&spec.ty);
            let parts = RelatedParts {
                source: source.clone(),
                cluster: self.cluster.clone(),
                runtime: self.runtime.clone(),
                board: self.board.clone(),
                mailbox: self.metrics.mailbox("related", &label),
            };
            (spec, RelatedReflector::new(parts))
        };
        self.sources.iter().filter(|source| !source.is_whole()).map(reflector).collect()
    }

    fn sources_of(&self, config: &OperatorConfig) -> Vec<Source> {
        let of_spec =
            |spec: SourceSpec| self.sources.iter().find(|source| *source.spec() == spec).cloned();
        demand::source_specs(config).filter_map(of_spec).collect()
    }

    fn start_operator(
        &self,
        context: &Arc<Context>,
        pool: &ArbiterPool,
        (reflectors, related): (&mut BTreeMap<K8sType, Reflector>, &mut RelatedReflectors),
    ) -> MeteredRecipient<Asked> {
        let config = context.config();
        self.board.register(OperatorInfo {
            name: context.name().clone(),
            config: config.clone(),
            has_finalizer: config.needs_finalizer(context.parts.handler.has_finalizer()),
        });
        let gate = context.gate().clone();
        self.board.show_queue(context.name(), Reader::new(move || gate.look()));
        self.board.show_related(context.name(), context.parts.reads.clone());
        let undeclared = context.undeclared.clone();
        let undeclared = Reader::new(move || undeclared.fields());
        self.board.show_undeclared(context.name(), undeclared);
        self.metrics.operator_registered(context.name(), config);
        let reader = |ty: &K8sType| self.stores[ty].reader();
        let mailbox = self.metrics.mailbox("operator", context.name().as_str());
        let operator = OperatorActor::start(OperatorParts {
            context: context.clone(),
            parents: reader(&config.parent),
            children: config.children.iter().map(|child| reader(&child.ty)).collect(),
            relies_on: demand::relied_on(config, &self.watches),
            runtime: self.runtime.clone(),
            pool: pool.clone(),
            board: self.board.clone(),
            states: self.states.clone(),
            mailbox: mailbox.clone(),
        });
        let reads = &context.parts.reads;
        let whole = config.related.iter().map(|related| &related.ty);
        let whole = whole.filter(|ty| reads.whole(ty).is_some());
        let children = config.children.iter().map(|child| &child.ty);
        let types: BTreeSet<&K8sType> = children.chain([&config.parent]).chain(whole).collect();
        for (spec, reflector) in related.iter_mut() {
            if demand::source_specs(config).any(|needed| needed == *spec) {
                reflector.add_observer(&operator, &mailbox);
            }
        }
        for ty in types {
            if let Some(reflector) = reflectors.get_mut(ty) {
                reflector.add_observer(&operator, &mailbox);
            }
        }
        OperatorActor::web_requests(&operator, &mailbox)
    }

    fn context(&self, config: OperatorConfig, handler: AnyHandler) -> Result<Context, RunError> {
        let (board, name) = (self.board.clone(), config.operator_name()?);
        let show: Show =
            Arc::new(move |parent, failure| show_overdue(&board, &name, parent, failure));
        Ok(Context::new(ContextParts {
            shared_permits: self.shared_permits.clone(),
            requests: self.requests.clone(),
            parent_types: self.parent_types.clone(),
            cluster: self.fences.behind(self.cluster.in_the_name_of(&config.name), &config.name),
            parents: self.stores[&config.parent].clone(),
            children: config.children.iter().map(|child| self.stores[&child.ty].clone()).collect(),
            reads: Arc::new(Reads::new(self.sources_of(&config))),
            metrics: self.metrics.clone(),
            publish: self.published.publish(),
            show,
            config,
            handler,
        })?)
    }
}

/// Shows that the handler of a parent is overdue, beside its last reconciles.
fn show_overdue(board: &Board, operator: &OperatorName, parent: &Object, failure: &Failure) {
    board.update_parent(operator, parent.key(), parent.uid(), |state| {
        state.message = Some(failure.to_string());
        state.set_stage(ReconcileStage::HandlerTimeout);
    });
}

/// The sources of related types. One whose objects are all watched for other reasons uses that store.
fn sources_for(
    specs: Vec<SourceSpec>,
    watches: &Watches,
    stores: &BTreeMap<K8sType, Store>,
) -> Vec<Source> {
    let source = |spec: SourceSpec| match stores.get(&spec.ty) {
        Some(store) if demand::has_all(watches, &spec) => Source::of_store(spec, store.reader()),
        _ => Source::new(spec),
    };
    specs.into_iter().map(source).collect()
}
