//! One actor per related type: it watches the objects that reconciles ask for, and notifies the operators.
//!
//! ```text
//! reconciles --ask--> Source --DemandChanged--> RelatedReflector --add_feed, set_state--> Source
//!                                                    |    ^
//!                             watch loops, fetches --+    +-- FeedNoted, Fetched
//!                                                    |
//!       RelatedObserved, RelatedSettled, RelatedProblems --> OperatorActor
//! ```
//!
//! When a broad watch replaces several exact watches, or the reverse, the old watches end after the new ones are
//! in sync. A difference between them is a change.

mod fetching;
mod notes;
mod switching;
mod to_fetch;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use actix::{Actor, AsyncContext, Context, Handler};
use tokio::task::AbortHandle;

use self::to_fetch::Fetching;
use super::{
    mailbox::{Metered, MeteredRecipient, Receive, post},
    messages::{
        DemandChanged, FeedChanged, FeedId, RelatedObserved, RelatedProblems, RelatedSettled,
    },
    observers::Observer,
    reflecting::{Controlled, Reflecting, Reflects, beat},
    supervised::{self, ActorPanic},
    watching::{Failures, WatchParts},
};
use crate::{
    cluster::WatchSpec,
    operator::Ask,
    related::{FeedKey, FeedState, Source, SourceSpec, wanted},
    store::{Change, ScopeId, Store},
};

pub(crate) struct RelatedParts {
    pub(crate) source: Source,
    pub(crate) watching: WatchParts,
}

/// A started reflector of a related type.
pub(crate) type RelatedHandle = Controlled<RelatedReflector>;

pub(crate) struct RelatedReflector {
    source: Source,
    asked: HashSet<Ask>,
    feeds: BTreeMap<FeedKey, Feed>,
    /// How many watches were started.
    started: u64,
    /// The reported reasons why something cannot be read.
    problems: Vec<String>,
    reflecting: Reflecting<RelatedObserved>,
    /// Why it is down after a panic.
    panicked: Option<String>,
}

/// A watch and its store.
struct Feed {
    /// Notes of an earlier watch of the same key are ignored.
    number: u64,
    store: Store,
    watching: AbortHandle,
    state: FeedState,
    /// Whether its first list was complete.
    is_listed: bool,
    failures: Failures,
    /// Why the listed objects may be out of date. They are still read.
    outdated: Option<String>,
    fetching: Fetching,
}

impl RelatedReflector {
    pub(crate) fn new(RelatedParts { source, watching }: RelatedParts) -> Self {
        let spec = source.spec();
        let what = if spec.metadata_only { "related-metadata" } else { "related" };
        let name = format!("{what}/{}", spec.ty.resource_name());
        let reflecting = Reflecting::new(watching, name);
        let (asked, feeds, started, problems, panicked) = <_>::default();
        Self { source, asked, feeds, started, problems, reflecting, panicked }
    }

    /// Starts it; from now on it learns when something else is asked for.
    pub(crate) fn start_poked(self) -> RelatedHandle {
        let source = self.source.clone();
        let handle = Controlled::start(self);
        let demand = MeteredRecipient::new(&handle.reflector, &handle.mailbox);
        source.on_change(move || demand.post(DemandChanged));
        handle
    }

    fn spec(&self) -> &SourceSpec {
        self.source.spec()
    }

    fn ask(&mut self, ask: Ask) {
        let key = self.spec().broad(&ask);
        if let Some(feed) = self.feeds.get_mut(&key) {
            feed.store.ask(&ask);
            feed.fetching.add(ask.clone());
        }
        self.asked.insert(ask);
    }

    fn drop_ask(&mut self, ask: &Ask) {
        self.asked.remove(ask);
        let key = self.spec().broad(ask);
        if let Some(feed) = self.feeds.get_mut(&key) {
            feed.store.unask(ask);
            feed.fetching.drop_ask(ask);
        }
        self.end_feed(&FeedKey::Exact(ask.clone()));
    }

    fn start_missing(&mut self, ctx: &Context<Self>) {
        let wanted = wanted(self.spec(), &self.asked, self.feeds.keys());
        let missing: Vec<FeedKey> =
            wanted.into_iter().filter(|key| !self.feeds.contains_key(key)).collect();
        for key in missing {
            self.start_feed(key, ctx);
        }
    }

    fn start_feed(&mut self, key: FeedKey, ctx: &Context<Self>) {
        let store = Store::new(self.spec().ty.clone(), BTreeSet::new());
        let at_first = self.covered_by(&key);
        let namespace = match &key {
            FeedKey::Broad(namespace) => {
                store.filter_by(at_first.iter().cloned().collect());
                namespace.clone()
            }
            FeedKey::Exact(ask) => ask.namespace().map(str::to_owned),
        };
        let scope = store.add_scope(namespace);
        self.started += 1;
        self.source.add_feed(key.clone(), store.reader());
        let watching = self.watch(&key, store.clone(), scope, ctx);
        let feed = Feed {
            number: self.started,
            store,
            watching,
            state: FeedState::Pending,
            is_listed: false,
            failures: Failures::default(),
            outdated: None,
            fetching: Fetching::new(at_first),
        };
        self.feeds.insert(key, feed);
    }

    fn watch(
        &self,
        key: &FeedKey,
        store: Store,
        scope: ScopeId,
        ctx: &Context<Self>,
    ) -> AbortHandle {
        let id = FeedId { key: key.clone(), number: self.started };
        let watched = (spec_of(self.spec(), key), store, scope);
        let feed = id.clone();
        let batch = move |changes| FeedChanged { feed: feed.clone(), changes };
        self.reflecting.parts.start(ctx.address(), watched, id, batch)
    }

    fn end_feed(&mut self, key: &FeedKey) {
        if let Some(feed) = self.feeds.remove(key) {
            feed.watching.abort();
            self.source.drop_feed(key);
        }
    }

    /// The asks that a watch covers.
    fn covered_by(&self, key: &FeedKey) -> Vec<Ask> {
        match key {
            FeedKey::Exact(ask) => vec![ask.clone()],
            FeedKey::Broad(_) => {
                let spec = self.spec();
                self.asked.iter().filter(|ask| spec.broad(ask) == *key).cloned().collect()
            }
        }
    }

    /// The feed, unless another was started for its key.
    fn feed(&mut self, id: &FeedId) -> Option<&mut Feed> {
        self.feeds.get_mut(&id.key).filter(|feed| feed.number == id.number)
    }

    fn notify(&self, changes: &Arc<[Change]>) {
        self.reflecting.observers.notify(&self.spec().ty, changes);
    }

    /// The objects of these asks are known, or why they cannot be read. Waiting reconciles continue.
    fn settle(&self, asks: Vec<Ask>) {
        if asks.is_empty() {
            return;
        }
        let settled = RelatedSettled { ty: self.spec().ty.clone(), asks: Arc::from(asks) };
        self.reflecting.observers.post(&settled);
    }

    fn known_problems(&self) -> RelatedProblems {
        RelatedProblems { ty: self.spec().ty.clone(), reasons: self.problems.clone() }
    }

    fn report_problems(&mut self) {
        let reasons = self.feeds.values().flat_map(Feed::problems);
        let reasons = reasons.map(|why| format!("related objects: {why}"));
        let reasons = reasons.chain(self.panicked.clone());
        let reasons: BTreeSet<String> = reasons.collect();
        let reasons: Vec<String> = reasons.into_iter().collect();
        if reasons != self.problems {
            self.source.set_problems(reasons.clone());
            self.problems = reasons;
            self.reflecting.observers.post(&self.known_problems());
        }
    }
}

/// The watch of a key.
fn spec_of(source: &SourceSpec, key: &FeedKey) -> WatchSpec {
    let SourceSpec { ty, metadata_only, namespaces: _ } = source;
    let all = WatchSpec { metadata_only: *metadata_only, ..WatchSpec::of(ty.clone()) };
    match key {
        FeedKey::Broad(namespace) => WatchSpec { namespace: namespace.clone(), ..all },
        FeedKey::Exact(ask) => {
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

impl Reflects for RelatedReflector {
    type Changes = RelatedObserved;

    fn title(&self) -> String {
        format!("the reflector of related {}", self.spec().ty.resource_name())
    }

    fn reflecting(&self) -> &Reflecting<RelatedObserved> {
        &self.reflecting
    }

    fn reflecting_mut(&mut self) -> &mut Reflecting<RelatedObserved> {
        &mut self.reflecting
    }

    fn welcome(&self, observer: &Observer<RelatedObserved>) {
        if !self.problems.is_empty() {
            observer.post(self.known_problems());
        }
    }

    fn end(&mut self, panic: &ActorPanic) {
        let keys: Vec<FeedKey> = self.feeds.keys().cloned().collect();
        for key in &keys {
            self.end_feed(key);
        }
        self.asked.clear();
        self.panicked = Some(panic.sentence());
        self.report_problems();
    }

    fn begin(&mut self, ctx: &mut Context<Self>) {
        self.panicked = None;
        self.source.change_all();
        self.demand_changed(ctx);
    }
}

impl Actor for RelatedReflector {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        beat(ctx);
        // Somebody may have asked before.
        post(&ctx.address(), &self.reflecting.parts.mailbox, DemandChanged);
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

impl Receive<DemandChanged> for RelatedReflector {
    fn receive(&mut self, _: DemandChanged, ctx: &mut Self::Context) {
        self.demand_changed(ctx);
    }
}

impl RelatedReflector {
    fn demand_changed(&mut self, ctx: &Context<Self>) {
        for (ask, is_asked) in self.source.take_changes() {
            match (is_asked, self.asked.contains(&ask)) {
                (true, false) => self.ask(ask),
                (false, true) => self.drop_ask(&ask),
                (true, true) | (false, false) => {}
            }
        }
        self.start_missing(ctx);
        self.switch();
        self.fetch_due(ctx);
        self.report_problems();
    }
}
