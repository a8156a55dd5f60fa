//! A handler with a finalizer that records its calls of finalize and answers as the test chooses. Parents
//! are distinguished by namespace too, because tests share a server.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Error;
use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{object::Object, prelude::*};
use serde_json::json;

use crate::{
    recipe,
    world::{World, eventually},
};

/// The answer of finalize.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Done,
    NotYet,
    /// Returns that it is done once the child `backup` is there.
    BacksUp,
    Fails,
}

/// Syncs as recipes specify.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cleaner(Arc<Mutex<Notes>>);

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
    /// Changes the answer from now on.
    pub(crate) fn answers(&self, answer: Answer) {
        self.0.lock().unwrap().answer = answer;
    }

    /// How often it has finalized a parent of the test's namespace.
    pub(crate) fn finalized(&self, world: &World, name: &str) -> usize {
        self.count(world, name, |call| call.answer == Answer::Done)
    }

    /// The highest number of children in a call for a parent.
    pub(crate) fn children_seen(&self, world: &World, name: &str) -> usize {
        let mut most = 0;
        self.count(world, name, |call| {
            most = most.max(call.children);
            true
        });
        most
    }

    /// Waits until it was called so often.
    pub(crate) async fn until_called(&self, world: &World, name: &str, times: usize) {
        let calls = || async { self.count(world, name, |_| true) };
        eventually("further calls of finalize", calls, |calls| *calls >= times).await;
    }

    fn note(&self, request: &SyncRequest) -> Answer {
        let mut notes = self.0.lock().unwrap();
        let (parent, answer) = (&request.parent, notes.answer);
        let parent = (parent.namespace().map(str::to_owned), parent.name().to_owned());
        notes.calls.push(Call { parent, answer, children: request.children.len() });
        answer
    }

    fn count(&self, world: &World, name: &str, counts: impl FnMut(&&Call) -> bool) -> usize {
        let notes = self.0.lock().unwrap();
        let parent = (Some(world.namespace.clone()), name.to_owned());
        notes.calls.iter().filter(|call| call.parent == parent).filter(counts).count()
    }
}

impl Handler for Cleaner {
    type Parent = Object;
    type Response = SyncResponse;

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
            Answer::BacksUp if request.child::<ConfigMap>("backup")?.is_some() => {
                Ok(FinalizeResponse::done())
            }
            Answer::BacksUp => {
                let backup = recipe::config_map("backup", json!({"salt": "all of it"}));
                Ok(FinalizeResponse::wait().child(backup))
            }
            Answer::Fails => Err(Error::msg("the drain is clogged")),
        }
    }
}
