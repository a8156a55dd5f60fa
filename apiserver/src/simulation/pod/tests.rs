use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::decide;
use crate::simulation::{
    decision::{Decision, Write},
    timing::WorkloadTiming,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn pod(policy: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "a", "namespace": "default", "uid": "0000abcd-1", "generation": 1,
            "annotations": annotations,
        },
        "spec": {
            "nodeName": "embedded", "restartPolicy": policy,
            "containers": [{ "name": "main", "image": "image:1" }],
        },
    })
}

/// Restart policy, annotations, and what is seen at which second.
type Case<'a> = (&'a str, &'a Value, &'a [(i64, &'a str)]);

/// What `kubectl get pods` would print, at each of these seconds.
fn life(mut pod: Value, seconds: &[i64]) -> Vec<String> {
    let timing = WorkloadTiming {
        start: Duration::from_secs(2),
        run: Duration::from_secs(5),
        stop: Duration::from_secs(1),
    };
    let mut seen = Vec::new();
    for second in seconds {
        // Until nothing is written any more.
        for _ in 0..8 {
            let Decision { writes, .. } = decide(&pod, timing, at(*second));
            let status = writes.into_iter().find_map(|write| match write {
                Write::Status(_, status, _) => Some(status),
                _ => None,
            });
            let Some(status) = status else { break };
            pod["status"] = status;
        }
        let container = &pod["status"]["containerStatuses"][0];
        let (phase, waiting) = (&pod["status"]["phase"], &container["state"]["waiting"]["reason"]);
        let shown = waiting.as_str().or(phase.as_str()).unwrap();
        let ready = if container["ready"] == true { "ready" } else { "unready" };
        seen.push(format!("{shown} {ready} {}", container["restartCount"]));
    }
    seen
}

#[test]
fn the_life_of_a_pod() {
    let none = json!({});
    let end = json!({ "simulation.operetta.dev/end-after": "10" });
    let fail = json!({ "simulation.operetta.dev/exit-code": "1" });
    let unready = json!({ "simulation.operetta.dev/never-ready": "true" });
    let unstarted = json!({ "simulation.operetta.dev/never-starts": "true" });
    let cases: [Case<'_>; 8] = [
        (
            "Always",
            &none,
            &[(0, "ContainerCreating unready 0"), (2, "Running ready 0"), (900, "Running ready 0")],
        ),
        (
            "Never",
            &none,
            &[
                (0, "ContainerCreating unready 0"),
                (2, "Running ready 0"),
                (7, "Succeeded unready 0"),
            ],
        ),
        (
            "Never",
            &end,
            &[
                (0, "ContainerCreating unready 0"),
                (2, "Running ready 0"),
                (11, "Running ready 0"),
                (12, "Succeeded unready 0"),
            ],
        ),
        (
            "Never",
            &fail,
            &[(0, "ContainerCreating unready 0"), (2, "Running ready 0"), (7, "Failed unready 0")],
        ),
        (
            "OnFailure",
            &fail,
            &[
                (0, "ContainerCreating unready 0"),
                (2, "Running ready 0"),
                // The first restart is at once, the second after 10 s, the third after 20 s.
                (7, "Running ready 1"),
                (12, "CrashLoopBackOff unready 1"),
                (22, "Running ready 2"),
                (27, "CrashLoopBackOff unready 2"),
                (46, "CrashLoopBackOff unready 2"),
                (47, "Running ready 3"),
            ],
        ),
        (
            "Always",
            &end,
            &[(0, "ContainerCreating unready 0"), (2, "Running ready 0"), (12, "Running ready 1")],
        ),
        ("Always", &unready, &[(0, "ContainerCreating unready 0"), (2, "Running unready 0")]),
        (
            "Always",
            &unstarted,
            &[(0, "ImagePullBackOff unready 0"), (900, "ImagePullBackOff unready 0")],
        ),
    ];
    for (policy, annotations, expected) in cases {
        let seconds: Vec<i64> = expected.iter().map(|(second, _)| *second).collect();
        let shown: Vec<&str> = expected.iter().map(|(_, shown)| *shown).collect();
        assert_eq!(life(pod(policy, annotations), &seconds), shown, "{policy} {annotations}");
    }
}

#[test]
fn a_deleted_pod_ends_when_it_has_stopped_and_no_later_than_its_grace_period() {
    let stop = |annotation: Value, grace: i64, second: i64| {
        let mut pod = pod("Always", &annotation);
        pod["metadata"]["deletionTimestamp"] = json!(crate::clock::seconds(at(grace)));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        let timing = WorkloadTiming { stop: Duration::from_secs(3), ..WorkloadTiming::immediate() };
        let Decision { writes, again } = decide(&pod, timing, at(second));
        (writes.iter().any(|write| matches!(write, Write::End(_))), again)
    };
    let slow = json!({ "simulation.operetta.dev/stop-after": "60" });
    assert_eq!(stop(json!({}), 30, 0), (false, Some(at(3))));
    assert_eq!(stop(json!({}), 30, 3), (true, None));
    assert_eq!(stop(json!({}), 2, 2), (true, None));
    assert_eq!(stop(slow.clone(), 30, 3), (false, Some(at(30))));
    assert_eq!(stop(slow, 30, 30), (true, None));
    assert_eq!(stop(json!({}), 0, 9), (false, None));
}
