//! The handler of a script, and the text of what happens around it.

use std::{fmt::Write as _, str::FromStr, time::Duration};

use serde_json::{Value, json};

use super::{driver::Scene, text};
use crate::{
    journal::{Fact, Failure},
    object::Quoted,
    operator::{FinalizeResponse, Handler, SyncRequest, SyncResponse},
    run::{Effect, Event, HandlerError, Purpose, Response},
};

/// The handler of a script.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The children by name, each with its data; null for none.
    pub(super) wants: Value,
    pub(super) status: Option<Value>,
    pub(super) mood: Mood,
    pub(super) has_finalizer: bool,
    /// What has happened, one line each.
    pub(super) told: String,
}

/// How a handler answers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    #[default]
    Works,
    Fails,
    FailsForGood,
    Finalizing,
}

impl FromStr for Mood {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "works" => Ok(Self::Works),
            "fails" => Ok(Self::Fails),
            "fails-for-good" => Ok(Self::FailsForGood),
            "finalizing" => Ok(Self::Finalizing),
            other => Err(format!("unknown mood {other}")),
        }
    }
}

/// A child as a handler returns it: its data, or all of it but its name.
pub(super) fn child(name: &str, body: &Value) -> Value {
    let mut child = if body.get("data").is_some() { body.clone() } else { json!({"data": body}) };
    child["apiVersion"] = json!("v1");
    child["kind"] = json!("ConfigMap");
    child["metadata"]["name"] = json!(name);
    child
}

impl Script {
    fn failed(&self) -> HandlerError {
        let permanent = self.mood == Mood::FailsForGood;
        let message = Quoted::new("the oven is cold");
        let failure = Failure::Handler { message, permanent, retry_after: None };
        HandlerError { failure, status: None }
    }
}

impl Scene for Script {
    fn called(&mut self, purpose: Purpose, _: &SyncRequest) -> Result<Response, HandlerError> {
        if matches!(self.mood, Mood::Fails | Mood::FailsForGood) {
            return Err(self.failed());
        }
        let children = self.wants.as_object().into_iter().flatten();
        let children = children.map(|(name, body)| child(name, body)).collect();
        let status = self.status.clone();
        Ok(match (purpose, self.mood) {
            (Purpose::Sync, _) => {
                Response::Synced(SyncResponse { status, children, ..SyncResponse::new() })
            }
            (Purpose::Finalize, Mood::Finalizing) => {
                Response::Finalized(FinalizeResponse::retry_after(Duration::from_secs(5)))
            }
            (Purpose::Finalize, _) => Response::Finalized(FinalizeResponse::done()),
        })
    }

    fn told(&mut self, event: &Event) {
        writeln!(self.told, "{}", text::event(event)).unwrap();
    }

    fn stepped(&mut self, facts: &[Fact], effects: &[Effect]) {
        for fact in facts {
            writeln!(self.told, "  {}", text::fact(fact)).unwrap();
        }
        for effect in effects {
            writeln!(self.told, "> {}", text::effect(effect)).unwrap();
        }
    }
}

impl Handler for Script {
    fn sync(&self, _: &SyncRequest) -> anyhow::Result<SyncResponse> {
        unreachable!("the machine has it called")
    }

    fn has_finalizer(&self) -> bool {
        self.has_finalizer
    }
}
