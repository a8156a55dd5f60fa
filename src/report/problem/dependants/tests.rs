//! What is said of Pods, claims and Warnings.

use serde_json::json;

use super::*;

fn child() -> ChildId {
    let ty = K8sType::namespaced("apps/v1", "StatefulSet", "statefulsets");
    ChildId { ty, key: ObjectKey::namespaced("shop", "main") }
}

fn parent() -> ChildId {
    let ty = K8sType::namespaced("example.dev/v1", "Database", "databases");
    ChildId { ty, key: ObjectKey::namespaced("shop", "main") }
}

fn pod(status: &Value) -> Value {
    json!({
        "metadata": {"name": "main-2", "namespace": "shop", "uid": "u"},
        "spec": {"containers": [{"name": "db", "image": "db:17"}]},
        "status": status,
    })
}

fn event(kind: &str, name: &str, reason: &str, message: &str) -> ObjectEvent {
    ObjectEvent::read(&json!({
        "type": "Warning", "reason": reason, "message": message, "count": 3,
        "involvedObject": {"kind": kind, "namespace": "shop", "name": name},
    }))
}

/// What, the evidence, and the first action.
fn said(
    pods: &[Value],
    claims: &[Value],
    warnings: &[ObjectEvent],
) -> (String, Vec<String>, String) {
    let (child, parent) = (child(), parent());
    let readiness = &Readiness::progressing("1 of 3 replicas are ready");
    let deeper = Deeper { child: &child, parent: &parent, readiness, pods, claims, warnings };
    let problem = deeper.problems().swap_remove(0);
    let order = problem.actions[0].as_order().to_owned();
    (problem.what, problem.because, order)
}

#[test]
fn a_pod_says_why_it_does_not_run() {
    let container = |state: Value, last: Value, ready: bool| {
        pod(&json!({"phase": "Running", "containerStatuses": [
            {"name": "db", "ready": ready, "restartCount": 7, "state": state, "lastState": last},
        ]}))
    };
    let unscheduled = |message: &str| {
        pod(&json!({"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastTransitionTime": "2026-01-01T12:00:00Z",
        }]}))
    };
    let waiting = |reason: &str, message: &str| {
        container(json!({"waiting": {"reason": reason, "message": message}}), json!({}), false)
    };
    let edit = "kubectl edit databases.example.dev main -n shop";
    for (pod, what, cure) in [
        (
            unscheduled("0/3 nodes are available: 3 Insufficient memory."),
            "is not scheduled: 0/3 nodes are available: 3 Insufficient memory.",
            edit,
        ),
        (
            unscheduled("0/1 nodes are available: 1 node(s) were unschedulable."),
            "is not scheduled: 0/1 nodes are available: 1 node(s) were unschedulable.",
            "kubectl get nodes -o name --field-selector spec.unschedulable=true | xargs kubectl uncordon",
        ),
        (
            unscheduled("0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}."),
            "is not scheduled: 0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}.",
            edit,
        ),
        (
            waiting("ImagePullBackOff", "Back-off pulling image \"db:17\""),
            "cannot pull the image db:17 of its container db",
            edit,
        ),
        (
            waiting("CreateContainerConfigError", "secret \"key\" not found"),
            "cannot start its container db: secret \"key\" not found",
            "kubectl create secret generic key -n shop",
        ),
        (
            container(
                json!({"waiting": {"reason": "CrashLoopBackOff"}}),
                json!({"terminated": {"exitCode": 3, "reason": "Error"}}),
                false,
            ),
            "has a container that ends: db with exit code 3",
            edit,
        ),
        (
            container(
                json!({"waiting": {"reason": "CrashLoopBackOff"}}),
                json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}),
                false,
            ),
            "lacks memory: its container db was killed",
            edit,
        ),
    ] {
        let (said, because, order) = said(&[pod], &[], &[]);
        assert_eq!(said, format!("Pod shop/main-2 {what}"));
        assert_eq!(because.last().unwrap(), "StatefulSet shop/main waits for it");
        assert_eq!(order, cure, "{what}");
    }
}

#[test]
fn a_probe_is_named_by_the_event_about_it() {
    let running = pod(&json!({"phase": "Running", "containerStatuses": [
        {"name": "db", "ready": false, "state": {"running": {}}},
    ]}));
    let probe = event("Pod", "main-2", "Unhealthy", "Readiness probe failed: connection refused");
    let (what, because, _) = said(&[running], &[], &[probe]);
    assert_eq!(
        what,
        "Pod shop/main-2 is not ready: container db: Readiness probe failed: connection refused"
    );
    assert_eq!(because[0], "Unhealthy: Readiness probe failed: connection refused (3 times)");
}

#[test]
fn an_open_claim_comes_before_the_pod_that_waits_for_it() {
    let claim = json!({
        "metadata": {"name": "data-main-2", "namespace": "shop", "uid": "c"},
        "spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"},
    });
    let warning = event(
        "PersistentVolumeClaim",
        "data-main-2",
        "ProvisioningFailed",
        "storageclass.storage.k8s.io \"fast\" not found",
    );
    let (what, because, _) = said(&[pod(&json!({"phase": "Pending"}))], &[claim], &[warning]);
    assert_eq!(
        what,
        "PersistentVolumeClaim shop/data-main-2 has no volume: none of the class fast is free or made"
    );
    assert!(because[0].contains("storageclass.storage.k8s.io \"fast\" not found"));
}

#[test]
fn what_has_failed_for_good_is_made_again_or_corrected() {
    let parent = parent();
    for (api_version, kind, plural, readiness, what, cure) in [
        (
            "batch/v1",
            "Job",
            "jobs",
            Readiness::failed("BackoffLimitExceeded"),
            "Job shop/main has failed: BackoffLimitExceeded",
            "kubectl delete jobs.batch main -n shop",
        ),
        (
            "apps/v1",
            "Deployment",
            "deployments",
            Readiness::failed("ProgressDeadlineExceeded"),
            "Deployment shop/main has failed: ProgressDeadlineExceeded",
            "kubectl edit databases.example.dev main -n shop",
        ),
        (
            "v1",
            "Service",
            "services",
            Readiness::progressing("its load balancer has no address yet"),
            "Service shop/main has no address: spec.type is LoadBalancer, and no load balancer answers for it",
            "kubectl edit databases.example.dev main -n shop",
        ),
    ] {
        let ty = K8sType::namespaced(api_version, kind, plural);
        let child = ChildId { ty, key: ObjectKey::namespaced("shop", "main") };
        let (pods, claims, warnings, readiness) = (&[], &[], &[], &readiness);
        let deeper = Deeper { child: &child, parent: &parent, readiness, pods, claims, warnings };
        let problem = deeper.problems().swap_remove(0);
        assert_eq!((problem.what.as_str(), problem.actions[0].as_order()), (what, cure));
    }
}

#[test]
fn a_pod_without_what_it_names_says_what_to_create() {
    let waiting = |reason: &str, message: &str| {
        pod(&json!({"phase": "Pending", "containerStatuses": [{
            "name": "db", "ready": false,
            "state": {"waiting": {"reason": reason, "message": message}},
        }]}))
    };
    let secrets = event(
        "Pod",
        "main-2",
        "FailedToRetrieveImagePullSecret",
        "Unable to retrieve some image pull secrets (registry); attempting to pull the image may not succeed.",
    );
    let mount = event(
        "Pod",
        "main-2",
        "FailedMount",
        "MountVolume.SetUp failed for volume \"settings\" : configmap \"settings\" not found",
    );
    for (pod, warning, what, cure) in [
        (
            waiting("ErrImagePull", "401 Unauthorized"),
            secrets,
            "cannot pull the image db:17 of its container db: the Secret registry, which imagePullSecrets names, \
             does not exist",
            "kubectl create secret generic registry -n shop --type=kubernetes.io/dockerconfigjson \
             --from-file=.dockerconfigjson=\"$HOME/.docker/config.json\"",
        ),
        (
            waiting("ContainerCreating", ""),
            mount,
            "cannot mount its volume settings: configmap \"settings\" not found",
            "kubectl create configmap settings -n shop",
        ),
    ] {
        let (said, _, order) = said(&[pod], &[], &[warning]);
        assert_eq!(said, format!("Pod shop/main-2 {what}"));
        assert_eq!(order, cure);
    }
    let evicted = pod(&json!({"phase": "Failed", "reason": "Evicted", "message": "no disk"}));
    let (what, _, order) = said(&[evicted], &[], &[]);
    assert_eq!(what, "Pod shop/main-2 is Failed: Evicted: no disk");
    assert_eq!(order, "kubectl delete pods main-2 -n shop");
}

#[test]
fn a_child_without_pods_says_what_its_controller_says() {
    let failed =
        event("StatefulSet", "main", "FailedCreate", "create Pod main-0 failed: exceeded quota");
    let (what, because, _) = said(&[], &[], &[failed]);
    assert_eq!(
        what,
        "StatefulSet shop/main is not ready: create Pod main-0 failed: exceeded quota"
    );
    assert_eq!(because, ["FailedCreate"]);
}
