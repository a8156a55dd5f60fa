//! Processes that share the parents out: each is a member of a group, which reads what another one knows at the endpoint of
//! that Pod. There is no leader, and nothing of [`leader`](super::leader).

use serde_json::{Value, json};

use super::{
    role,
    setting::{PORT, Setting, port},
};

/// The variable of a container that has the address of its Pod, at which the others reach its endpoint.
const POD_IP: &str = "POD_IP";

/// The arguments of each process.
pub(super) fn args() -> [String; 1] {
    ["--sharded".to_owned()]
}

/// The variables of each process.
pub(super) fn variables() -> Value {
    json!([{"name": POD_IP, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}])
}

/// One process after the other: the parents of each pass to others, and to a new one first.
pub(super) fn strategy() -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
}

/// What they have beside those of an election: a permission, and a way to each other.
pub(super) fn objects(setting: &Setting) -> [Value; 3] {
    let [role, binding] = permission(setting);
    [role, binding, network_policy(setting)]
}

/// What members may do beside what those of an election may: delete the Leases of members that ended.
pub(super) fn permission(setting: &Setting) -> [Value; 2] {
    let group = "coordination.k8s.io";
    let rule = json!({"apiGroups": [group], "resources": ["leases"], "verbs": ["delete"]});
    role::bound(setting, &metadata(setting), &rule)
}

/// The Pods reach the endpoints of each other, whoever else may. Policies add up.
pub(super) fn network_policy(setting: &Setting) -> Value {
    let pods = json!({"matchLabels": setting.selector});
    let (others, ports) = (json!([{"podSelector": pods}]), json!([port("TCP", PORT)]));
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(setting),
        "spec": {
            "podSelector": pods,
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": others, "ports": ports}],
            "egress": [{"to": others, "ports": ports}],
        },
    })
}

fn metadata(setting: &Setting) -> Value {
    let mut metadata = setting.metadata();
    metadata["name"] = json!(format!("{}-shards", setting.name));
    metadata
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{command_line::Cli, deployed::Deployed};

    fn setting() -> Setting {
        Setting::kustomize(&Deployed::new("website", "1.2.3").namespace("web"), &[])
    }

    #[test]
    fn the_program_takes_the_arguments_of_a_member() {
        let run = Cli::parse_from(["website".to_owned()].into_iter().chain(args())).run;
        assert_eq!(run.sharded.as_deref(), Some("operetta"));
        assert_eq!(variables()[0]["name"], POD_IP);
    }

    #[test]
    fn the_pods_reach_each_other_and_nobody_else_is_let_in() {
        let policy = network_policy(&setting());
        assert_eq!(policy["metadata"]["name"], "website-shards");
        let pods = json!({"podSelector": {"matchLabels": {"app.kubernetes.io/name": "website"}}});
        let spec = &policy["spec"];
        assert_eq!(spec["podSelector"], pods["podSelector"]);
        let ports = json!([{"protocol": "TCP", "port": 8443}]);
        assert_eq!(spec["ingress"], json!([{"from": [pods], "ports": ports}]));
        assert_eq!(spec["egress"], json!([{"to": [pods], "ports": ports}]));
    }

    #[test]
    fn members_may_delete_leases_and_nothing_else_is_added() {
        let [role, binding] = permission(&setting());
        let expected = json!([{
            "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["delete"],
        }]);
        assert_eq!(role["rules"], expected);
        assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
    }
}
