//! One actor per resource type: it keeps the type's watch loops running and tells the operators.

use std::{fmt, sync::Arc};

use actix::{Actor, AsyncContext, Context, Handler, Recipient};
use tokio::{runtime::Handle, task::AbortHandle};

use super::messages::{Noted, Observed, Published, TypeChanged, TypeCondition};
use crate::{
    board::{Board, TypeError, TypeState},
    cluster::{ApiError, Cluster, ErrorClass, WatchNote, WatchSpec, watch},
    store::{Change, ScopeId, Settled, Store},
};

/// What a [`Reflector`] is made of.
pub struct ReflectorParts {
    /// The store that it fills.
    pub store: Store,
    /// The watches that fill it.
    pub scopes: Vec<WatchSpec>,
    /// The API server.
    pub cluster: Cluster,
    /// Where watch loops run.
    pub runtime: Handle,
    /// Where the state of the type is shown.
    pub board: Board,
}

/// Keeps the store of one type equal to the API server.
pub struct Reflector {
    parts: ReflectorParts,
    scope_ids: Vec<ScopeId>,
    loops: Vec<AbortHandle>,
    state: TypeState,
    condition: TypeCondition,
    /// How many times in a row the watch failed.
    failures: u32,
    observers: Vec<(Recipient<Observed>, Recipient<TypeChanged>)>,
}

/// A type that was never in sync is called failing after so many failures in a row.
const FAILURES_THAT_LAST: u32 = 3;

/// A restored backup holds deletions back for this long.
const HOLD_DELETIONS: std::time::Duration = std::time::Duration::from_mins(1);

impl Reflector {
    /// A reflector that nobody listens to yet.
    pub fn new(parts: ReflectorParts) -> Self {
        let scope_ids =
            parts.scopes.iter().map(|spec| parts.store.add_scope(spec.namespace.clone())).collect();
        let state = TypeState::default();
        let (loops, observers) = (Vec::new(), Vec::new());
        Self {
            parts,
            scope_ids,
            loops,
            state,
            condition: TypeCondition::Pending,
            failures: 0,
            observers,
        }
    }

    /// Adds someone to tell. To be called before the start.
    pub fn add_observer(&mut self, objects: Recipient<Observed>, types: Recipient<TypeChanged>) {
        self.observers.push((objects, types));
    }

    fn start_loop(&self, scope: usize, ctx: &Context<Self>) -> AbortHandle {
        let (cluster, store) = (self.parts.cluster.clone(), self.parts.store.clone());
        let (spec, id) = (self.parts.scopes[scope].clone(), self.scope_ids[scope]);
        let reflector = ctx.address();
        let keep_going = async move {
            loop {
                let reflector = reflector.clone();
                let note = move |note| reflector.do_send(Noted { scope, note });
                let watching = watch(cluster.clone(), spec.clone(), store.clone(), id, note);
                // A watch loop ends only by a panic, a bug of ours: the type must not die of it.
                if let Err(error) = tokio::spawn(watching).await {
                    tracing::error!(ty = %spec.ty, %error, "the watch loop died; it starts anew");
                }
            }
        };
        self.parts.runtime.spawn(keep_going).abort_handle()
    }

    fn tell(&self, changes: Vec<Change>, origin: Option<crate::reconcile::Origin>) {
        if changes.is_empty() {
            return;
        }
        let observed = Observed { ty: self.ty().clone(), changes: Arc::from(changes), origin };
        for (observer, _) in &self.observers {
            observer.do_send(observed.clone());
        }
    }

    fn set_condition(&mut self, condition: TypeCondition) {
        if self.condition == condition {
            return;
        }
        self.condition = condition;
        let changed = TypeChanged { ty: self.ty().clone(), condition: self.condition.clone() };
        for (_, observer) in &self.observers {
            observer.do_send(changed.clone());
        }
    }

    fn ty(&self) -> &crate::object::K8sType {
        &self.parts.scopes[0].ty
    }

    fn note(&mut self, scope: usize, note: WatchNote, ctx: &mut Context<Self>) {
        match note {
            WatchNote::Changed(changes) => self.tell(changes, None),
            WatchNote::Synced(settled) => self.synced(settled, ctx),
            WatchNote::Alive { at, version } => {
                self.state.last_event = Some(at);
                self.state.last_version = version;
                self.recovered();
            }
            WatchNote::Failed { error, retry_in } => {
                let (ty, namespace) = (self.ty(), &self.parts.scopes[scope].namespace);
                tracing::warn!(%ty, ?namespace, %error, ?retry_in, "the watch failed");
                self.failures += 1;
                self.state.restarts += 1;
                self.state.error = Some(self.type_error(&error));
                if self.is_lasting(&error) {
                    self.set_condition(TypeCondition::Failing(self.why(&error)));
                }
            }
            WatchNote::Undecodable(why) => {
                tracing::warn!(ty = %self.ty(), why, "an object cannot be read and is left out");
                self.state.undecodable += 1;
            }
        }
        self.parts.board.set_type(self.ty(), self.state.clone());
    }

    fn synced(&mut self, settled: Settled, ctx: &mut Context<Self>) {
        if settled == Settled::WentBack {
            tracing::error!(ty = %self.ty(),
                "versions went back: the API server was restored from a backup; \
                 deletions of this type are held for a minute");
            let store = self.parts.store.clone();
            ctx.run_later(HOLD_DELETIONS, move |_, _| store.release_deletions());
        }
        self.state.synced = self.parts.store.reader().is_synced();
        self.recovered();
    }

    /// A type that is in sync survives a lost connection, but not a lost permission; one that is
    /// not may fail a few times (the storage of a new CRD takes a moment).
    fn is_lasting(&self, error: &ApiError) -> bool {
        let is_synced = self.parts.store.reader().is_synced();
        matches!(error.class(), ErrorClass::Forbidden | ErrorClass::NotServed)
            || (!is_synced && self.failures >= FAILURES_THAT_LAST)
    }

    fn recovered(&mut self) {
        self.failures = 0;
        self.state.error = None;
        if self.parts.store.reader().is_synced() {
            self.set_condition(TypeCondition::Synced);
        }
    }

    fn type_error(&self, error: &ApiError) -> TypeError {
        let permission = || format!("get, list, watch on {}", self.ty().resource_name());
        let is_forbidden = error.class() == ErrorClass::Forbidden;
        TypeError { message: error.to_string(), permission: is_forbidden.then(permission) }
    }

    /// The error with what to do about it.
    fn why(&self, error: &ApiError) -> String {
        let name = self.ty().resource_name();
        match error.class() {
            ErrorClass::Forbidden => {
                format!("missing permission: get, list, watch on {name}; {error}")
            }
            ErrorClass::NotServed => {
                format!("the API server does not serve {name}: install its CRD; {error}")
            }
            ErrorClass::Retry
            | ErrorClass::Conflict
            | ErrorClass::Missing
            | ErrorClass::Wait(_)
            | ErrorClass::Permanent => format!("{name}: {error}"),
        }
    }
}

impl Actor for Reflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.parts.board.set_type(self.ty(), self.state.clone());
        self.loops = (0..self.scope_ids.len()).map(|scope| self.start_loop(scope, ctx)).collect();
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        self.loops.iter().for_each(AbortHandle::abort);
    }
}

impl Handler<Noted> for Reflector {
    type Result = ();

    fn handle(&mut self, Noted { scope, note }: Noted, ctx: &mut Self::Context) {
        self.note(scope, note, ctx);
    }
}

impl Handler<Published> for Reflector {
    type Result = ();

    fn handle(&mut self, Published { change, origin }: Published, _: &mut Self::Context) {
        self.tell(vec![change], origin);
    }
}

impl fmt::Debug for Reflector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reflector({})", self.ty())
    }
}

impl fmt::Debug for ReflectorParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReflectorParts({:?})", self.store)
    }
}
