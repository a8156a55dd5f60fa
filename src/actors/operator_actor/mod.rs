//! One actor per operator: it turns changes of objects and commands of users into triggers for its
//! parents.

mod awaiting;
mod buckets;
mod commands;
mod definition;
pub(super) mod handle;
mod labelling;
mod parents;
mod reconfigured;
mod related;
mod restarting;
mod scopes;
mod start;
mod state;
mod to_label;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use actix::{Actor, Addr, AsyncContext, Handler};
use tokio::{
    runtime::Handle,
    sync::{mpsc::UnboundedSender, oneshot},
};

use awaiting::Awaiting;
use scopes::{Scopes, Start, Watches};
use to_label::ToLabel;

use super::{
    ArbiterPool,
    mailbox::{Metered, MeteredRecipient, Receive, post},
    messages::{
        ChildChanged, FoundUndecodable, Heartbeat, Observed, OperatorStateChanged, Reconfigured,
        Touched, WatchCondition,
    },
    reason::{is_ignored, parent_cause, parent_trigger},
    reconciler::{Reconciler, ReconcilerParts},
    supervised::{self, Supervision},
    timer::Timer,
};
use crate::{
    board::{BEAT_EVERY, Board, Pulse},
    cluster::Watched,
    execute::{Context, Origin},
    history::Cause,
    metrics::MailboxDepth,
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::OperatorName,
    schedule::Trigger,
    store::{Change, StoreReader},
};

pub(crate) struct OperatorParts {
    pub(crate) context: Arc<Context>,
    pub(crate) parents: StoreReader,
    pub(crate) children: Vec<StoreReader>,
    /// The watches that it requires.
    pub(crate) relies_on: BTreeSet<Watched>,
    /// Where reconciles run.
    pub(crate) runtime: Handle,
    /// Starts the reconcilers.
    pub(crate) pool: ArbiterPool,
    /// Shows the parents.
    pub(crate) board: Board,
    /// Receives the changes of its state.
    pub(crate) states: UnboundedSender<OperatorStateChanged>,
    /// Counts the messages that wait for it.
    pub(crate) mailbox: MailboxDepth,
}

pub(crate) struct OperatorActor {
    parts: OperatorParts,
    watches: Watches,
    scopes: Scopes,
    /// Whether the operator goes.
    is_over: bool,
    parents: HashMap<ObjectKey, Parent>,
    keys: HashMap<Uid, ObjectKey>,
    /// Deleted parents whose last reconcile has not ended. A parent that is created again waits for that end.
    ending: HashSet<Uid>,
    awaiting: Awaiting,
    /// Why no handler can run although all types are listed, and why statuses may be incomplete, at the last check.
    held_up: Vec<String>,
    /// Why related objects cannot be read, by type.
    related_problems: BTreeMap<K8sType, Vec<String>>,
    reconcilers: Arc<ReconcilerParts>,
    /// The configuration that takes effect when its watches are listed.
    pending: Option<Box<Reconfigured>>,
    /// Is sent to when no parent is left.
    finalized: Option<oneshot::Sender<()>>,
    pulse: Pulse,
    supervision: Supervision,
    /// Why it is down after a panic.
    panicked: Option<String>,
    /// Set while it is paused and the pause ends by itself.
    pause_end: Timer,
    to_label: ToLabel,
}

struct Parent {
    uid: Uid,
    reconciler: Addr<Reconciler>,
}

impl OperatorActor {
    fn new(parts: OperatorParts, address: &Addr<Self>) -> Self {
        let pending = |watched: &Watched| (watched.clone(), WatchCondition::Pending);
        let watches = parts.relies_on.iter().map(pending).collect();
        let (parents, keys, ending, awaiting, held_up, related_problems) = <_>::default();
        let (supervision, panicked, pause_end, to_label) = <_>::default();
        let name = parts.context.name();
        let reconcilers = Arc::new(ReconcilerParts {
            context: parts.context.clone(),
            runtime: parts.runtime.clone(),
            board: parts.board.clone(),
            parents: parts.parents.clone(),
            mailbox: parts.context.metrics().mailbox("reconciler", name.as_str()),
            ended: MeteredRecipient::new(address, &parts.mailbox),
            awaits: MeteredRecipient::new(address, &parts.mailbox),
        });
        let pulse = parts.board.pulse(format!("operator/{name}"), Instant::now());
        let scopes = Scopes::of(parts.context.config());
        Self {
            parts,
            watches,
            scopes,
            is_over: false,
            parents,
            keys,
            ending,
            awaiting,
            held_up,
            related_problems,
            reconcilers,
            pending: None,
            finalized: None,
            pulse,
            supervision,
            panicked,
            pause_end,
            to_label,
        }
    }

    fn name(&self) -> &OperatorName {
        self.parts.context.name()
    }

    /// Whether parents in a namespace are reconciled, or report why they are not.
    fn has_begun(&self, namespace: Option<&str>) -> bool {
        !self.is_over && self.scopes.start_in(namespace) != Start::Awaited
    }

    /// Whether an undecodable object is reported now, or at the start of its scope.
    fn is_reported(&self, object: &Undecodable) -> bool {
        let is_full = |namespace| self.scopes.start_in(namespace) == Start::Full;
        match object.key() {
            Some(key) => is_full(key.namespace.as_deref()),
            None => self.scopes.all().any(|(_, start)| start == Start::Full),
        }
    }

    fn undecodable(&self, object: Undecodable) {
        let (context, parents) = (self.parts.context.clone(), self.parents_of(&object));
        let itself = object.key().filter(|_| object.ty() == self.parts.parents.ty());
        let cause = Cause::Undecodable { ty: object.ty().clone(), key: object.key().cloned() };
        for key in itself.into_iter().chain(parents.iter().map(Object::key)) {
            if let Some(parent) = self.parents.get(key) {
                let (trigger, cause) = (Trigger::ChildOrStatus, cause.clone());
                post(&parent.reconciler, &self.reconcilers.mailbox, Touched { trigger, cause });
            }
        }
        self.parts.runtime.spawn(async move { context.announce_undecodable(&object, &parents) });
    }

    fn parents_of(&self, object: &Undecodable) -> Vec<Object> {
        let children = self.parts.children.iter().find(|reader| reader.ty() == object.ty());
        let uids = children.map(|children| children.parents_of(object)).unwrap_or_default();
        let parent = |uid: &Uid| self.parts.parents.get(self.keys.get(uid)?);
        uids.iter().filter_map(parent).collect()
    }

    fn parent_changed(&mut self, change: &Change) {
        // Replies and events may arrive in another order than they were made: the store has the latest.
        let key = change.object().key();
        match self.answered_for(key) {
            Some(now) => self.parent_is_now(change.before.as_ref(), &now),
            None => self.retire(key),
        }
    }

    fn answered_for(&self, key: &ObjectKey) -> Option<Object> {
        let cached = self.parts.parents.get(key);
        cached.filter(|parent| self.parts.context.answers_for(parent))
    }

    fn parent_is_now(&mut self, before: Option<&Object>, now: &Object) {
        self.parent_is(now, parent_trigger(before, now), parent_cause(before, now));
    }

    fn child_changed(&self, observed: &Observed, at: usize) {
        let Observed { ty, changes, origin } = observed;
        let operator = self.parts.context.config();
        let Some(config) = operator.child_config(ty) else { return };
        let change = &changes[at];
        if is_ignored(operator, config, change) {
            return;
        }
        let awaiting = self.awaiting.parents(ty, change.object().key());
        let awaiting = awaiting.filter(|uid| !change.parents.contains(uid));
        let concerned = change.parents.iter().chain(awaiting);
        for uid in concerned.filter(|uid| !self.is_own(uid, origin.as_ref())) {
            let reconciler = self.keys.get(uid).and_then(|key| self.parents.get(key));
            if let Some(parent) = reconciler {
                let changed = ChildChanged { ty: ty.clone(), changes: changes.clone(), at };
                post(&parent.reconciler, &self.reconcilers.mailbox, changed);
            }
        }
    }

    /// Retires parents that left the selection of a decorator, once their last child is gone.
    fn retire_left(&mut self, parents: &BTreeSet<Uid>) {
        if !self.parts.context.config().is_decorator() {
            return;
        }
        let keys = parents.iter().filter_map(|uid| self.keys.get(uid)).cloned();
        for key in keys.collect::<Vec<_>>() {
            if self.answered_for(&key).is_none() {
                self.retire(&key);
            }
        }
    }

    /// Whether a parent's own reconcile made the change, which has processed the reply already.
    fn is_own(&self, parent: &Uid, origin: Option<&Origin>) -> bool {
        origin.is_some_and(|origin| origin.parent == *parent && origin.operator == *self.name())
    }
}

impl Actor for OperatorActor {
    type Context = actix::Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.show_state();
        ctx.run_interval(BEAT_EVERY, |operator, ctx| {
            post(&ctx.address(), &operator.parts.mailbox, Heartbeat);
        });
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for OperatorActor
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        supervised::receive(self, metered, ctx);
    }
}

impl Receive<Heartbeat> for OperatorActor {
    const ALWAYS: bool = true;

    /// Handlers become overdue without any other message.
    fn receive(&mut self, _: Heartbeat, _: &mut Self::Context) {
        let now = Instant::now();
        self.pulse.beat(now);
        self.follow_definition();
        self.label_some(now);
        let context = &self.parts.context;
        let reasons = [context.why_blocked(now), context.why_schema_unread(now)];
        let held_up: Vec<String> = reasons.into_iter().flatten().collect();
        if held_up != self.held_up {
            self.held_up = held_up;
            self.show_state();
        }
    }
}

impl Receive<Observed> for OperatorActor {
    fn receive(&mut self, observed: Observed, _: &mut Self::Context) {
        if self.is_over || !self.scopes.have_begun() {
            return;
        }
        let origin = observed.origin.as_ref();
        for (at, change) in observed.changes.iter().enumerate() {
            let is_parent = observed.ty == *self.parts.parents.ty();
            let has_begun = self.has_begun(change.object().namespace());
            if is_parent && has_begun && !self.is_own(change.object().uid(), origin) {
                self.parent_changed(change);
            }
            self.child_changed(&observed, at);
            self.retire_left(&change.parents);
            if self.parts.context.parts.reads.whole(&observed.ty).is_some() {
                self.related_changed(&observed.ty, &observed.changes, at, origin);
            }
        }
    }
}

impl Receive<FoundUndecodable> for OperatorActor {
    /// Earlier undecodable objects are reported at the start.
    fn receive(&mut self, FoundUndecodable { object }: FoundUndecodable, _: &mut Self::Context) {
        let types = [&self.parts.parents].into_iter().chain(&self.parts.children);
        // It may be of a type that is only read.
        let is_ours = types.map(StoreReader::ty).any(|ty| ty == object.ty());
        if is_ours && self.is_reported(&object) {
            self.undecodable(object);
        }
    }
}
