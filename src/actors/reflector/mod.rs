//! One actor per resource type: it keeps the type's watch loops running and tells the operators.

mod fallback;
mod loops;
mod schema;
mod showing;
mod words;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use actix::{Actor, Addr, AsyncContext, Context, Handler};
use tokio::{runtime::Handle, task::AbortHandle};

use super::{
    OperatorActor,
    mailbox::{Metered, MeteredMessage, MeteredRecipient, Receive, post},
    messages::{FoundUndecodable, Noted, Observed, Published, Turn, WatchChanged, WatchCondition},
};
use crate::{
    board::{BEAT_EVERY, Board, Pulse, TypeError, TypeState},
    cluster::{Cluster, WatchNote, WatchSpec, Watched},
    metrics::MailboxDepth,
    object::{K8sType, Undecodable},
    reply::{ApiError, ErrorClass},
    store::{Change, Hold, ScopeId, Settled, Store},
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
    /// Where it is shown how many messages wait for it.
    pub mailbox: MailboxDepth,
}

/// Keeps the store of one type equal to the API server.
pub struct Reflector {
    parts: ReflectorParts,
    /// Each namespace's, or first that of all and then those that stand in for it.
    scopes: Vec<Scope>,
    /// Reads which fields of the type are secret.
    reading: Option<AbortHandle>,
    /// What is counted over all scopes.
    state: TypeState,
    observers: Vec<Observer>,
    pulse: Pulse,
}

/// Someone to tell.
struct Observer {
    objects: MeteredRecipient<Observed>,
    undecodable: MeteredRecipient<FoundUndecodable>,
    watches: MeteredRecipient<WatchChanged>,
}

/// One of the watches, as it stands.
struct Scope {
    id: ScopeId,
    /// Its watch loop; `None` before the start, and of one that rests.
    watching: Option<AbortHandle>,
    condition: WatchCondition,
    error: Option<TypeError>,
    /// How many times in a row it failed.
    failures: u32,
    /// When it first failed of these.
    failing_since: Instant,
    /// The hold on its deletions that ends by itself.
    held: Option<Hold>,
}

/// A type that was never in sync is called failing after so many failures in a row. Of one that was
/// nothing is deleted from then on: who knows what has become of it.
const FAILURES_THAT_LAST: u32 = 3;

/// The same holds at once where the next try comes only after so long.
const LONG_WAIT: Duration = Duration::from_secs(15);

/// A type that was in sync is called failing when nothing has worked for so long.
const DEGRADED_AFTER: Duration = Duration::from_mins(2);

impl Reflector {
    /// A reflector that nobody listens to yet.
    pub fn new(parts: ReflectorParts) -> Self {
        let scope = |spec: &WatchSpec| Scope {
            id: parts.store.add_scope(spec.namespace.clone()),
            watching: None,
            condition: WatchCondition::Pending,
            error: None,
            failures: 0,
            failing_since: Instant::now(),
            held: None,
        };
        let scopes = parts.scopes.iter().map(scope).collect();
        let (reading, observers) = (None, Vec::new());
        let name = format!("reflector/{}", parts.scopes[0].ty.resource_name());
        let pulse = parts.board.pulse(name, Instant::now());
        let state = TypeState::default();
        let reflector = Self { parts, scopes, reading, state, observers, pulse };
        reflector.stand_ins().for_each(|scope| reflector.rest(scope));
        reflector
    }

    /// Adds someone to tell. To be called before the start.
    pub fn add_observer(&mut self, operator: &Addr<OperatorActor>, mailbox: &MailboxDepth) {
        self.observers.push(Observer {
            objects: MeteredRecipient::new(operator, mailbox),
            undecodable: MeteredRecipient::new(operator, mailbox),
            watches: MeteredRecipient::new(operator, mailbox),
        });
    }

    /// Starts it; what comes back takes what replies and live reads say.
    pub fn start_counted(self) -> MeteredRecipient<Published> {
        let mailbox = self.parts.mailbox.clone();
        MeteredRecipient::new(&self.start(), &mailbox)
    }

    fn tell(&self, changes: Vec<Change>, origin: Option<crate::execute::Origin>) {
        if changes.is_empty() {
            return;
        }
        let observed = Observed { ty: self.ty().clone(), changes: Arc::from(changes), origin };
        for observer in &self.observers {
            observer.objects.post(observed.clone());
        }
    }

    fn set_condition(&mut self, scope: usize, condition: WatchCondition) {
        if self.scopes[scope].condition == condition {
            return;
        }
        self.scopes[scope].condition = condition.clone();
        let changed = WatchChanged { watched: self.watched(scope), condition };
        for observer in &self.observers {
            observer.watches.post(changed.clone());
        }
    }

    fn ty(&self) -> &K8sType {
        &self.parts.scopes[0].ty
    }

    fn watched(&self, scope: usize) -> Watched {
        self.parts.scopes[scope].watched()
    }

    fn note(&mut self, scope: usize, note: WatchNote, ctx: &mut Context<Self>) {
        match note {
            WatchNote::Changed(changes) => return self.tell(changes, None),
            WatchNote::Opened => return self.read_schema(ctx),
            WatchNote::Undecodable { object, is_news } => self.undecodable(object, is_news),
            // It was on its way when the scope came to rest.
            _ if self.rests(scope) => return,
            WatchNote::Synced(settled) => self.synced(scope, settled, ctx),
            WatchNote::Lost => self.parts.store.cut_off(self.scopes[scope].id, true),
            WatchNote::Alive { at } => {
                self.state.last_event = Some(at);
                self.recovered(scope);
            }
            WatchNote::Failed { error, retry_in } => {
                tracing::warn!(watched = %self.watched(scope), %error, ?retry_in, "the watch failed");
                self.failed(scope, &error, retry_in);
                if error.class() == ErrorClass::Forbidden {
                    // Others stand in for it, whose deletions its hold would keep back for ever.
                    self.release_deletions_later(scope, ctx);
                }
            }
        }
        if scope == 0 && self.hand_over(ctx) {
            return self.show();
        }
        self.show_scope(scope);
    }

    fn undecodable(&mut self, object: Undecodable, is_news: bool) {
        self.state.undecodable += 1;
        if is_news {
            tracing::warn!("{object}");
            let undecodable = FoundUndecodable { object };
            for observer in &self.observers {
                observer.undecodable.post(undecodable.clone());
            }
        }
    }

    fn synced(&mut self, scope: usize, settled: Settled, ctx: &mut Context<Self>) {
        if settled == Settled::VersionRegressed {
            let seconds = self.parts.cluster.settings().deletions_held.as_secs_f64();
            tracing::error!(ty = %self.ty(),
                "versions went back: the API server was restored from a backup, or its answer is \
                 stale; deletions of this type are held for {seconds} s");
            self.state.version_regressed = Some(SystemTime::now());
        }
        self.release_deletions_later(scope, ctx);
        self.recovered(scope);
    }

    /// A hold begins in the store, and may have begun unheard of: it is told with the watch that
    /// follows its list, if there may be one.
    fn release_deletions_later(&mut self, scope: usize, ctx: &mut Context<Self>) {
        let hold = self.parts.store.hold(self.scopes[scope].id);
        if let Some(hold) = hold.filter(|_| hold != self.scopes[scope].held) {
            ctx.run_later(self.parts.cluster.settings().deletions_held, move |reflector, _| {
                reflector.parts.store.release_deletions(hold);
                reflector.show();
            });
        }
        self.scopes[scope].held = hold;
    }

    fn failed(&mut self, scope: usize, error: &ApiError, retry_in: Duration) {
        let type_error = self.type_error(scope, error);
        self.state.restarts += 1;
        if error.class() == ErrorClass::NotServed {
            // When it is served again it may be another one.
            self.state.secrets = None;
        }
        if self.scopes[scope].failures == 0 {
            self.scopes[scope].failing_since = Instant::now();
        }
        self.scopes[scope].failures += 1;
        self.scopes[scope].error = Some(type_error);
        let has_failed_often = self.scopes[scope].failures >= FAILURES_THAT_LAST;
        let is_lasting = self.is_lasting(scope, error);
        if is_lasting || has_failed_often || retry_in >= LONG_WAIT {
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

    /// A watch that is in sync survives a lost connection for a while, but not a lost permission;
    /// one that is not may fail a few times (the storage of a new CRD takes a moment).
    fn is_lasting(&self, scope: usize, error: &ApiError) -> bool {
        let Scope { condition, failures, failing_since, .. } = &self.scopes[scope];
        let was_synced = *condition == WatchCondition::Synced;
        is_refused(error)
            || (*failures >= FAILURES_THAT_LAST
                && (!was_synced || failing_since.elapsed() >= DEGRADED_AFTER))
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

/// Whether time alone will not mend it.
fn is_refused(error: &ApiError) -> bool {
    matches!(error.class(), ErrorClass::Forbidden | ErrorClass::NotServed)
}

impl Actor for Reflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.show();
        ctx.run_interval(BEAT_EVERY, |reflector, ctx| {
            post(&ctx.address(), &reflector.parts.mailbox, Turn);
        });
        let stand_ins = self.stand_ins();
        for scope in (0..self.scopes.len()).filter(|scope| !stand_ins.contains(scope)) {
            self.scopes[scope].watching = Some(self.start_loop(scope, ctx));
        }
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        let loops = self.scopes.iter().filter_map(|scope| scope.watching.as_ref());
        loops.chain(&self.reading).for_each(AbortHandle::abort);
    }
}

impl<M: MeteredMessage> Handler<Metered<M>> for Reflector
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, mail: Metered<M>, ctx: &mut Self::Context) {
        self.receive(mail.open(), ctx);
    }
}

impl Receive<Turn> for Reflector {
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
    fn receive(&mut self, Published { change, origin }: Published, _: &mut Self::Context) {
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

#[cfg(test)]
mod tests;
