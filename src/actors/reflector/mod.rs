//! One actor per resource type: it runs the type's watch loops and notifies the operators.

mod control;
mod fallback;
pub(super) mod handle;
mod loops;
mod messages;
mod observers;
mod rescoped;
mod restarting;
mod schema;
mod type_state;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use actix::{Actor, AsyncContext, Context, Handler};
use tokio::{runtime::Handle, task::AbortHandle};

use self::observers::Observers;
use super::{
    mailbox::{Metered, Receive, post},
    messages::{Noted, Published, Turn, WatchCondition},
    supervised::{self, Supervision, guarded},
    watching::{DEGRADED_AFTER, MAX_FAILURES, is_refused},
};
use crate::{
    board::{BEAT_EVERY, Board, Pulse, TypeError, TypeState},
    cluster::{Cluster, WatchNote, WatchSpec, Watched},
    execute::{Alive, now},
    metrics::MailboxDepth,
    object::{K8sType, OneLine, Undecodable},
    reply::{ApiError, ErrorClass, TypeSchema},
    store::{Hold, ScopeId, Settled, Store},
};

pub(crate) struct ReflectorParts {
    pub(crate) store: Store,
    pub(crate) scopes: Vec<WatchSpec>,
    pub(crate) cluster: Cluster,
    /// Where watch loops run.
    pub(crate) runtime: Handle,
    pub(crate) board: Board,
    pub(crate) mailbox: MailboxDepth,
    /// Held by the actor and its tasks.
    pub(crate) alive: Alive,
}

pub(crate) struct Reflector {
    parts: ReflectorParts,
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
    observers: Observers,
    pulse: Pulse,
    supervision: Supervision,
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
    /// How many attempts in a row failed.
    failures: u32,
    /// When the first of these failed.
    failing_since: Instant,
    /// The hold on its deletions that has a timer.
    held: Option<Hold>,
}

/// Deletions are also held if the next retry is so far away.
const LONG_DELAY: Duration = Duration::from_secs(15);

impl Reflector {
    pub(crate) fn new(parts: ReflectorParts) -> Self {
        let scope = |spec: &WatchSpec| {
            let (namespace, selector) = (spec.namespace.clone(), spec.label_selector.clone());
            let id = parts.store.add_selecting_scope(namespace, selector);
            Scope::new(spec.clone(), id, 0)
        };
        let scopes = parts.scopes.iter().map(scope).collect();
        let name = format!("reflector/{}", parts.scopes[0].ty.resource_name());
        let pulse = parts.board.pulse(name, Instant::now());
        let (reading, schema, observers, generation, state, supervision) = <_>::default();
        let reflector = Self {
            parts,
            scopes,
            generation,
            reading,
            schema,
            state,
            observers,
            pulse,
            supervision,
        };
        reflector.fallbacks().for_each(|scope| reflector.rest(scope));
        reflector
    }

    fn ty(&self) -> &K8sType {
        &self.scopes[0].spec.ty
    }

    fn watched(&self, scope: usize) -> Watched {
        self.scopes[scope].spec.watched()
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
            WatchNote::Lost => self.parts.store.cut_off(self.scopes[scope].id, true),
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
        if (scope == 0 && self.switch_fallbacks(ctx)) || has_taken_over {
            return self.show();
        }
        self.show_scope(scope);
    }

    fn undecodable(&mut self, object: &Undecodable, is_news: bool) {
        self.state.undecodable += 1;
        if is_news {
            tracing::warn!("{}", OneLine(object));
            self.observers.found_undecodable(object);
        }
    }

    fn synced(&mut self, scope: usize, settled: Settled, ctx: &mut Context<Self>) {
        if settled == Settled::VersionRegressed {
            let seconds = self.parts.cluster.settings().deletions_held.as_secs_f64();
            tracing::error!(ty = %self.ty(),
                "resource versions regressed: the API server was restored from a backup, or its answer \
                 is stale; deletions of this type are held for {seconds} s");
            self.state.version_regressed = Some(SystemTime::now());
        }
        self.release_deletions_later(scope, ctx);
        self.recovered(scope);
    }

    /// Starts the timer of a new hold. The store begins a hold with a list, but the list is only noted when
    /// its watch opens.
    fn release_deletions_later(&mut self, scope: usize, ctx: &mut Context<Self>) {
        let hold = self.parts.store.hold(self.scopes[scope].id);
        if let Some(hold) = hold.filter(|_| hold != self.scopes[scope].held) {
            ctx.run_later(self.parts.cluster.settings().deletions_held, move |reflector, ctx| {
                guarded(reflector, ctx, |reflector, _| {
                    reflector.parts.store.release_deletions(hold);
                    reflector.show();
                });
            });
        }
        self.scopes[scope].held = hold;
    }

    fn failed(&mut self, scope: usize, error: &ApiError, retry_in: Duration) {
        let type_error = self.type_error(scope, error);
        self.state.restarts += 1;
        if error.class() == ErrorClass::NotServed {
            // When it is served again it may have another definition.
            self.state.secrets = None;
        }
        if self.scopes[scope].failures == 0 {
            self.scopes[scope].failing_since = now().monotonic;
        }
        self.scopes[scope].failures += 1;
        self.scopes[scope].error = Some(type_error);
        let has_failed_often = self.scopes[scope].failures >= MAX_FAILURES;
        let is_lasting = self.is_lasting(scope, error);
        if is_lasting || has_failed_often || retry_in >= LONG_DELAY {
            self.parts.store.cut_off(self.scopes[scope].id, true);
        }
        if is_lasting {
            let why = self.why(scope, error);
            let condition = if is_refused(error) {
                WatchCondition::Refused(why)
            } else {
                WatchCondition::Failing(why)
            };
            for scope in self.concerned(scope, error) {
                self.set_condition(scope, condition.clone());
            }
        }
    }

    /// A watch that is in sync tolerates a lost connection for a while, but not a missing permission. One
    /// that was never in sync may fail a few times, because the storage of a new CRD takes a moment.
    fn is_lasting(&self, scope: usize, error: &ApiError) -> bool {
        let Scope { condition, failures, failing_since, .. } = &self.scopes[scope];
        let was_synced = *condition == WatchCondition::Synced;
        let failing_for = now().monotonic.saturating_duration_since(*failing_since);
        is_refused(error)
            || (*failures >= MAX_FAILURES && (!was_synced || failing_for >= DEGRADED_AFTER))
    }

    fn recovered(&mut self, scope: usize) {
        self.scopes[scope].failures = 0;
        self.scopes[scope].error = None;
        self.parts.store.cut_off(self.scopes[scope].id, false);
        if self.is_synced(scope) {
            for scope in self.served_by(scope) {
                self.set_condition(scope, WatchCondition::Synced);
            }
        }
    }

    fn is_synced(&self, scope: usize) -> bool {
        self.parts.store.reader().is_scope_synced(self.scopes[scope].id)
    }
}

impl Scope {
    fn new(spec: WatchSpec, id: ScopeId, since: u64) -> Self {
        let (is_leaving, watching, error, failures, held) = <_>::default();
        let (condition, failing_since) = (WatchCondition::Pending, now().monotonic);
        Self {
            spec,
            id,
            since,
            is_leaving,
            watching,
            condition,
            error,
            failures,
            failing_since,
            held,
        }
    }
}

impl Actor for Reflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.show();
        ctx.run_interval(BEAT_EVERY, |reflector, ctx| {
            post(&ctx.address(), &reflector.parts.mailbox, Turn);
        });
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

impl Receive<Turn> for Reflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, _: Turn, _: &mut Self::Context) {
        self.pulse.beat(Instant::now());
    }
}

impl Receive<Noted> for Reflector {
    fn receive(&mut self, Noted { scope, note }: Noted, ctx: &mut Self::Context) {
        self.note(scope, note, ctx);
    }
}

impl Receive<Published> for Reflector {
    fn receive(&mut self, Published { changes, origin }: Published, _: &mut Self::Context) {
        self.observers.notify(self.ty(), &changes, origin.as_ref());
    }
}

#[cfg(test)]
mod tests;
