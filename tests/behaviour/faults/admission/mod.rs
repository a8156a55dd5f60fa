//! What admission makes of what we write, by a webhook and by a policy.

mod images;
mod labels;

use super::*;
use crate::{cluster::Cluster, world::Kind};

const POLICY: Kind =
    Kind("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies");
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
);

/// A policy of the server's own for what is in a test's namespace.
struct Policy(String);

impl Policy {
    /// Puts one up; `None` where the server has no such policies.
    async fn put_up(faults: &Faults, resource: &str, condition: &str, patch: &str) -> Option<Self> {
        Self::put_up_for(&["CREATE", "UPDATE"], faults, resource, condition, patch).await
    }

    async fn put_up_for(
        operations: &[&str],
        faults: &Faults,
        resource: &str,
        condition: &str,
        patch: &str,
    ) -> Option<Self> {
        let world = &faults.world;
        if !world.cluster.takes_policies() {
            return None;
        }
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
        match world.try_create(POLICY, policy).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {
                assert!(!matches!(world.cluster, Cluster::Real(..)), "{status:?}");
                eprintln!("skipped: this server has no mutating admission policies");
                return None;
            }
            Err(error) => panic!("{error}"),
        }
        let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
        world.create(BINDING, binding).await;
        Some(Self(name))
    }

    async fn take_down(self, faults: &Faults) {
        faults.world.delete(BINDING, &self.0).await;
        faults.world.delete(POLICY, &self.0).await;
    }
}

/// Waits until admission makes this of an object, which is deleted again: a policy takes effect, and
/// ends, some time after it was put up or taken down.
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
