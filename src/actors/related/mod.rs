//! One actor per related type: it watches the objects that reconciles ask for, and notifies the operators.
//!
//! ```text
//! reconciles --ask--> Source --DemandChanged--> RelatedReflector --add_feed, set_state--> Source
//!                                                    |    ^
//!                             watch loops, fetches --+    +-- FeedNoted, Fetched
//!                                                    |
//!       RelatedObserved, RelatedSettled, RelatedTroubles --> OperatorActor
//! ```
//!
//! When a broad watch replaces several exact watches, or the reverse, the old watches end after the new ones are
//! in sync. A difference between them is a change.

mod fetching;
pub(super) mod handle;
mod notes;
mod restarting;
mod switching;
mod to_fetch;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
    time::Instant,
};

use actix::{Actor, AsyncContext, Context, Handler};
use tokio::{runtime::Handle, task::AbortHandle};

use self::to_fetch::Fetching;
use super::{
    BacklogRecipient,
    mailbox::{Metered, MeteredRecipient, Receive, post},
    messages::{
        DemandChanged, FeedChanged, FeedNoted, ReflectorFell, RelatedObserved, RelatedSettled,
        RelatedTroubles, Turn,
    },
    supervised::{self, Supervision},
    watching,
};
use crate::{
    board::{BEAT_EVERY, Board, Pulse},
    cluster::{Cluster, WatchNote, WatchSpec},
    execute::Alive,
    metrics::MailboxDepth,
    operator::{Ask, OperatorName},
    related::{FeedState, Place, Source, SourceSpec, wanted},
    store::{Change, ScopeId, Store},
};

pub(crate) struct RelatedParts {
    pub(crate) source: Source,
    pub(crate) cluster: Cluster,
    /// Where watch loops run.
    pub(crate) runtime: Handle,
    pub(crate) board: Board,
    pub(crate) mailbox: MailboxDepth,
    /// Held by the actor and its tasks.
    pub(crate) alive: Alive,
}

pub(crate) struct RelatedReflector {
    parts: RelatedParts,
    asked: HashSet<Ask>,
    feeds: BTreeMap<Place, Feed>,
    /// How many watches were started.
    started: u64,
    observers: Vec<Observer>,
    /// The reported reasons why something cannot be read.
    troubles: Vec<String>,
    pulse: Pulse,
    supervision: Supervision,
    /// Why it is down after a panic.
    fallen: Option<String>,
}

/// An operator that is notified.
struct Observer {
    operator: OperatorName,
    objects: BacklogRecipient<RelatedObserved>,
    settled: MeteredRecipient<RelatedSettled>,
    troubles: MeteredRecipient<RelatedTroubles>,
    falls: MeteredRecipient<ReflectorFell>,
}

/// A watch and its store.
struct Feed {
    /// Notes of an earlier watch of the same place are ignored.
    number: u64,
    store: Store,
    watching: AbortHandle,
    state: FeedState,
    /// Whether its first list was complete.
    is_listed: bool,
    /// How many attempts in a row failed.
    failures: u32,
    /// When the first of these failed.
    failing_since: Option<Instant>,
    /// Why the listed objects may be out of date. They are still read.
    outdated: Option<String>,
    fetching: Fetching,
}

impl RelatedReflector {
    pub(crate) fn new(parts: RelatedParts) -> Self {
        let spec = parts.source.spec();
        let what = if spec.metadata_only { "related-metadata" } else { "related" };
        let pulse =
            parts.board.pulse(format!("{what}/{}", spec.ty.resource_name()), Instant::now());
        let (asked, feeds, started, observers, troubles) = <_>::default();
        let (supervision, fallen) = <_>::default();
        Self { parts, asked, feeds, started, observers, troubles, pulse, supervision, fallen }
    }

    fn spec(&self) -> &SourceSpec {
        self.parts.source.spec()
    }

    fn ask(&mut self, ask: Ask) {
        let place = self.spec().broad(&ask);
        if let Some(feed) = self.feeds.get_mut(&place) {
            feed.store.ask(&ask);
            feed.fetching.add(ask.clone());
        }
        self.asked.insert(ask);
    }

    fn drop_ask(&mut self, ask: &Ask) {
        self.asked.remove(ask);
        let place = self.spec().broad(ask);
        if let Some(feed) = self.feeds.get_mut(&place) {
            feed.store.unask(ask);
            feed.fetching.drop_ask(ask);
        }
        self.end_feed(&Place::Exact(ask.clone()));
    }

    fn start_missing(&mut self, ctx: &Context<Self>) {
        let wanted = wanted(self.spec(), &self.asked, self.feeds.keys());
        let missing: Vec<Place> =
            wanted.into_iter().filter(|place| !self.feeds.contains_key(place)).collect();
        for place in missing {
            self.start_feed(place, ctx);
        }
    }

    fn start_feed(&mut self, place: Place, ctx: &Context<Self>) {
        let store = Store::new(self.spec().ty.clone(), BTreeSet::new());
        let at_first = self.covered_by(&place);
        let namespace = match &place {
            Place::Broad(namespace) => {
                store.filter_by(at_first.iter().cloned().collect());
                namespace.clone()
            }
            Place::Exact(ask) => ask.namespace().map(str::to_owned),
        };
        let scope = store.add_scope(namespace);
        self.started += 1;
        self.parts.source.add_feed(place.clone(), store.reader());
        let watching = self.watch(&place, (store.clone(), scope), ctx);
        let feed = Feed {
            number: self.started,
            store,
            watching,
            state: FeedState::Pending,
            is_listed: false,
            failures: 0,
            failing_since: None,
            outdated: None,
            fetching: Fetching::new(at_first),
        };
        self.feeds.insert(place, feed);
    }

    fn watch(&self, place: &Place, store: (Store, ScopeId), ctx: &Context<Self>) -> AbortHandle {
        let (address, mailbox) = (ctx.address(), self.parts.mailbox.clone());
        let (number, of) = (self.started, place.clone());
        let alive = self.parts.alive.clone();
        let changed = BacklogRecipient::new(&address, &mailbox);
        let note = move |note| {
            alive.hold();
            let place = of.clone();
            if let WatchNote::Changed(changes) = note {
                return changed.post(FeedChanged { place, number, changes: changes.into() });
            }
            post(&address, &mailbox, FeedNoted { place, number, note });
        };
        let watched = (self.parts.cluster.clone(), spec_of(self.spec(), place));
        watching::start(&self.parts.runtime, watched, store, note)
    }

    fn end_feed(&mut self, place: &Place) {
        if let Some(feed) = self.feeds.remove(place) {
            feed.watching.abort();
            self.parts.source.drop_feed(place);
        }
    }

    /// The asks that a watch covers.
    fn covered_by(&self, place: &Place) -> Vec<Ask> {
        match place {
            Place::Exact(ask) => vec![ask.clone()],
            Place::Broad(_) => {
                let spec = self.spec();
                self.asked.iter().filter(|ask| spec.broad(ask) == *place).cloned().collect()
            }
        }
    }

    fn notify(&self, changes: Arc<[Change]>) {
        if changes.is_empty() {
            return;
        }
        let observed = RelatedObserved { ty: self.spec().ty.clone(), changes };
        for observer in &self.observers {
            observer.objects.post(observed.clone());
        }
    }

    /// The objects of these asks are known, or why they cannot be read. Waiting reconciles continue.
    fn settle(&self, asks: Vec<Ask>) {
        if asks.is_empty() {
            return;
        }
        let settled = RelatedSettled { ty: self.spec().ty.clone(), asks: Arc::from(asks) };
        for observer in &self.observers {
            observer.settled.post(settled.clone());
        }
    }

    fn report_troubles(&mut self) {
        let reasons = self.feeds.values().flat_map(Feed::troubles);
        let reasons = reasons.map(|why| format!("related objects: {why}"));
        let reasons = reasons.chain(self.fallen.clone());
        let reasons: BTreeSet<String> = reasons.collect();
        let reasons: Vec<String> = reasons.into_iter().collect();
        if reasons != self.troubles {
            self.troubles.clone_from(&reasons);
            self.parts.source.set_troubles(reasons.clone());
            let troubles = RelatedTroubles { ty: self.spec().ty.clone(), reasons };
            for observer in &self.observers {
                observer.troubles.post(troubles.clone());
            }
        }
    }
}

/// The watch of a place.
fn spec_of(source: &SourceSpec, place: &Place) -> WatchSpec {
    let SourceSpec { ty, metadata_only, namespaces: _ } = source;
    let all = WatchSpec { metadata_only: *metadata_only, ..WatchSpec::of(ty.clone()) };
    match place {
        Place::Broad(namespace) => WatchSpec { namespace: namespace.clone(), ..all },
        Place::Exact(ask) => {
            let namespace = ask.namespace().map(str::to_owned);
            let (name, label_selector) = match ask {
                Ask::Named(key) => (Some(key.name.to_string()), None),
                Ask::Selected(selected) => {
                    (None, selected.selector.as_ref().map(ToString::to_string))
                }
            };
            WatchSpec { namespace, label_selector, name, ..all }
        }
    }
}

impl Actor for RelatedReflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(BEAT_EVERY, |reflector, ctx| {
            post(&ctx.address(), &reflector.parts.mailbox, Turn);
        });
        // Somebody may have asked before.
        post(&ctx.address(), &self.parts.mailbox, DemandChanged);
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        self.feeds.values().for_each(|feed| feed.watching.abort());
    }
}

impl<M: Send + 'static> Handler<Metered<M>> for RelatedReflector
where
    Self: Receive<M>,
{
    type Result = ();

    fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
        supervised::receive(self, metered, ctx);
    }
}

impl Receive<Turn> for RelatedReflector {
    const ALWAYS: bool = true;

    fn receive(&mut self, _: Turn, _: &mut Self::Context) {
        self.pulse.beat(Instant::now());
    }
}

impl Receive<DemandChanged> for RelatedReflector {
    fn receive(&mut self, _: DemandChanged, ctx: &mut Self::Context) {
        self.demand_changed(ctx);
    }
}

impl RelatedReflector {
    fn demand_changed(&mut self, ctx: &Context<Self>) {
        for (ask, is_asked) in self.parts.source.take_changes() {
            match (is_asked, self.asked.contains(&ask)) {
                (true, false) => self.ask(ask),
                (false, true) => self.drop_ask(&ask),
                (true, true) | (false, false) => {}
            }
        }
        self.start_missing(ctx);
        self.switch();
        self.fetch_due(ctx);
        self.report_troubles();
    }
}
