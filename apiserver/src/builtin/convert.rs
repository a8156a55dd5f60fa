//! The two kinds that are stored once and served in two forms: events (core and `events.k8s.io`)
//! and autoscalers (v1 and v2).
//!
//! Not imitated: the annotations in which v1 keeps metrics and behaviour that it has no fields for;
//! an autoscaler that is read as v1 and written back loses them.

use serde_json::{Value, json};

use super::{
    catalog::{self, BuiltinType},
    defaulting::default,
    path,
};

/// Names of a field of an event in `v1` and in `events.k8s.io/v1`.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// The type that objects of this type are stored as, when it is another: what is created in one
/// form is seen in both.
pub fn stored_as(ty: &BuiltinType) -> Option<&'static BuiltinType> {
    match (ty.group, ty.version, ty.kind) {
        ("events.k8s.io", "v1", "Event") => catalog::find("", "v1", "Event"),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => {
            catalog::find("autoscaling", "v2", "HorizontalPodAutoscaler")
        }
        _ => None,
    }
}

/// Turns an object of the other form into one of this type; others only change their version.
pub fn convert(object: &mut Value, to: &BuiltinType) {
    let from = path::text(object, "apiVersion").to_owned();
    match (from.as_str(), to.group, to.version, to.kind) {
        ("events.k8s.io/v1", "", "v1", "Event") => {
            for (core, events) in EVENT_FIELDS {
                rename(object, events, core);
            }
        }
        ("v1", "events.k8s.io", "v1", "Event") => {
            for (core, events) in EVENT_FIELDS {
                rename(object, core, events);
            }
        }
        ("autoscaling/v1", "autoscaling", "v2", _) => utilization_to_metric(object),
        ("autoscaling/v2", "autoscaling", "v1", _) => metric_to_utilization(object),
        _ => {}
    }
    default(to, object);
}

fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(value) = object.as_object_mut().and_then(|fields| fields.remove(from)) {
        path::set(object, to, value);
    }
}

const UTILIZATION: &str = "spec.targetCPUUtilizationPercentage";

fn utilization_to_metric(autoscaler: &mut Value) {
    if let Some(percent) = path::number(autoscaler, UTILIZATION) {
        let target = json!({ "type": "Utilization", "averageUtilization": percent });
        let metric = json!({ "type": "Resource", "resource": { "name": "cpu", "target": target } });
        path::set(autoscaler, "spec.metrics", vec![metric]);
    }
}

fn metric_to_utilization(autoscaler: &mut Value) {
    let is_cpu = |metric: &&Value| path::text(metric, "resource.name") == "cpu";
    let metric = path::list(autoscaler, "spec.metrics").iter().find(is_cpu);
    let percent = metric.and_then(|m| path::number(m, "resource.target.averageUtilization"));
    if let Some(percent) = percent {
        path::set(autoscaler, UTILIZATION, percent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events as the real server showed them in both forms.
    const EVENTS: &str = include_str!("testdata/events.json");

    #[test]
    fn an_event_is_seen_in_both_forms_as_the_real_server_shows_it() {
        let core = catalog::find("", "v1", "Event").unwrap();
        let events = catalog::find("events.k8s.io", "v1", "Event").unwrap();
        for case in serde_json::from_str::<Vec<Value>>(EVENTS).unwrap() {
            for (from, to, expected) in [
                ("events", core, &case["core"]),
                ("core", events, &case["events"]),
                ("core", core, &case["core"]),
            ] {
                let mut object = case[from].clone();
                convert(&mut object, to);
                assert_eq!(&object, expected);
            }
        }
        assert_eq!(stored_as(events).map(|ty| ty.group), Some(""));
    }

    #[test]
    fn a_target_of_processor_use_is_a_metric_of_the_second_version() {
        let old = json!({ "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
            "spec": { "maxReplicas": 3, "targetCPUUtilizationPercentage": 60 } });
        let mut object = old.clone();
        let find =
            |version| catalog::find("autoscaling", version, "HorizontalPodAutoscaler").unwrap();
        convert(&mut object, find("v2"));
        let metric = &object["spec"]["metrics"][0]["resource"];
        assert_eq!(metric["target"]["averageUtilization"], 60);
        convert(&mut object, find("v1"));
        assert_eq!(object["spec"]["targetCPUUtilizationPercentage"], 60);
    }
}
