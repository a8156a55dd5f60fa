//! The handler of a script, and the log of its reconciles.

use std::{fmt::Write as _, str::FromStr, time::Duration};

use serde_json::{Value, json};

use super::{
    caches::Caches,
    changes, child_options,
    driver::{Late, Scenario},
    text,
    world::{World, named},
};
use crate::{
    journal::{Fact, Failure},
    object::Quoted,
    operator::{FinalizeResponse, HandlerEvent, Related, Stage, SyncRequest, SyncResponse},
    run::{Effect, Event, HandlerError, Method, Response},
};

/// The handler of a script.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The children by name, each with its data; null for none.
    pub(super) wants: Value,
    pub(super) status: Option<Value>,
    /// The labels and annotations that it puts on the parent.
    pub(super) puts: Value,
    /// The Events that it returns, also with an error.
    pub(super) events: Vec<HandlerEvent>,
    /// How long each stage may take.
    pub(super) stages: Vec<Stage>,
    pub(super) behaviour: Behaviour,
    pub(super) has_finalizer: bool,
    pub(super) shows_bodies: bool,
    /// The pending changes by others: the kind of request, and how many of that kind come before.
    pub(super) changes: Vec<(String, usize, String, Value)>,
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
    /// Its children are needed for the finalization.
    Backing,
    /// It is done, and children that stay without their parent go, too.
    DeletingOrphans,
    /// It is done, and returns children.
    Contradicting,
    /// After its deadline.
    Late,
    /// After the timeout was reported.
    Later,
}

impl FromStr for Behaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "works" => Ok(Self::Works),
            "fails" => Ok(Self::Fails),
            "fails-for-good" => Ok(Self::FailsForGood),
            "finalizing" => Ok(Self::Finalizing),
            "backing" => Ok(Self::Backing),
            "deleting-orphans" => Ok(Self::DeletingOrphans),
            "contradicting" => Ok(Self::Contradicting),
            "late" => Ok(Self::Late),
            "later" => Ok(Self::Later),
            other => Err(format!("unknown behaviour {other}")),
        }
    }
}

/// A child as a handler returns it: from its data, or from its whole body without a name.
pub(super) fn child(name: &str, body: &Value) -> Value {
    let mut child = if body.get("data").is_some() { body.clone() } else { json!({"data": body}) };
    let id = named(name);
    child["apiVersion"] = json!(id.ty.api_version());
    child["kind"] = json!(id.ty.kind());
    child["metadata"]["name"] = json!(id.key.name);
    child["metadata"]["namespace"] = json!(id.key.namespace);
    child
}

impl Script {
    /// Plans a change by others.
    pub(super) fn meanwhile(&mut self, arguments: &str, input: &Value) {
        let words: Vec<_> = arguments.splitn(3, ' ').collect();
        let [kind, nth, change] = words[..] else { panic!("meanwhile <kind> <nth> <change>") };
        let before = nth.parse::<usize>().unwrap() - 1;
        self.changes.push((kind.to_owned(), before, change.to_owned(), input.clone()));
    }

    fn failed(&self) -> HandlerError {
        let permanent = self.behaviour == Behaviour::FailsForGood;
        let message = Quoted::new("connection refused");
        let failure = Failure::Handler { message, permanent, retry_after: None };
        HandlerError { events: self.events.clone(), ..failure.into() }
    }
}

impl Scenario for Script {
    fn called(&mut self, method: Method, _: &SyncRequest) -> Result<Response, HandlerError> {
        if matches!(self.behaviour, Behaviour::Fails | Behaviour::FailsForGood) {
            return Err(self.failed());
        }
        let children = self.wants.as_object().into_iter().flatten();
        let children = children.map(|(key, body)| {
            let (words, name) = key.rsplit_once(' ').unwrap_or(("", key));
            child_options::desired(words, child(name, body))
        });
        let children = children.collect();
        let status = self.status.clone();
        Ok(match (method, self.behaviour) {
            (Method::Related, _) => {
                Response::Related(Related::new().named_of_type(&named("Secret/ca").ty, "ca"))
            }
            (Method::Sync, _) => {
                let (stages, events) = (self.stages.clone(), self.events.clone());
                let decoration = serde_json::from_value(self.puts.clone()).unwrap_or_default();
                let response =
                    SyncResponse { status, children, events, stages, ..SyncResponse::new() };
                Response::Synced(response.decorating(decoration))
            }
            (Method::Finalize, Behaviour::Finalizing) => {
                Response::Finalized(FinalizeResponse::retry_after(Duration::from_secs(5)))
            }
            (Method::Finalize, Behaviour::Backing) => {
                let response = FinalizeResponse::wait();
                Response::Finalized(FinalizeResponse { status, children, ..response })
            }
            (Method::Finalize, Behaviour::DeletingOrphans) => {
                Response::Finalized(FinalizeResponse::done().deleting_orphans())
            }
            (Method::Finalize, Behaviour::Contradicting) => {
                Response::Finalized(FinalizeResponse { children, ..FinalizeResponse::done() })
            }
            (Method::Finalize, _) => {
                let events = self.events.clone();
                Response::Finalized(FinalizeResponse { events, ..FinalizeResponse::done() })
            }
        })
    }

    fn late(&self) -> Option<Late> {
        match self.behaviour {
            Behaviour::Late => Some(Late::BeforeTheReport),
            Behaviour::Later => Some(Late::AfterTheReport),
            _ => None,
        }
    }

    fn meanwhile(&mut self, kind: &str, world: &mut World, caches: &mut Caches) {
        let mut due = Vec::new();
        self.changes.retain_mut(|(of, before, change, input)| {
            if of != kind {
                return true;
            }
            if *before == 0 {
                due.push((change.clone(), input.take()));
                return false;
            }
            *before -= 1;
            true
        });
        for (change, input) in due {
            let line = change.split_once(' ').unwrap_or((&change, ""));
            assert!(changes::change(line, &input, world, caches), "unknown change {change}");
        }
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
            if let Some(body) = text::body(effect).filter(|_| self.shows_bodies) {
                writeln!(self.log, "    {body}").unwrap();
            }
        }
    }
}
