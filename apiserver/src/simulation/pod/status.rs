//! The status of a Pod in a stage of its life, as the kubelet writes it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{script::Script, stage::Stage};
use crate::{
    clock::seconds,
    simulation::{
        condition,
        node::ADDRESS,
        object::{generation, items, text, uid},
    },
};

/// The status of a Pod in a stage.
pub(super) fn status(pod: &Value, stage: &Stage, script: &Script, now: Timestamp) -> Value {
    let mut status = pod["status"].clone();
    // What ended stays as it is.
    if *stage == Stage::of(pod) && matches!(stage, Stage::Ended { .. }) {
        return status;
    }
    status["observedGeneration"] = json!(generation(pod));
    status["hostIP"] = json!(ADDRESS);
    status["hostIPs"] = json!([{ "ip": ADDRESS }]);
    if status["startTime"].is_null() {
        status["startTime"] = json!(seconds(now));
    }
    status["phase"] = json!(phase(stage));
    if !matches!(stage, Stage::New | Stage::Creating { .. } | Stage::NotPulled) {
        let address = address(pod);
        status["podIPs"] = json!([{ "ip": address }]);
        status["podIP"] = json!(address);
    }
    let is_ready = matches!(stage, Stage::Running { .. }) && !script.never_ready;
    let containers = items(&pod["spec"]["containers"]);
    let containers: Vec<Value> =
        containers.map(|container| container_status(pod, container, stage, is_ready)).collect();
    status["containerStatuses"] = json!(containers);
    let first: Vec<Value> = items(&pod["spec"]["initContainers"])
        .map(|container| init_status(pod, container, stage))
        .collect();
    if !first.is_empty() {
        status["initContainerStatuses"] = json!(first);
    }
    set_conditions(pod, &mut status, stage, is_ready, now);
    status
}

fn phase(stage: &Stage) -> &'static str {
    match stage {
        Stage::New | Stage::Creating { .. } | Stage::NotPulled => "Pending",
        Stage::Running { .. } | Stage::BackOff { .. } => "Running",
        Stage::Ended { code: 0, .. } => "Succeeded",
        Stage::Ended { .. } => "Failed",
    }
}

/// The address of a Pod, from its uid: 10.64.0.0/10, or that of the node.
fn address(pod: &Value) -> String {
    if pod["spec"]["hostNetwork"] == true {
        return ADDRESS.to_owned();
    }
    let digits = uid(pod).get(..8).unwrap_or_default();
    let [_, b, c, d] = u32::from_str_radix(digits, 16).unwrap_or_default().to_be_bytes();
    format!("10.{}.{c}.{d}", 64 | (b & 0x3f))
}

fn container_status(pod: &Value, container: &Value, stage: &Stage, is_ready: bool) -> Value {
    let previous = items(&pod["status"]["containerStatuses"])
        .find(|status| status["name"] == container["name"])
        .cloned()
        .unwrap_or_default();
    let waiting = |reason: &str, message: &str| match message {
        "" => json!({ "waiting": { "reason": reason } }),
        _ => json!({ "waiting": { "reason": reason, "message": message } }),
    };
    let last = || previous["lastState"].as_object().map_or_else(|| json!({}), |it| json!(it));
    let (now, last, restarts) = match stage {
        Stage::New | Stage::Creating { .. } => (waiting("ContainerCreating", ""), json!({}), 0),
        Stage::NotPulled => {
            let message = "the image cannot be pulled, as an annotation of the Pod asks for";
            (waiting("ImagePullBackOff", message), json!({}), 0)
        }
        Stage::Running { since, restarts } => {
            (json!({ "running": { "startedAt": seconds(*since) } }), last(), *restarts)
        }
        Stage::BackOff { code, started, finished, restarts } => {
            let message = "back-off restarting failed container";
            let last = terminated(*code, *started, *finished);
            (waiting("CrashLoopBackOff", message), last, *restarts)
        }
        Stage::Ended { code, started, finished } => {
            let restarts = previous["restartCount"].as_i64().unwrap_or_default();
            (terminated(*code, *started, *finished), last(), restarts)
        }
    };
    let is_running = matches!(stage, Stage::Running { .. });
    described(pod, container, is_running, is_ready, (now, last, restarts))
}

fn described(
    pod: &Value,
    container: &Value,
    is_running: bool,
    is_ready: bool,
    (state, last, restarts): (Value, Value, i64),
) -> Value {
    let mut status = json!({
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": is_ready,
        "started": is_running,
        "restartCount": restarts,
        "state": state,
        "lastState": last,
    });
    if state_has_run(&status["state"]) {
        let id = format!("simulated://{}/{}/{restarts}", uid(pod), text(&container["name"]));
        status["containerID"] = json!(id);
    }
    status
}

fn state_has_run(state: &Value) -> bool {
    state.get("waiting").is_none()
}

/// Init containers have ended when the others run; those that are restarted always run with them.
fn init_status(pod: &Value, container: &Value, stage: &Stage) -> Value {
    let is_sidecar = container["restartPolicy"] == "Always";
    let present = items(&pod["status"]["initContainerStatuses"])
        .find(|status| status["name"] == container["name"]);
    match stage {
        Stage::New | Stage::Creating { .. } | Stage::NotPulled => {
            let now = json!({ "waiting": { "reason": "PodInitializing" } });
            described(pod, container, false, false, (now, json!({}), 0))
        }
        Stage::Running { since, .. } if is_sidecar => {
            let now = json!({ "running": { "startedAt": seconds(*since) } });
            described(pod, container, true, true, (now, json!({}), 0))
        }
        Stage::Running { since, .. } if present.is_none_or(|it| it["ready"] != true) => {
            let now = terminated(0, *since, *since);
            described(pod, container, false, true, (now, json!({}), 0))
        }
        Stage::Ended { started, finished, .. } if is_sidecar => {
            let now = terminated(0, *started, *finished);
            described(pod, container, false, false, (now, json!({}), 0))
        }
        Stage::Running { .. } | Stage::BackOff { .. } | Stage::Ended { .. } => {
            present.cloned().unwrap_or_default()
        }
    }
}

fn terminated(code: i64, started: Timestamp, finished: Timestamp) -> Value {
    json!({
        "terminated": {
            "exitCode": code,
            "reason": if code == 0 { "Completed" } else { "Error" },
            "startedAt": seconds(started),
            "finishedAt": seconds(finished),
        }
    })
}

fn set_conditions(pod: &Value, status: &mut Value, stage: &Stage, is_ready: bool, now: Timestamp) {
    let names: Vec<&str> =
        items(&pod["spec"]["containers"]).map(|container| text(&container["name"])).collect();
    let unready = format!("containers with unready status: [{}]", names.join(" "));
    let containers = match stage {
        Stage::Ended { code: 0, .. } => ("False", "PodCompleted", ""),
        Stage::Ended { .. } => ("False", "PodFailed", ""),
        _ if is_ready => ("True", "", ""),
        _ => ("False", "ContainersNotReady", unready.as_str()),
    };
    let gate = items(&pod["spec"]["readinessGates"])
        .map(|gate| text(&gate["conditionType"]))
        .find(|gate| !condition::is_true(status, gate));
    let gate = gate.map(|gate| {
        format!("corresponding condition of pod readiness gate {gate:?} does not exist or is not \"True\".")
    });
    let ready = match &gate {
        Some(why) if is_ready => ("False", "ReadinessGatesNotReady", why.as_str()),
        _ => containers,
    };
    let starts = matches!(stage, Stage::New | Stage::Creating { .. } | Stage::NotPulled);
    let has_first = items(&pod["spec"]["initContainers"]).next().is_some();
    let initialized = if starts && has_first {
        ("False", "ContainersNotInitialized", "containers with incomplete status")
    } else {
        ("True", "", "")
    };
    let sandbox = match stage {
        Stage::Running { .. } | Stage::BackOff { .. } => "True",
        Stage::New | Stage::Creating { .. } | Stage::NotPulled | Stage::Ended { .. } => "False",
    };
    for (kind, (value, reason, message)) in [
        ("PodReadyToStartContainers", (sandbox, "", "")),
        ("Initialized", initialized),
        ("Ready", ready),
        ("ContainersReady", containers),
        ("PodScheduled", ("True", "", "")),
    ] {
        condition::set(status, (kind, value, reason, message), &[], now);
    }
    let conditions = status["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions {
        if condition.get("lastProbeTime").is_none() {
            condition["lastProbeTime"] = Value::Null;
        }
    }
}
