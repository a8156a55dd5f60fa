//! The handler of a script, and the log of its reconciles.

use std::{fmt::Write as _, str::FromStr, time::Duration};

use serde_json::{Value, json};

use super::{driver::Scenario, text};
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
    pub(super) behaviour: Behaviour,
    pub(super) has_finalizer: bool,
    /// The events, facts and effects, one per line.
    pub(super) log: String,
}

/// How a handler answers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    #[default]
    Works,
    Fails,
    FailsForGood,
    Finalizing,
}

impl FromStr for Behaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "works" => Ok(Self::Works),
            "fails" => Ok(Self::Fails),
            "fails-for-good" => Ok(Self::FailsForGood),
            "finalizing" => Ok(Self::Finalizing),
            other => Err(format!("unknown behaviour {other}")),
        }
    }
}

/// A child as a handler returns it: from its data, or from its whole body without a name.
pub(super) fn child(name: &str, body: &Value) -> Value {
    let mut child = if body.get("data").is_some() { body.clone() } else { json!({"data": body}) };
    child["apiVersion"] = json!("v1");
    child["kind"] = json!("ConfigMap");
    child["metadata"]["name"] = json!(name);
    child
}

impl Script {
    fn failed(&self) -> HandlerError {
        let permanent = self.behaviour == Behaviour::FailsForGood;
        let message = Quoted::new("connection refused");
        let failure = Failure::Handler { message, permanent, retry_after: None };
        HandlerError { failure, status: None }
    }
}

impl Scenario for Script {
    fn called(&mut self, purpose: Purpose, _: &SyncRequest) -> Result<Response, HandlerError> {
        if matches!(self.behaviour, Behaviour::Fails | Behaviour::FailsForGood) {
            return Err(self.failed());
        }
        let children = self.wants.as_object().into_iter().flatten();
        let children = children.map(|(name, body)| child(name, body)).collect();
        let status = self.status.clone();
        Ok(match (purpose, self.behaviour) {
            (Purpose::Sync, _) => {
                Response::Synced(SyncResponse { status, children, ..SyncResponse::new() })
            }
            (Purpose::Finalize, Behaviour::Finalizing) => {
                Response::Finalized(FinalizeResponse::retry_after(Duration::from_secs(5)))
            }
            (Purpose::Finalize, _) => Response::Finalized(FinalizeResponse::done()),
        })
    }

    fn received(&mut self, event: &Event) {
        writeln!(self.log, "{}", text::event(event)).unwrap();
    }

    fn stepped(&mut self, facts: &[Fact], effects: &[Effect]) {
        for fact in facts {
            writeln!(self.log, "  {}", text::fact(fact)).unwrap();
        }
        for effect in effects {
            writeln!(self.log, "> {}", text::effect(effect)).unwrap();
        }
    }
}

impl Handler for Script {
    fn sync(&self, _: &SyncRequest) -> anyhow::Result<SyncResponse> {
        unreachable!("the machine calls it")
    }

    fn has_finalizer(&self) -> bool {
        self.has_finalizer
    }
}
