//! The panics that tests ask for. They belong to the board, because each process of a test has one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Clone, Default)]
pub(super) struct Panics(Arc<Mutex<BTreeMap<String, usize>>>);

impl Panics {
    pub(super) fn ask(&self, actor: &str, times: usize) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match times {
            0 => asked.remove(actor),
            _ => asked.insert(actor.to_owned(), times),
        };
    }

    pub(super) fn take(&self, actor: impl FnOnce() -> String) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_empty() {
            return false;
        }
        let actor = actor();
        let Some(left) = asked.get_mut(&actor) else { return false };
        *left = left.saturating_sub(1);
        if *left == 0 {
            asked.remove(&actor);
        }
        true
    }
}
