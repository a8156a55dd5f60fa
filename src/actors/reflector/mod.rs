//! One actor per resource type: it runs the type's watch loops and notifies the operators.

mod awaiting;
mod failing;
mod fallback;
mod listed;
mod rescoped;
mod schema;
mod type_state;

use std::sync::Arc;

use actix::{Actor, AsyncContext, Context, Handler};
use tokio::task::AbortHandle;

pub(crate) use awaiting::Awaited;
use awaiting::Awaiting;

use super::{
    backlog::Batch,
    mailbox::{Metered, Receive},
    messages::{FoundUndecodable, Noted, Observed, WatchChanged, WatchCondition},
    observers::Observer,
    reflecting::{Controlled, Reflecting, Reflects, beat},
    supervised::{self, ActorPanic},
    watching::{Failures, WatchParts},
};
use crate::{
    board::{TypeError, TypeState},
    cluster::{WatchNote, WatchSpec, Watched},
    object::{K8sType, OneLine, Undecodable},
    reply::{ErrorClass, TypeSchema},
    store::{Hold, ScopeId, Store},
};

pub(crate) struct ReflectorParts {
    pub(crate) store: Store,
    pub(crate) scopes: Vec<WatchSpec>,
    pub(crate) watching: WatchParts,
}

/// A started reflector.
pub(crate) type ReflectorHandle = Controlled<Reflector>;

pub(crate) struct Reflector {
    store: Store,
    /// One for each namespace, or one for all followed by its fallbacks; then those that leave.
    scopes: Vec<Scope>,
    /// How often the scopes were changed.
    generation: u64,
    /// The task that reads the schema of the type.
    reading: Option<AbortHandle>,
    /// The schema at the last read.
    schema: Option<Arc<TypeSchema>>,
    /// The state over all scopes.
    state: TypeState,
    /// Who waits until its scopes are listed.
    awaiting: Vec<Awaiting>,
    reflecting: Reflecting<Observed>,
}

struct Scope {
    spec: WatchSpec,
    id: ScopeId,
    /// The generation in which it was added.
    since: u64,
    /// Whether it ends when the scopes that take over are in sync.
    is_leaving: bool,
    /// Its watch loop; `None` before the start and for a resting fallback.
    watching: Option<AbortHandle>,
    condition: WatchCondition,
    error: Option<TypeError>,
    failures: Failures,
    /// The hold on its deletions that has a timer.
    held: Option<Hold>,
}

impl Reflector {
    pub(crate) fn new(ReflectorParts { store, scopes, watching }: ReflectorParts) -> Self {
        let scope = |spec: WatchSpec| {
            let (namespace, selector) = (spec.namespace.clone(), spec.selection());
            let id = store.add_selecting_scope(namespace, selector);
            Scope::new(spec, id, 0)
        };
        let name = format!("reflector/{}", scopes[0].ty.resource_name());
        let scopes = scopes.into_iter().map(scope).collect();
        let reflecting = Reflecting::new(watching, name);
        let (reading, schema, generation, state, awaiting) = <_>::default();
        let reflector =
            Self { store, scopes, generation, reading, schema, state, awaiting, reflecting };
        reflector.fallbacks().for_each(|scope| reflector.rest(scope));
        reflector
    }

    pub(crate) fn start_controlled(self) -> ReflectorHandle {
        Controlled::start(self)
    }

    fn ty(&self) -> &K8sType {
        &self.scopes[0].spec.ty
    }

    fn watched(&self, scope: usize) -> Watched {
        self.scopes[scope].spec.watched()
    }

    /// Starts all but the fallbacks, which are used when the watch of all namespaces is forbidden.
    fn start_loops(&mut self, ctx: &Context<Self>) {
        let fallbacks = self.fallbacks();
        for scope in (0..self.scopes.len()).filter(|scope| !fallbacks.contains(scope)) {
            self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
        }
    }

    fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let Scope { spec, id, .. } = &self.scopes[scope];
        let (ty, watched) = (spec.ty.clone(), (spec.clone(), self.store.clone(), *id));
        let batch = move |changes| Observed { ty: ty.clone(), changes, origin: None };
        self.reflecting.parts.start(ctx.address(), watched, *id, batch)
    }

    fn note(&mut self, id: ScopeId, note: WatchNote, ctx: &mut Context<Self>) {
        // The note was sent before the scope was ended.
        let Some(scope) = self.scopes.iter().position(|scope| scope.id == id) else { return };
        match note {
            // They were published.
            WatchNote::Changed(_) => return,
            WatchNote::Opened => return self.read_schema(ctx),
            WatchNote::Undecodable { object, is_news } => self.undecodable(&object, is_news),
            // The note was sent before the fallback was ended.
            _ if self.rests(scope) => return,
            WatchNote::Synced(settled) => self.synced(scope, settled, ctx),
            WatchNote::Lost => self.store.cut_off(self.scopes[scope].id, true),
            WatchNote::Alive { at } => {
                self.state.last_event = Some(at);
                self.recovered(scope);
            }
            WatchNote::Failed { error, retry_in } => {
                let (watched, shown) = (self.watched(scope), OneLine(&error));
                tracing::warn!(%watched, error = %shown, ?retry_in, "the watch failed");
                self.failed(scope, &error, retry_in);
                if error.class() == ErrorClass::Forbidden {
                    // Its hold would block the deletions of the fallbacks for ever.
                    self.release_deletions_later(scope, ctx);
                }
            }
        }
        let has_taken_over = self.take_over(scope);
        let has_switched = scope == 0 && self.switch_fallbacks(ctx);
        self.report_listed();
        if has_switched || has_taken_over {
            return self.show();
        }
        self.show_scope(scope);
    }

    fn undecodable(&mut self, object: &Undecodable, is_news: bool) {
        self.state.undecodable += 1;
        if is_news {
            tracing::warn!("{}", OneLine(object));
            self.reflecting.observers.post(&FoundUndecodable { object: object.clone() });
        }
    }

    fn is_synced(&self, scope: usize) -> bool {
        self.store.reader().is_scope_synced(self.scopes[scope].id)
    }
}

impl Scope {
    fn new(spec: WatchSpec, id: ScopeId, since: u64) -> Self {
        let (is_leaving, watching, error, failures, held) = <_>::default();
        let condition = WatchCondition::Pending;
        Self { spec, id, since, is_leaving, watching, condition, error, failures, held }
    }
}

impl Reflects for Reflector {
    type Changes = Observed;

    fn title(&self) -> String {
        format!("the reflector of {}", self.ty().resource_name())
    }

    fn reflecting(&self) -> &Reflecting<Observed> {
        &self.reflecting
    }

    fn reflecting_mut(&mut self) -> &mut Reflecting<Observed> {
        &mut self.reflecting
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn welcome(&self, observer: &Observer<Observed>) {
        for scope in 0..self.scopes.len() {
            let condition = self.scopes[scope].condition.clone();
            if condition != WatchCondition::Pending && self.decides(scope, self.generation) {
                observer.post(WatchChanged { watched: self.watched(scope), condition });
            }
        }
    }

    /// No object of the type is deleted until the watches are in sync again.
    fn end(&mut self, panic: &ActorPanic) {
        let fallbacks = self.fallbacks();
        for scope in 0..self.scopes.len() {
            self.scopes[scope].watching.take().iter().for_each(AbortHandle::abort);
            if fallbacks.contains(&scope) {
                self.rest(scope);
            } else {
                self.store.cut_off(self.scopes[scope].id, true);
            }
            let message = panic.sentence();
            self.set_condition(scope, WatchCondition::Failing(message.clone()));
            self.scopes[scope].error = Some(TypeError { message, permission: None });
        }
        self.reading.take().iter().for_each(AbortHandle::abort);
        self.state.restarts += 1;
        self.show();
    }

    /// What failed before the panic does not count.
    fn begin(&mut self, ctx: &mut Context<Self>) {
        self.scopes.iter_mut().for_each(|scope| scope.failures = Failures::default());
        self.start_loops(ctx);
    }
}

impl Actor for Reflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.show();
        beat(ctx);
        self.start_loops(ctx);
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        let loops = self.scopes.iter().filter_map(|scope| scope.watching.as_ref());
        loops.chain(&self.reading).for_each(AbortHandle::abort);
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for Reflector
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        supervised::receive(self, metered, ctx);
    }
}

impl Receive<Noted<ScopeId>> for Reflector {
    fn receive(&mut self, Noted { of, note }: Noted<ScopeId>, ctx: &mut Self::Context) {
        self.note(of, note, ctx);
    }
}

impl Receive<Observed> for Reflector {
    fn receive(&mut self, observed: Observed, _: &mut Self::Context) {
        let (of, changes) = observed.split();
        self.reflecting.observers.notify(&of, &changes);
    }
}

#[cfg(test)]
mod tests;
