//! What all operators together ask for of one type, and the stores that have it. Shared between reconciles,
//! which ask and read, and the actor that watches.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::{
    feeds::{FeedKey, SourceSpec},
    look::{Feed, FeedState, Look, read},
};
use crate::{operator::Ask, store::StoreReader};

/// The related objects of one type. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Source(Arc<Shared>);

struct Shared {
    spec: SourceSpec,
    state: Mutex<SourceState>,
    poke: OnceLock<Poke>,
}

/// Tells the actor that something else is asked for.
type Poke = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct SourceState {
    /// How many operators ask.
    asked: HashMap<Ask, usize>,
    /// What has changed since the actor looked.
    changed: Vec<Ask>,
    feeds: BTreeMap<FeedKey, Feed>,
    /// What broad watches can answer; others are still fetched.
    fetched: HashSet<Ask>,
    /// Why fetching fails, for each broad watch where it does.
    fetching_fails: BTreeMap<FeedKey, String>,
    /// The store of a watch that exists for other reasons, and has all objects.
    whole: Option<Feed>,
    /// Why objects cannot be read or may be out of date.
    problems: Vec<String>,
}

impl Source {
    pub(crate) fn new(spec: SourceSpec) -> Self {
        let (state, poke) = <_>::default();
        Self(Arc::new(Shared { spec, state, poke }))
    }

    /// A source that uses a store with all objects of the type.
    pub(crate) fn of_store(spec: SourceSpec, reader: StoreReader) -> Self {
        let source = Self::new(spec);
        source.state().whole = Some(Feed { reader, state: FeedState::Pending });
        source
    }

    pub(crate) fn spec(&self) -> &SourceSpec {
        &self.0.spec
    }

    /// Whether its store is fed by a watch that exists for other reasons.
    pub(crate) fn is_whole(&self) -> bool {
        self.state().whole.is_some()
    }

    fn state(&self) -> MutexGuard<'_, SourceState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === for reconciles ===

impl Source {
    /// An operator asks for this for the first time, and for that no longer.
    pub(super) fn ask(&self, asked: Vec<Ask>, dropped: Vec<Ask>) {
        if asked.is_empty() && dropped.is_empty() {
            return;
        }
        let mut state = self.state();
        let was_quiet = state.changed.is_empty();
        for ask in asked {
            let count = state.asked.entry(ask.clone()).or_default();
            *count += 1;
            if *count == 1 {
                state.changed.push(ask);
            }
        }
        for ask in dropped {
            let Some(count) = state.asked.get_mut(&ask) else { continue };
            *count -= 1;
            if *count == 0 {
                // The store has it until the actor has looked: it is known at once if it is asked for again before.
                state.asked.remove(&ask);
                state.changed.push(ask);
            }
        }
        let is_news = was_quiet && !state.changed.is_empty() && state.whole.is_none();
        if state.whole.is_some() {
            state.changed.clear();
        }
        drop(state);
        if let Some(poke) = self.0.poke.get().filter(|_| is_news) {
            poke();
        }
    }

    pub(super) fn look(&self, ask: &Ask) -> Look {
        let found = self.state().feed_for(&self.0.spec, ask);
        match found {
            // Read without the lock of the source.
            Ok((reader, is_exact)) => read(&reader, ask, is_exact),
            Err(None) => Look::Pending,
            Err(Some(why)) => Look::Unavailable(why),
        }
    }
}

impl SourceState {
    /// The store that answers, and whether it has nothing else; or why there is none.
    fn feed_for(
        &self,
        spec: &SourceSpec,
        ask: &Ask,
    ) -> Result<(StoreReader, bool), Option<String>> {
        if let Some(whole) = &self.whole {
            return whole.answer().map(|reader| (reader, false));
        }
        let exact = self.feeds.get(&FeedKey::Exact(ask.clone())).map(Feed::answer);
        let key = spec.broad(ask);
        let broad = self.feeds.get(&key).map(Feed::answer);
        match (exact, broad) {
            (Some(Ok(reader)), _) => Ok((reader, true)),
            (_, Some(Ok(reader))) if self.fetched.contains(ask) => Ok((reader, false)),
            (_, Some(Ok(_))) => Err(self.fetching_fails.get(&key).cloned()),
            (Some(Err(Some(why))), _) | (_, Some(Err(Some(why)))) => Err(Some(why)),
            (_, None | Some(Err(None))) => Err(None),
        }
    }
}

// === for the actor ===

impl Source {
    /// Sets how the actor learns that something else is asked for.
    pub(crate) fn on_change(&self, poke: impl Fn() + Send + Sync + 'static) {
        // There is one actor.
        let _ = self.0.poke.set(Box::new(poke));
    }

    /// What has changed since the last call, and whether it is asked for now. What is not has to be fetched when it is
    /// asked for again.
    pub(crate) fn take_changes(&self) -> Vec<(Ask, bool)> {
        let mut state = self.state();
        let SourceState { asked, fetched, changed, .. } = &mut *state;
        let look = |ask: Ask| {
            let is_asked = asked.contains_key(&ask);
            if !is_asked {
                fetched.remove(&ask);
            }
            (ask, is_asked)
        };
        mem::take(changed).into_iter().map(look).collect()
    }

    /// Everything that is asked for is news, for an actor that knows nothing.
    pub(crate) fn change_all(&self) {
        let mut state = self.state();
        state.changed = state.asked.keys().cloned().collect();
    }

    pub(crate) fn add_feed(&self, key: FeedKey, reader: StoreReader) {
        self.state().feeds.insert(key, Feed { reader, state: FeedState::Pending });
    }

    pub(crate) fn drop_feed(&self, key: &FeedKey) {
        let mut state = self.state();
        state.feeds.remove(key);
        state.fetching_fails.remove(key);
        if !state.feeds.keys().any(|key| matches!(key, FeedKey::Broad(_))) {
            state.fetched.clear();
        }
    }

    pub(crate) fn set_state(&self, key: &FeedKey, to: FeedState) {
        if let Some(feed) = self.state().feeds.get_mut(key) {
            feed.state = to;
        }
    }

    /// Whether a watch that exists for other reasons was listed.
    pub(crate) fn is_listed(&self) -> bool {
        let whole = self.state().whole.clone();
        whole.is_some_and(|whole| whole.reader.is_synced())
    }

    /// The store of a watch that exists for other reasons is in this state.
    pub(crate) fn set_whole(&self, to: FeedState) {
        if let Some(whole) = &mut self.state().whole {
            whole.state = to;
        }
    }

    /// A broad watch can answer these from now on: the actor has not been told that nobody asks any more.
    pub(crate) fn fetched<'a>(&self, key: &FeedKey, asks: impl IntoIterator<Item = &'a Ask>) {
        let mut state = self.state();
        state.fetched.extend(asks.into_iter().cloned());
        state.fetching_fails.remove(key);
    }

    pub(crate) fn has_fetched(&self, ask: &Ask) -> bool {
        self.state().fetched.contains(ask)
    }

    pub(crate) fn fetching_fails(&self, key: &FeedKey, why: String) {
        self.state().fetching_fails.insert(key.clone(), why);
    }

    /// Sets why objects cannot be read or may be out of date.
    pub(crate) fn set_problems(&self, problems: Vec<String>) {
        self.state().problems = problems;
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.state().problems.clone()
    }

    /// How many objects are cached, and their bytes of JSON. A shared store counts elsewhere.
    pub(crate) fn size(&self) -> (usize, usize) {
        let readers: Vec<_> = self.state().feeds.values().map(|feed| feed.reader.clone()).collect();
        readers.iter().fold((0, 0), |(count, bytes), it| (count + it.len(), bytes + it.bytes()))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.0.spec.ty)
    }
}

#[cfg(test)]
mod tests;
