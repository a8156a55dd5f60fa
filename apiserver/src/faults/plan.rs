//! The active rules, the decisions, and the held requests that tests release.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use tokio::sync::watch;

use super::{
    Decision, Rule, Target,
    decision::chance,
    fault::{Fault, Point},
    stale::Lists,
};

/// How many decisions are remembered.
const DECISIONS: usize = 100_000;
/// How many strikes a failing test prints: the last ones.
const PRINTED: usize = 100;

/// Rules that can be added and removed while clients run. Cheap to clone; all clones are one plan.
#[derive(Clone)]
pub struct FaultPlan(Arc<Shared>);

struct Shared {
    seed: u64,
    state: Mutex<State>,
    /// Whether a failed test has printed it.
    is_printed: AtomicBool,
}

#[derive(Default)]
struct State {
    rules: Vec<Struck>,
    added: usize,
    decisions: VecDeque<Decision>,
    decided: usize,
    lists: Option<Lists>,
}

/// An active rule, as requests see it.
#[derive(Clone)]
pub(super) struct Struck {
    pub(super) rule: Arc<Rule>,
    number: usize,
    seen: Arc<Mutex<HashMap<String, usize>>>,
    counts: Arc<watch::Sender<Counts>>,
    released: Arc<watch::Sender<bool>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    seen: usize,
    hits: usize,
    /// How many of these have taken effect.
    effects: usize,
}

/// A strike that is on its way: it has taken effect when this is dropped.
pub(super) struct Strike(Arc<watch::Sender<Counts>>);

/// An active rule, as a test sees it.
#[derive(Clone)]
pub struct Armed {
    plan: FaultPlan,
    rule: Struck,
}

impl FaultPlan {
    /// A plan without rules, whose chances differ from start to start.
    pub fn new() -> Self {
        Self::seeded(crate::server::random_seed())
    }

    /// A plan without rules, whose chances are always the same.
    pub fn seeded(seed: u64) -> Self {
        let (state, is_printed) = <_>::default();
        Self(Arc::new(Shared { seed, state, is_printed }))
    }

    /// What the chances follow from.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Activates a rule.
    pub fn add(&self, rule: Rule) -> Armed {
        let mut state = self.lock();
        let rule = Struck {
            rule: Arc::new(rule),
            number: state.added,
            seen: Arc::default(),
            counts: Arc::new(watch::Sender::new(Counts::default())),
            released: Arc::new(watch::Sender::new(false)),
        };
        state.added += 1;
        state.rules.push(rule.clone());
        Armed { plan: self.clone(), rule }
    }

    /// Removes every rule and releases what is held.
    pub fn heal(&self) {
        let rules = std::mem::take(&mut self.lock().rules);
        for rule in rules {
            rule.released.send_replace(true);
        }
    }

    /// Remembers the last answer to each list from now on, for [`Fault::StaleList`].
    pub fn remember_lists(&self) {
        self.lock().lists.get_or_insert_default();
    }

    /// The decisions about requests and struck frames, oldest first (the newest 100,000).
    pub fn decisions(&self) -> Vec<Decision> {
        self.lock().decisions.iter().cloned().collect()
    }

    /// The decisions to strike.
    pub fn injected(&self) -> Vec<Decision> {
        let mut decisions = self.decisions();
        decisions.retain(|decision| decision.struck.is_some());
        decisions
    }

    /// The rule that strikes here, if any does. A watch and each of its frames are asked
    /// separately.
    pub(super) fn decide(&self, point: Point, target: &Target) -> Option<Struck> {
        let mut state = self.lock();
        let about = state.rules.iter().filter(|rule| rule.rule.is_about(point, target)).cloned();
        let about: Vec<Struck> = about.collect();
        let struck = about.into_iter().find(|rule| rule.strikes(self.0.seed, target));
        if point == Point::Request || struck.is_some() {
            let why = struck.as_ref().map(|by| (by.number, format!("{:?}", by.rule.fault)));
            state.record(target, why);
        }
        // Under the lock, so that a rule never strikes more often than it may.
        if let Some(struck) = &struck {
            struck.counts.send_modify(|counts| counts.hits += 1);
        }
        struck
    }

    /// Whether frames of watches have to be checked.
    pub(super) fn looks_at_frames(&self, target: &Target) -> bool {
        let state = self.lock();
        (target.streams_list && state.lists.is_some())
            || state.rules.iter().any(|rule| rule.rule.fault.strikes_at(Point::Frame, "watch"))
    }

    pub(super) fn remembered(&self, key: &str) -> Option<Vec<bytes::Bytes>> {
        self.lock().lists.as_ref()?.get(key)
    }

    pub(super) fn remember(&self, key: &str, lines: Vec<bytes::Bytes>) {
        if let Some(lists) = &mut self.lock().lists {
            lists.remember(key, lines);
        }
    }

    pub(super) fn remembers_lists(&self) -> bool {
        self.lock().lists.is_some()
    }

    fn remove(&self, number: usize) {
        self.lock().rules.retain(|rule| rule.number != number);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn record(&mut self, target: &Target, struck: Option<(usize, String)>) {
        if self.decisions.len() == DECISIONS {
            self.decisions.pop_front();
        }
        let (number, at, target) = (self.decided, Instant::now(), target.clone());
        self.decisions.push_back(Decision { number, at, target, struck });
        self.decided += 1;
    }

    fn print(&self, seed: u64) {
        if self.added == 0 {
            return;
        }
        eprintln!("the faults of this test had the seed {seed}");
        let struck = self.decisions.iter().rev().filter(|decision| decision.struck.is_some());
        let last: Vec<_> = struck.take(PRINTED).collect();
        for decision in last.iter().rev() {
            eprintln!("  {decision}");
        }
    }
}

impl Struck {
    fn strikes(&self, seed: u64, target: &Target) -> bool {
        let chance = chance(seed, self.number, target, self.count(target));
        let mut before = Counts::default();
        self.counts.send_modify(|counts| {
            before = *counts;
            counts.seen += 1;
        });
        self.rule.strikes(before.seen, before.hits, chance)
    }

    /// How often it was asked about this target before.
    fn count(&self, target: &Target) -> usize {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.entry(target.to_string()).or_default();
        *count += 1;
        *count - 1
    }

    /// Begins a strike. What waits for it continues when the strike is dropped.
    pub(super) fn strike(&self) -> Strike {
        Strike(Arc::clone(&self.counts))
    }

    /// Waits until the test releases what is held.
    pub(super) async fn released(&self) {
        // It cannot be dropped while this waits.
        let _ = self.released.subscribe().wait_for(|released| *released).await;
    }
}

impl Armed {
    /// How often it has struck, as soon as that is decided: the request that it strikes may still be on its way.
    pub fn hits(&self) -> usize {
        self.rule.counts.borrow().hits
    }

    /// Its strikes, of those decisions that are remembered, oldest first.
    pub fn strikes(&self) -> Vec<Decision> {
        let mut strikes = self.plan.injected();
        let is_own = |by: &(usize, String)| by.0 == self.rule.number;
        strikes.retain(|decision| decision.struck.as_ref().is_some_and(is_own));
        strikes
    }

    /// Waits until it has struck so often, and the strikes have taken effect: the answer has come that a fault loses,
    /// holds or changes.
    pub async fn until_hits(&self, hits: usize) {
        // It cannot be dropped while this waits.
        let _ = self.rule.counts.subscribe().wait_for(|counts| counts.effects >= hits).await;
    }

    /// Removes the rule, and releases what it holds.
    pub fn end(&self) {
        self.plan.remove(self.rule.number);
        self.rule.released.send_replace(true);
    }
}

impl Default for FaultPlan {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for FaultPlan {
    /// A failing test prints how to reproduce it. Clients keep the plan for longer than the test, so that its last clone
    /// says nothing about the test.
    fn drop(&mut self) {
        if std::thread::panicking() && !self.0.is_printed.swap(true, Ordering::Relaxed) {
            self.lock().print(self.0.seed);
        }
    }
}

impl Drop for Strike {
    fn drop(&mut self) {
        self.0.send_modify(|counts| counts.effects += 1);
    }
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let faults: Vec<&Fault> = state.rules.iter().map(|rule| &rule.rule.fault).collect();
        f.debug_struct("FaultPlan").field("seed", &self.0.seed).field("faults", &faults).finish()
    }
}

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Armed({:?}, {} hits)", self.rule.rule, self.hits())
    }
}
