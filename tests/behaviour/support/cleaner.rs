//! A handler that asks for a finalizer, notes whom it was asked to clean up after, and does as the
//! test likes. Several tests share one server, so it tells parents apart by namespace, too.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use operetta::prelude::*;

use crate::{
    recipe,
    world::{World, eventually},
};

/// What it answers when it is asked to clean up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Done,
    NotYet,
    Fails,
    Panics,
    /// Says that it is done, but not before it is to answer something else.
    Hangs,
}

/// Syncs as recipes say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cleaner(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    notes: Mutex<Notes>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Notes {
    answer: Answer,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    parent: (Option<String>, String),
    answer: Answer,
    children: usize,
}

impl Cleaner {
    /// Changes what it answers from now on.
    pub(crate) fn answers(&self, answer: Answer) {
        self.0.notes.lock().unwrap().answer = answer;
        self.0.changed.notify_all();
    }

    /// How often it said that it has cleaned up after a parent of the test's namespace.
    pub(crate) fn finalized(&self, world: &World, name: &str) -> usize {
        self.count(world, name, |call| call.answer == Answer::Done)
    }

    /// How many children it saw at most when it was asked to clean up after a parent.
    pub(crate) fn children_seen(&self, world: &World, name: &str) -> usize {
        let mut most = 0;
        self.count(world, name, |call| {
            most = most.max(call.children);
            true
        });
        most
    }

    /// Waits until it was asked so often.
    pub(crate) async fn until_asked(&self, world: &World, name: &str, times: usize) {
        let asked = || async { self.count(world, name, |_| true) };
        eventually("further tries to clean up", asked, |asked| *asked >= times).await;
    }

    fn note(&self, request: &SyncRequest) -> Answer {
        let mut notes = self.0.notes.lock().unwrap();
        let (parent, answer) = (&request.parent, notes.answer);
        let parent = (parent.namespace().map(str::to_owned), parent.name().to_owned());
        notes.calls.push(Call { parent, answer, children: request.children.len() });
        answer
    }

    fn until_let_go(&self) {
        let notes = self.0.notes.lock().unwrap();
        let hangs = |notes: &mut Notes| notes.answer == Answer::Hangs;
        drop(self.0.changed.wait_while(notes, hangs).unwrap());
    }

    fn count(&self, world: &World, name: &str, counts: impl FnMut(&&Call) -> bool) -> usize {
        let notes = self.0.notes.lock().unwrap();
        let parent = (Some(world.namespace.clone()), name.to_owned());
        notes.calls.iter().filter(|call| call.parent == parent).filter(counts).count()
    }
}

impl Handler for Cleaner {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        match self.note(request) {
            Answer::Done => Ok(FinalizeResponse::done()),
            Answer::NotYet => Ok(FinalizeResponse::retry_after(Duration::from_millis(20))),
            Answer::Fails => Err(Error::msg("the drain is clogged")),
            Answer::Panics => panic!("the drain bursts"),
            Answer::Hangs => {
                self.until_let_go();
                Ok(FinalizeResponse::done())
            }
        }
    }
}
