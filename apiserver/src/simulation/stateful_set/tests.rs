use serde_json::{Value, json};

use super::order::{Order, Step};
use crate::simulation::decision::Decision;

/// A Pod by a letter: `r`eady, `R`eady and of the newest revision, `p`ending, `P`ending and of the newest, `d`eleted.
fn pod(ordinal: usize, letter: char) -> Value {
    let is_new = letter.is_uppercase();
    let ready = if letter.eq_ignore_ascii_case(&'r') { "True" } else { "False" };
    let mut pod = json!({
        "metadata": {
            "name": format!("db-{ordinal}"),
            "labels": { "controller-revision-hash": if is_new { "new" } else { "old" } },
        },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": ready }] },
    });
    if letter == 'd' {
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    pod
}

/// The steps: `+1` creates an old Pod, `*1` a new one, `-1` deletes.
fn steps(spec: &Value, pods: &str) -> Vec<String> {
    let set = json!({ "metadata": { "name": "db" }, "spec": spec });
    let pods: Vec<Value> = pods
        .chars()
        .enumerate()
        .filter(|(_, letter)| *letter != '.')
        .map(|(ordinal, letter)| pod(ordinal, letter))
        .collect();
    let pods: Vec<&Value> = pods.iter().collect();
    let order = Order { set: &set, pods: &pods, current: "old", newest: "new" };
    let steps = order.steps(jiff::Timestamp::UNIX_EPOCH, &mut Decision::default());
    steps
        .into_iter()
        .map(|step| match step {
            Step::Create { ordinal, is_updated: true } => format!("*{ordinal}"),
            Step::Create { ordinal, is_updated: false } => format!("+{ordinal}"),
            Step::Delete(pod) => pod["metadata"]["name"].as_str().unwrap().replace("db", ""),
        })
        .collect()
}

#[test]
fn pods_are_created_and_deleted_in_order() {
    for (replicas, pods, expected) in [
        (3, "", vec!["*0"]),
        (3, "P", vec![]),
        (3, "R", vec!["*1"]),
        (3, "R.R", vec!["*1"]),
        (3, "RRR", vec![]),
        (1, "RRR", vec!["-2"]),
        (1, "RRd", vec![]),
        (1, "RR", vec!["-1"]),
        // A deletion waits for those before it.
        (1, "PRR", vec![]),
        (0, "RR", vec!["-1"]),
    ] {
        assert_eq!(steps(&json!({ "replicas": replicas }), pods), expected, "{replicas}: {pods}");
    }
}

#[test]
fn pods_of_a_parallel_set_do_not_wait() {
    let spec = |replicas: i64| json!({ "replicas": replicas, "podManagementPolicy": "Parallel" });
    assert_eq!(steps(&spec(3), "P"), ["*1", "*2"]);
    assert_eq!(steps(&spec(1), "PRRR"), ["-3", "-2", "-1"]);
}

#[test]
fn a_rollout_goes_from_the_last_ordinal_to_the_partition() {
    let spec = |partition: i64| {
        let strategy =
            json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": partition } });
        json!({ "replicas": 3, "updateStrategy": strategy })
    };
    for (partition, pods, expected) in [
        (0, "rrr", vec!["-2"]),
        (0, "rrd", vec![]),
        (0, "rr.", vec!["*2"]),
        (0, "rrP", vec![]),
        (0, "rrR", vec!["-1"]),
        (0, "r.R", vec!["*1"]),
        (2, "rrR", vec![]),
        (2, "r.R", vec!["+1"]),
        // One that broke in the middle of a rollout comes back as it was.
        (0, ".rR", vec!["+0"]),
    ] {
        assert_eq!(steps(&spec(partition), pods), expected, "{partition}: {pods}");
    }
    let on_delete = json!({ "replicas": 3, "updateStrategy": { "type": "OnDelete" } });
    assert!(steps(&on_delete, "rrr").is_empty());
    assert_eq!(steps(&on_delete, "r.r"), ["*1"]);
}
