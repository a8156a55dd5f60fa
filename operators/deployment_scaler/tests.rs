//! The handler as a function: from a request at a certain time to a response.

use std::time::SystemTime;

use k8s_openapi::{
    api::{
        apps::v1::Deployment, autoscaling::v2::HorizontalPodAutoscaler,
        policy::v1::PodDisruptionBudget,
    },
    jiff::Timestamp,
};
use operetta::{
    object::K8sType,
    operator::{DecoratorResponse, Handler, HeldReplicas, Permanent, SyncRequest},
};
use serde_json::{Value, json};

use super::{DeploymentScaler, HOURS, NAME, STATE, config};

/// A Thursday.
const NOON: &str = "2026-11-26T12:00:00Z";
const NIGHT: &str = "2026-11-26T22:00:00Z";

fn request(hours: &str, held: &str, replicas: i32) -> SyncRequest {
    let mut labels = json!({});
    if !held.is_empty() {
        labels[HeldReplicas::label(NAME)] = json!(held);
    }
    let pods = json!({"app": "shop"});
    let value = json!({
        "metadata": {"name": "shop", "labels": labels, "annotations": {HOURS: hours}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": pods},
            "template": {"metadata": {"labels": pods}, "spec": {"containers": []}},
        },
    });
    SyncRequest::example(&K8sType::of::<Deployment>(), value).unwrap()
}

fn synced(request: SyncRequest, now: &str) -> anyhow::Result<DecoratorResponse> {
    let now: Timestamp = now.parse()?;
    DeploymentScaler.sync(&request.at(SystemTime::from(now)).typed()?)
}

/// The state, the replicas that are held, and whether there is a budget.
fn seen(held: &str, replicas: i32, now: &str) -> (String, Option<i32>, bool) {
    let DecoratorResponse { response, decoration } =
        synced(request("Mon-Fri 08:00-18:00 UTC", held, replicas), now).unwrap();
    let state = decoration.annotations()[STATE].clone();
    (state, decoration.replicas(), !response.children.is_empty())
}

#[test]
fn the_operator_can_be_registered() {
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn a_deployment_is_held_at_zero_outside_of_business_hours_and_has_a_budget_while_it_is_up() {
    let open = "open until Thu 2026-11-26 18:00 UTC";
    let closed = "closed until Fri 2026-11-27 08:00 UTC: ";
    for (held, replicas, now, state, holds, has_budget) in [
        ("", 3, NOON, open.to_owned(), None, true),
        ("", 0, NOON, open.to_owned(), None, false),
        ("held-3-at-0", 0, NOON, open.to_owned(), None, false),
        ("", 3, NIGHT, format!("{closed}scaled from 3 to 0"), Some(0), true),
        ("recorded-3-at-0", 0, NIGHT, format!("{closed}scaled from 3 to 0"), Some(0), false),
        ("held-3-at-0", 0, NIGHT, format!("{closed}scaled from 3 to 0"), Some(0), false),
        ("", 0, NIGHT, format!("{closed}it had no replicas"), Some(0), false),
        ("held-0-at-0", 0, NIGHT, format!("{closed}it had no replicas"), Some(0), false),
        (
            "overridden-3-at-0",
            5,
            NIGHT,
            format!("{closed}scaled to 5 by somebody else, which stays until then"),
            Some(0),
            true,
        ),
    ] {
        let expected = (state, holds, has_budget);
        assert_eq!(seen(held, replicas, now), expected, "{held} {replicas} {now}");
    }
}

#[test]
fn it_looks_again_when_the_hours_change() {
    let after =
        |now| synced(request("Mon-Fri 08:00-18:00 UTC", "", 1), now).unwrap().response.resync;
    assert_eq!(after(NOON).unwrap().as_secs(), 6 * 3600);
    assert_eq!(after(NIGHT).unwrap().as_secs(), 10 * 3600);
    let always = synced(request("Mon-Sun 00:00-24:00 UTC", "", 1), NOON).unwrap();
    assert_eq!(always.response.resync, None);
}

#[test]
fn hours_that_cannot_be_read_are_a_permanent_error_in_one_sentence() {
    let error = synced(request("weekdays", "", 3), NOON).unwrap_err();
    assert!(error.is::<Permanent>());
    let expected = "the annotation operetta.dev/business-hours is `weekdays`: it is not `DAYS BEGIN-END ZONE`, \
                    such as `Mon-Fri 08:00-18:00 Europe/Berlin`: it has 1 parts instead of three; nothing is changed";
    assert_eq!(error.to_string(), expected);
}

fn budget(name: &str, selector: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"selector": selector, "minAvailable": 1}})
}

#[test]
fn no_second_budget_is_added_for_the_same_pods() {
    let covers = |selector: Value| {
        let request = request("Mon-Sun 00:00-24:00 UTC", "", 3);
        let request =
            request.with_related::<PodDisruptionBudget>(budget("theirs", &selector)).unwrap();
        let DecoratorResponse { response, decoration } = synced(request, NOON).unwrap();
        let is_named = decoration.annotations()[STATE].contains("theirs");
        assert_eq!(is_named, response.children.is_empty());
        response.children.is_empty()
    };
    assert!(covers(json!({"matchLabels": {"app": "shop"}})));
    assert!(covers(json!({})));
    assert!(!covers(json!({"matchLabels": {"app": "other"}})));
}

#[test]
fn an_autoscaler_of_the_deployment_is_named() {
    let state = |target: &str| {
        let scaler = json!({"metadata": {"name": "auto"}, "spec": {
            "maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": target},
        }});
        let request = request("Mon-Fri 08:00-18:00 UTC", "held-3-at-0", 0);
        let request = request.with_related::<HorizontalPodAutoscaler>(scaler).unwrap();
        synced(request, NIGHT).unwrap().decoration.annotations()[STATE].clone()
    };
    let named = "; the HorizontalPodAutoscaler auto is off while there are no replicas";
    assert!(state("shop").ends_with(named) && !state("other").contains("auto"));
}
