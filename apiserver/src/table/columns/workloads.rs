//! Pods, and what makes them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    column::{AGE, BuiltInColumn, NAME},
    pod,
};
use crate::table::{
    age, cells,
    cells::{joined, labels, list, number},
};

const DESIRED: BuiltInColumn = ("Desired", "integer", 0, |o, _| number(&o["spec"]["replicas"]));
const CURRENT: BuiltInColumn = ("Current", "integer", 0, |o, _| number(&o["status"]["replicas"]));
const READY: BuiltInColumn = ("Ready", "integer", 0, |o, _| number(&o["status"]["readyReplicas"]));
const CONTAINERS: BuiltInColumn = ("Containers", "string", 1, containers);
const IMAGES: BuiltInColumn = ("Images", "string", 1, images);
const SELECTOR: BuiltInColumn = ("Selector", "string", 1, selector);

/// Those of the core group.
pub(super) fn core(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "pods" => &[
            NAME,
            ("Ready", "string", 0, pod::ready_containers),
            ("Status", "string", 0, pod::status),
            ("Restarts", "string", 0, pod::restarts),
            AGE,
            ("IP", "string", 1, |o, _| cells::or_none(&o["status"]["podIP"])),
            ("Node", "string", 1, |o, _| cells::or_none(&o["spec"]["nodeName"])),
            ("Nominated Node", "string", 1, |o, _| {
                cells::or_none(&o["status"]["nominatedNodeName"])
            }),
            ("Readiness Gates", "string", 1, readiness_gates),
        ],
        "podtemplates" => &[
            NAME,
            ("Containers", "string", 0, |o, _| of_containers(&o["template"], "name")),
            ("Images", "string", 0, |o, _| of_containers(&o["template"], "image")),
            ("Pod Labels", "string", 0, |o, _| labels(&o["template"]["metadata"]["labels"])),
        ],
        "replicationcontrollers" => &[
            NAME,
            DESIRED,
            CURRENT,
            READY,
            AGE,
            CONTAINERS,
            IMAGES,
            ("Selector", "string", 1, |o, _| labels(&o["spec"]["selector"])),
        ],
        _ => return None,
    })
}

/// Those of other groups.
pub(super) fn columns(plural: &str) -> Option<&'static [BuiltInColumn]> {
    Some(match plural {
        "deployments" => &[
            NAME,
            ("Ready", "string", 0, ready_replicas),
            ("Up-to-date", "string", 0, |o, _| number(&o["status"]["updatedReplicas"])),
            ("Available", "string", 0, |o, _| number(&o["status"]["availableReplicas"])),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "statefulsets" => &[NAME, ("Ready", "string", 0, ready_replicas), AGE, CONTAINERS, IMAGES],
        "replicasets" => &[NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR],
        "daemonsets" => &[
            NAME,
            ("Desired", "integer", 0, |o, _| number(&o["status"]["desiredNumberScheduled"])),
            ("Current", "integer", 0, |o, _| number(&o["status"]["currentNumberScheduled"])),
            ("Ready", "integer", 0, |o, _| number(&o["status"]["numberReady"])),
            ("Up-to-date", "integer", 0, |o, _| number(&o["status"]["updatedNumberScheduled"])),
            ("Available", "integer", 0, |o, _| number(&o["status"]["numberAvailable"])),
            ("Node Selector", "string", 0, |o, _| {
                labels(&o["spec"]["template"]["spec"]["nodeSelector"])
            }),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "controllerrevisions" => &[
            NAME,
            ("Controller", "string", 0, controller),
            ("Revision", "string", 0, |o, _| number(&o["revision"])),
            AGE,
        ],
        "jobs" => &[
            NAME,
            ("Status", "string", 0, job_status),
            ("Completions", "string", 0, completions),
            ("Duration", "string", 0, job_duration),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "cronjobs" => &[
            NAME,
            ("Schedule", "string", 0, |o, _| o["spec"]["schedule"].clone()),
            ("Timezone", "string", 0, |o, _| cells::or_none(&o["spec"]["timeZone"])),
            ("Suspend", "boolean", 0, |o, _| cells::truth(&o["spec"]["suspend"])),
            ("Active", "integer", 0, |o, _| cells::count(&o["status"]["active"])),
            ("Last Schedule", "string", 0, |o, now| {
                cells::since_or_none(&o["status"]["lastScheduleTime"], now)
            }),
            AGE,
            ("Containers", "string", 1, |o, now| containers(&o["spec"]["jobTemplate"], now)),
            ("Images", "string", 1, |o, now| images(&o["spec"]["jobTemplate"], now)),
            ("Selector", "string", 1, |o, now| selector(&o["spec"]["jobTemplate"], now)),
        ],
        "horizontalpodautoscalers" => &[
            NAME,
            ("Reference", "string", 0, |o, _| cells::reference(&o["spec"]["scaleTargetRef"])),
            ("Targets", "string", 0, targets),
            ("MinPods", "string", 0, |o, _| match &o["spec"]["minReplicas"] {
                Value::Null => json!("<unset>"),
                number => json!(number.to_string()),
            }),
            ("MaxPods", "string", 0, |o, _| number(&o["spec"]["maxReplicas"])),
            ("Replicas", "string", 0, |o, _| number(&o["status"]["currentReplicas"])),
            AGE,
        ],
        _ => return None,
    })
}

fn containers(object: &Value, _: Timestamp) -> Value {
    of_containers(&object["spec"]["template"], "name")
}

fn images(object: &Value, _: Timestamp) -> Value {
    of_containers(&object["spec"]["template"], "image")
}

fn of_containers(template: &Value, field: &str) -> Value {
    let containers = list(&template["spec"]["containers"]);
    joined(&containers.filter_map(|c| c[field].as_str()).collect::<Vec<&str>>())
}

fn selector(object: &Value, _: Timestamp) -> Value {
    cells::selector(&object["spec"]["selector"])
}

/// `deployment.apps/name` of the owner that controls the object.
fn controller(object: &Value, _: Timestamp) -> Value {
    let mut owners = list(&object["metadata"]["ownerReferences"]);
    let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
        return json!("<none>");
    };
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let kind = text("kind").to_lowercase();
    let kind = if group.is_empty() { kind } else { format!("{kind}.{group}") };
    json!(format!("{kind}/{}", text("name")))
}

/// The first two metrics with their current values, as `cpu: 20%/50%`.
fn targets(scaler: &Value, _: Timestamp) -> Value {
    const SHOWN: usize = 2;
    let current: Vec<&Value> = list(&scaler["status"]["currentMetrics"]).collect();
    let metrics = list(&scaler["spec"]["metrics"]).enumerate();
    let all: Vec<String> = metrics
        .map(|(at, metric)| target(metric, current.get(at).copied().unwrap_or(&Value::Null)))
        .collect();
    match all.len() {
        0 => json!("<none>"),
        many if many > SHOWN => {
            json!(format!("{} + {} more...", all[..SHOWN].join(", "), many - SHOWN))
        }
        _ => json!(all.join(", ")),
    }
}

fn target(metric: &Value, current: &Value) -> String {
    let (source, names_resource, is_average_said) = match metric["type"].as_str() {
        Some("Resource") => ("resource", true, false),
        Some("ContainerResource") => ("containerResource", true, false),
        Some("Pods") => ("pods", false, false),
        Some("Object") => ("object", false, true),
        Some("External") => ("external", false, true),
        _ => return "<unknown type>".to_owned(),
    };
    let (wanted, current) = (&metric[source]["target"], &current[source]["current"]);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let or = |value: &Value, otherwise: &str| match value {
        Value::Null => otherwise.to_owned(),
        value => text(value),
    };
    let percent = |value: &Value, otherwise: &str| match value {
        Value::Null => otherwise.to_owned(),
        value => format!("{value}%"),
    };
    let pair = if !wanted["averageValue"].is_null() {
        let said = if is_average_said { " (avg)" } else { "" };
        let (now, wanted) =
            (or(&current["averageValue"], "<unknown>"), text(&wanted["averageValue"]));
        format!("{now}/{wanted}{said}")
    } else if names_resource {
        let now = percent(&current["averageUtilization"], "<unknown>");
        format!("{now}/{}", percent(&wanted["averageUtilization"], "<auto>"))
    } else {
        format!("{}/{}", or(&current["value"], "<unknown>"), or(&wanted["value"], "0"))
    };
    if names_resource { format!("{}: {pair}", text(&metric[source]["name"])) } else { pair }
}

fn ready_replicas(object: &Value, _: Timestamp) -> Value {
    let (ready, wanted) = (&object["status"]["readyReplicas"], &object["spec"]["replicas"]);
    json!(format!("{}/{}", number(ready), number(wanted)))
}

fn readiness_gates(pod: &Value, _: Timestamp) -> Value {
    let gates: Vec<&Value> = list(&pod["spec"]["readinessGates"]).collect();
    if gates.is_empty() {
        return json!("<none>");
    }
    let open = |gate: &&&Value| {
        let mut conditions = list(&pod["status"]["conditions"]);
        conditions.any(|c| c["type"] == gate["conditionType"] && c["status"] == "True")
    };
    json!(format!("{}/{}", gates.iter().filter(open).count(), gates.len()))
}

fn job_status(job: &Value, _: Timestamp) -> Value {
    let has = |kind: &str| {
        let mut conditions = list(&job["status"]["conditions"]);
        conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let deleting = !job["metadata"]["deletionTimestamp"].is_null();
    let states = [
        (has("Complete"), "Complete"),
        (has("Failed"), "Failed"),
        (deleting, "Terminating"),
        (has("Suspended"), "Suspended"),
        (has("FailureTarget"), "FailureTarget"),
        (has("SuccessCriteriaMet"), "SuccessCriteriaMet"),
    ];
    let state = states.into_iter().find(|(is, _)| *is);
    json!(state.map_or("Running", |(_, state)| state))
}

fn completions(job: &Value, _: Timestamp) -> Value {
    let succeeded = number(&job["status"]["succeeded"]);
    let parallelism = job["spec"]["parallelism"].as_i64().unwrap_or_default();
    json!(match job["spec"]["completions"].as_i64() {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    })
}

fn job_duration(job: &Value, now: Timestamp) -> Value {
    let Some(start) = job["status"]["startTime"].as_str() else { return json!("") };
    let end = job["status"]["completionTime"].as_str().and_then(|end| end.parse().ok());
    json!(age(start, end.unwrap_or(now)))
}
