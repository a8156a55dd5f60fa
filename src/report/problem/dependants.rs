//! The deepest reason that Kubernetes gives for a child that is not ready: its Pods, their claims, and the Warnings
//! about them.

use serde_json::Value;

use super::{
    kubectl,
    pod::{Pod, warned},
    trouble::{Trouble, merged},
};
use crate::{
    history::{Action, Problem},
    object::{K8sType, ObjectEvent, ObjectKey},
    plan::ChildId,
};

/// What was read about a child.
pub(crate) struct Deeper<'a> {
    pub(crate) child: &'a ChildId,
    pub(crate) parent: &'a ChildId,
    pub(crate) pods: &'a [Value],
    pub(crate) claims: &'a [Value],
    pub(crate) warnings: &'a [ObjectEvent],
}

impl Deeper<'_> {
    /// The problems of the dependants; none if nothing was found.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let waits = format!("{} {} waits for it", self.child.ty.kind(), self.child.key);
        let claims = self.claims.iter().map(|claim| self.claim(claim));
        let pods = self.pods.iter().map(|pod| self.pod(pod).trouble());
        let mut troubles: Vec<Trouble> =
            claims.chain(pods).map(|it| it.because(waits.clone())).collect();
        if troubles.is_empty() {
            troubles.extend(self.of_child());
        }
        merged(troubles)
    }

    fn pod<'a>(&'a self, pod: &'a Value) -> Pod<'a> {
        Pod {
            id: id_of(&K8sType::namespaced("v1", "Pod", "pods"), pod),
            status: &pod["status"],
            spec: &pod["spec"],
            warnings: self.warnings,
            parent: self.parent,
        }
    }

    fn claim(&self, claim: &Value) -> Trouble {
        let ty = K8sType::namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
        let id = id_of(&ty, claim);
        let class = claim["spec"]["storageClassName"].as_str();
        let says = match class {
            Some(class) => format!("has no volume: none of the class {class} is free or made"),
            None => "has no volume: it names no class, and no class is the default".to_owned(),
        };
        let classes =
            Action::command("Look at the classes of storage", "kubectl get storageclasses");
        let edit = Action::command(
            "Name a class that exists in the parent, or create the class",
            kubectl::on("edit", self.parent),
        );
        warned(Trouble::of(&id, says), &id, self.warnings).cured_by([edit, classes])
    }

    /// A child without Pods: why its controller makes none.
    fn of_child(&self) -> Option<Trouble> {
        let about = |it: &&ObjectEvent| it.key == self.child.key && it.kind == self.child.ty.kind();
        let newest = self.warnings.iter().find(about)?;
        let says = format!("is not ready: {}", newest.message);
        let look = Action::command("Look at what it reports", kubectl::on("describe", self.child));
        let edit = Action::command(
            "Correct what is named in the parent",
            kubectl::on("edit", self.parent),
        );
        Some(Trouble::of(self.child, says).because(newest.reason.clone()).cured_by([edit, look]))
    }
}

fn id_of(ty: &K8sType, object: &Value) -> ChildId {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    ChildId { ty: ty.clone(), key: ObjectKey::new(metadata["namespace"].as_str(), name) }
}

#[cfg(test)]
mod tests {
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
        let deeper = Deeper { child: &child, parent: &parent, pods, claims, warnings };
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
                unscheduled(
                    "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}.",
                ),
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
        let probe =
            event("Pod", "main-2", "Unhealthy", "Readiness probe failed: connection refused");
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
    fn a_child_without_pods_says_what_its_controller_says() {
        let failed = event(
            "StatefulSet",
            "main",
            "FailedCreate",
            "create Pod main-0 failed: exceeded quota",
        );
        let (what, because, _) = said(&[], &[], &[failed]);
        assert_eq!(
            what,
            "StatefulSet shop/main is not ready: create Pod main-0 failed: exceeded quota"
        );
        assert_eq!(because, ["FailedCreate"]);
    }
}
