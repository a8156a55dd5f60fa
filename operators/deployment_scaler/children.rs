//! The child of a Deployment with business hours: a `PodDisruptionBudget` while it has replicas.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use kube::api::ObjectMeta;
use serde_json::json;

use crate::Selector;

/// A budget that lets one Pod at a time be evicted: the drain of a node never waits for ever.
pub(super) fn budget(parent: &Deployment) -> PodDisruptionBudget {
    let spec = PodDisruptionBudgetSpec {
        max_unavailable: Some(IntOrString::Int(1)),
        selector: Some(parent.spec.selector.clone()),
        ..PodDisruptionBudgetSpec::default()
    };
    let metadata = ObjectMeta { name: parent.metadata.name.clone(), ..ObjectMeta::default() };
    PodDisruptionBudget { metadata, spec: Some(spec), status: None }
}

/// Whether a budget is about the Pods of a Deployment. A Pod with two budgets cannot be evicted.
pub(super) fn covers(budget: &PodDisruptionBudget, parent: &Deployment) -> bool {
    // One without a selector is about no Pods.
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let selector = selector.and_then(|it| serde_json::from_value::<Selector>(json!(it)).ok());
    selector.is_some_and(|selector| selector.matches(&pod_labels(parent)))
}

fn pod_labels(parent: &Deployment) -> BTreeMap<String, String> {
    let template = parent.spec.template.metadata.as_ref();
    template.and_then(|metadata| metadata.labels.clone()).unwrap_or_default()
}
