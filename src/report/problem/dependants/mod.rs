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
    object::{K8sType, ObjectEvent, ObjectKey, Readiness, ReadyState},
    plan::ChildId,
};

/// What was read about a child.
pub(crate) struct Deeper<'a> {
    pub(crate) child: &'a ChildId,
    pub(crate) parent: &'a ChildId,
    pub(crate) readiness: &'a Readiness,
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
        let beneath = claims.chain(pods).map(|it| it.because(waits.clone()));
        let mut troubles: Vec<Trouble> = self.failed_job().into_iter().chain(beneath).collect();
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
        let text = |field: &str| claim["spec"][field].as_str().filter(|it| !it.is_empty());
        let says = match (text("volumeName"), text("storageClassName")) {
            (Some(volume), _) => {
                format!("has no volume: {volume} does not exist, or belongs to another claim")
            }
            (None, Some(class)) => {
                format!("has no volume: none of the class {class} is free or made")
            }
            (None, None) => {
                "has no volume: it names no class, and no class is the default".to_owned()
            }
        };
        let classes =
            Action::command("Look at the classes of storage", "kubectl get storageclasses");
        // Its spec cannot be changed, and it holds no data.
        let edit = format!(
            "{} && {} --wait=false",
            kubectl::on("edit", self.parent),
            kubectl::on("delete", &id)
        );
        let edit = Action::command(
            "Name a class or a volume that is there in the parent, and delete the claim, which is empty",
            edit,
        );
        warned(Trouble::of(&id, says), &id, self.warnings).cured_by([edit, classes])
    }

    /// A Job that has failed does not run again.
    fn failed_job(&self) -> Option<Trouble> {
        let is_job = (self.child.ty.group(), self.child.ty.kind()) == ("batch", "Job");
        let has_failed = is_job && self.readiness.state == ReadyState::Failed;
        has_failed.then(|| {
            Trouble::of(self.child, format!("has failed: {}", self.readiness.message))
                .cured_on_each("delete", "Delete it, and the operator runs it again")
                .cured_by([self.corrected("what its Pods need")])
        })
    }

    /// A child without Pods: why its controller makes none, or what its status says.
    fn of_child(&self) -> Option<Trouble> {
        let about = |it: &&ObjectEvent| it.key == self.child.key && it.kind == self.child.ty.kind();
        let newest = self.warnings.iter().find(about);
        let says = match newest {
            Some(event) => format!("is not ready: {}", event.message),
            None if self.child.ty.is("v1", "Service") => {
                "has no address: spec.type is LoadBalancer, and no load balancer answers for it"
                    .to_owned()
            }
            None if self.readiness.state == ReadyState::Failed => {
                format!("has failed: {}", self.readiness.message)
            }
            None => return None,
        };
        let look = Action::command("Look at what it reports", kubectl::on("describe", self.child));
        let trouble =
            Trouble::of(self.child, says).cured_by([self.corrected("what is named"), look]);
        Some(newest.into_iter().fold(trouble, |it, event| it.because(event.reason.clone())))
    }

    fn corrected(&self, what: &str) -> Action {
        Action::command(format!("Correct {what} in the parent"), kubectl::on("edit", self.parent))
    }
}

fn id_of(ty: &K8sType, object: &Value) -> ChildId {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    ChildId { ty: ty.clone(), key: ObjectKey::new(metadata["namespace"].as_str(), name) }
}

#[cfg(test)]
mod tests;
