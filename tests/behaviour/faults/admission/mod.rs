//! Admission that changes written objects, by a webhook and by a policy.

mod images;
mod labels;

use super::*;
use crate::{
    needs::{Need, needs},
    world::Kind,
};

const POLICY: Kind =
    Kind("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies");
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
);

/// A mutating admission policy for a test's namespace.
struct Policy(String);

impl Policy {
    /// Installs one. The test needs [`Need::Policies`], and is ignored where the version of the server has none.
    async fn install(faults: &Faults, resource: &str, condition: &str, patch: &str) -> Self {
        Self::install_for(&["CREATE", "UPDATE"], faults, resource, condition, patch).await
    }

    async fn install_for(
        operations: &[&str],
        faults: &Faults,
        resource: &str,
        condition: &str,
        patch: &str,
    ) -> Self {
        let world = &faults.world;
        world.needs_served(POLICY).await;
        let name = format!("{}-{resource}", world.namespace);
        let here = format!("object.metadata.namespace == '{}'", world.namespace);
        let policy = json!({"metadata": {"name": name}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                "operations": operations, "resources": [resource]}]},
            "matchConditions": [
                {"name": "here", "expression": here}, {"name": "this", "expression": condition},
            ],
            "failurePolicy": "Fail", "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        }});
        world.create(POLICY, policy).await;
        let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
        world.create(BINDING, binding).await;
        Self(name)
    }

    async fn uninstall(self, faults: &Faults) {
        faults.world.delete(BINDING, &self.0).await;
        faults.world.delete(POLICY, &self.0).await;
    }
}

/// Waits until admission has this effect on an object, which is deleted again: a policy takes effect some
/// time after it was installed, and ends some time after it was uninstalled.
async fn until_admitted(
    faults: &Faults,
    kind: Kind,
    probe: &Value,
    is_so: impl Fn(&Value) -> bool,
) {
    let probe = || async {
        let made = faults.world.create(kind, probe.clone()).await;
        faults.world.delete_now(kind, probe["metadata"]["name"].as_str().unwrap()).await;
        made
    };
    eventually("the policy", probe, is_so).await;
}
