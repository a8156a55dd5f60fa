//! `deployment-scaler`: a Deployment with business hours has no replicas outside of them.
//!
//! Shows a decorator, which owns no type: the annotation [`HOURS`] of a Deployment selects it. Shows a handler
//! that depends on the time of its request, and replicas that are held by the framework, which records how many
//! there were.
//!
//! Invariants:
//! - business hours that cannot be read change nothing;
//! - what a Deployment had comes back when it opens, and when the annotation goes;
//! - a number of replicas that somebody else sets outside of business hours stays until the next ones.

use std::{fmt::Write, time::Duration};

use k8s_openapi::{
    api::{
        apps::v1::Deployment, autoscaling::v2::HorizontalPodAutoscaler,
        policy::v1::PodDisruptionBudget,
    },
    jiff::{Timestamp, Zoned},
};
use operetta::operator::{
    AnyOperator, ChildConfig, Decoration, DecoratorConfig, DecoratorResponse, Handler, HeldPhase,
    HeldReplicas, OperatorConfig, Permanent, Related, SyncRequest, SyncResponse,
};

mod children;
mod hours;

pub use hours::{BusinessHours, Hours, InvalidHours};

/// The annotation of a Deployment with its business hours.
pub const HOURS: &str = "operetta.dev/business-hours";
/// The annotation in which the operator reports the state.
pub const STATE: &str = "operetta.dev/business-hours-state";
/// The name of the operator.
pub const NAME: &str = "deployment-scaler";

/// The operator as the binary registers it.
pub fn operator() -> AnyOperator {
    AnyOperator::new(config(), DeploymentScaler)
}

/// Its name and types. Every day many budgets are created and deleted at the same time, so there is no deletion
/// limit. The annotations on a Deployment have names of the operator, so it takes them from other managers.
pub fn config() -> DecoratorConfig {
    OperatorConfig::decorates::<Deployment>(NAME)
        .with_parent_annotations(HOURS)
        .with_held_replicas()
        .with_forced_decoration()
        .child::<PodDisruptionBudget>(ChildConfig::apply().ignoring_status())
        .related::<PodDisruptionBudget>()
        .related::<HorizontalPodAutoscaler>()
        .without_deletion_limit()
}

/// The handler.
#[derive(Debug, Clone, Copy)]
pub struct DeploymentScaler;

impl Handler for DeploymentScaler {
    type Parent = Deployment;
    type Response = DecoratorResponse;

    fn related(&self, _: &Deployment) -> Related {
        Related::new().all::<PodDisruptionBudget>().all::<HorizontalPodAutoscaler>()
    }

    fn sync(&self, request: &SyncRequest<Deployment>) -> anyhow::Result<DecoratorResponse> {
        let text = request.object().annotations().get(HOURS).cloned().unwrap_or_default();
        // No retry fixes the annotation.
        let hours = BusinessHours::parse(&text).map_err(|why| invalid(&text, &why))?;
        let now = Timestamp::try_from(request.now())?;
        let hours = hours.at(now);
        let other = other_budget(request)?;
        let state = state(request, &hours, other.as_deref())?;
        let mut decoration = Decoration::new().annotation(STATE, state);
        let mut response = SyncResponse::new();
        if let Hours::Open(Some(change)) | Hours::Closed(change) = &hours {
            response = response.resync_after(until(change, now));
        }
        if matches!(hours, Hours::Closed(_)) {
            decoration = decoration.hold_replicas(0);
        }
        let needs_budget = replicas(&request.parent) > 0 && other.is_none();
        let budget = needs_budget.then(|| children::budget(&request.parent));
        Ok(response.children(budget).decorating(decoration))
    }
}

fn invalid(text: &str, why: &InvalidHours) -> Permanent {
    Permanent(format!("the annotation {HOURS} is `{text}`: {why}; nothing is changed"))
}

fn until(change: &Zoned, now: Timestamp) -> Duration {
    Duration::try_from(change.timestamp().duration_since(now)).unwrap_or_default()
}

/// One where it says nothing, as Kubernetes does.
fn replicas(parent: &Deployment) -> i32 {
    parent.spec.replicas.unwrap_or(1)
}

/// The name of a budget of somebody else for the same Pods.
fn other_budget(request: &SyncRequest<Deployment>) -> anyhow::Result<Option<String>> {
    let budgets = request.related::<PodDisruptionBudget>();
    for (object, budget) in budgets.raw().iter().zip(budgets.iter()) {
        let is_ours = object.controller() == Some(request.object().uid());
        if !is_ours && children::covers(budget?, &request.parent) {
            return Ok(Some(object.name().to_owned()));
        }
    }
    Ok(None)
}

/// The state in a sentence. It does not change while the state does not.
fn state(
    request: &SyncRequest<Deployment>,
    hours: &Hours,
    other_budget: Option<&str>,
) -> anyhow::Result<String> {
    let now = replicas(&request.parent);
    let held = HeldReplicas::of(request.object(), NAME);
    let mut state = hours.to_string();
    if matches!(hours, Hours::Closed(_)) {
        state += &match held {
            Some(HeldReplicas { phase: HeldPhase::Held, at, .. }) if at != now => overridden(now),
            Some(HeldReplicas { phase: HeldPhase::Overridden, .. }) if now != 0 => overridden(now),
            Some(HeldReplicas { before: 0, .. }) => ": it had no replicas".to_owned(),
            Some(HeldReplicas { before, .. }) if now == 0 => scaled(before),
            _ if now == 0 => ": it had no replicas".to_owned(),
            _ => scaled(now),
        };
        if let Some(scaler) = autoscaler(request)? {
            write!(
                state,
                "; the HorizontalPodAutoscaler {scaler} is off while there are no replicas"
            )?;
        }
    }
    if let Some(other) = other_budget {
        write!(state, "; the PodDisruptionBudget {other} has these Pods, so none is added")?;
    }
    Ok(state)
}

fn scaled(before: i32) -> String {
    format!(": scaled from {before} to 0")
}

fn overridden(now: i32) -> String {
    format!(": scaled to {now} by somebody else, which stays until then")
}

fn autoscaler(request: &SyncRequest<Deployment>) -> anyhow::Result<Option<String>> {
    for scaler in request.related::<HorizontalPodAutoscaler>().iter() {
        let scaler = scaler?;
        let target = &scaler.spec.scale_target_ref;
        if target.kind == "Deployment" && target.name == request.object().name() {
            return Ok(scaler.metadata.name.clone());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
