//! One webhook of a configuration.

use std::time::Duration;

use serde_json::Value;

use super::{
    attributes::{Attributes, Form},
    policy::{BoundFacts, Conditions},
    rule::Matching,
};
use crate::{
    callout::{Failure, Post, Target},
    cel::{Names, Scope},
    cluster::Cluster,
    status::StatusError,
};

/// What the server calls itself.
const AGENT: &str = "kube-apiserver-admission";
/// The time of a webhook that asks for none.
const TIMEOUT: u64 = 10;
/// The most that the conditions of a webhook may cost.
const CONDITIONS_BUDGET: i64 = 2_500_000;

/// A webhook, ready to be asked.
#[derive(Debug)]
pub(super) struct Webhook {
    pub name: String,
    /// Distinguishes webhooks of all configurations.
    pub id: String,
    pub matching: Matching,
    conditions: Conditions,
    pub target: Target,
    pub versions: Vec<String>,
    /// Whether a write continues without an answer.
    pub ignores_failure: bool,
    /// Whether it is asked again when others changed the object.
    pub is_reinvoked: bool,
    has_side_effects: bool,
    timeout: Duration,
}

/// Why a webhook did not let a write pass.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It could not be asked; the reason.
    Failed(String),
    /// It said no, or something that no write survives.
    Denied(StatusError),
}

impl Webhook {
    /// The webhooks of a configuration.
    pub(super) fn all_of(configuration: &Value) -> Vec<Self> {
        let name = configuration["metadata"]["name"].as_str().unwrap_or_default();
        let webhooks = configuration["webhooks"].as_array().into_iter().flatten().enumerate();
        webhooks.map(|(at, webhook)| Self::of(name, at, webhook)).collect()
    }

    fn of(configuration: &str, at: usize, webhook: &Value) -> Self {
        let text = |field: &str| webhook[field].as_str().unwrap_or_default();
        let names = Names::new(false);
        let versions = webhook["admissionReviewVersions"].as_array().into_iter().flatten();
        Self {
            name: text("name").to_owned(),
            id: format!("{configuration}/{}/{at}", text("name")),
            matching: Matching::of_webhook(webhook),
            conditions: Conditions::of(&webhook["matchConditions"], &names),
            target: Target::of(&webhook["clientConfig"]),
            versions: versions.filter_map(Value::as_str).map(str::to_owned).collect(),
            ignores_failure: text("failurePolicy") == "Ignore",
            is_reinvoked: text("reinvocationPolicy") == "IfNeeded",
            has_side_effects: !matches!(text("sideEffects"), "None" | "NoneOnDryRun"),
            timeout: Duration::from_secs(webhook["timeoutSeconds"].as_u64().unwrap_or(TIMEOUT)),
        }
    }

    /// The form in which it sees the write, if it is asked.
    pub(super) fn form(
        &self,
        cluster: &Cluster,
        attributes: &Attributes<'_>,
    ) -> Result<Option<Form>, StatusError> {
        let Some(form) = self.matching.form(cluster, attributes)? else { return Ok(None) };
        if self.conditions.is_empty() {
            return Ok(Some(form));
        }
        let facts = BoundFacts::of(attributes, &form);
        let mut scope = Scope::new(facts.with(&Value::Null, &Value::Null), CONDITIONS_BUDGET);
        match self.conditions.hold(&mut scope, !self.ignores_failure) {
            Ok(holds) => Ok(holds.then_some(form)),
            Err(why) => {
                let id = &attributes.asked.resource.id;
                Err(StatusError::forbidden(id, attributes.name(), &why))
            }
        }
    }

    /// Refuses what is not to have effects, if this has some.
    pub(super) fn check_dry_run(&self, dry_run: bool) -> Result<(), Refusal> {
        if !dry_run || !self.has_side_effects {
            return Ok(());
        }
        let why = format!("admission webhook \"{}\" does not support dry run", self.name);
        Err(Refusal::Denied(StatusError::bad_request(why)))
    }

    /// The call that sends a review.
    pub(super) fn post(&self, review: &Value) -> Post<'_> {
        Post {
            target: &self.target,
            body: review.to_string(),
            agent: AGENT,
            timeout: self.timeout,
            tells_timeout: true,
        }
    }

    /// The refusal of the write.
    pub(super) fn refusal(&self, refusal: Refusal) -> StatusError {
        match refusal {
            Refusal::Failed(why) => self.failed(&why),
            Refusal::Denied(error) => error,
        }
    }

    /// The refusal of a write that needed an answer.
    fn failed(&self, why: &str) -> StatusError {
        StatusError::internal_error(&format!("failed calling webhook \"{}\": {why}", self.name))
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(format!("failed to call webhook: {failure}"))
    }
}
