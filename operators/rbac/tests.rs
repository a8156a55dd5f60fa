//! What the generated permissions allow, and what they do not.

use super::*;

fn verbs(operators: &[Operator], group: &str, resource: &str) -> Vec<String> {
    let rules = cluster_role(operators).rules.unwrap();
    let fits = |rule: &&PolicyRule| {
        rule.api_groups.as_ref().unwrap().contains(&group.to_owned())
            && rule.resources.as_ref().unwrap().contains(&resource.to_owned())
    };
    let of_rule = |rule: &PolicyRule| rule.verbs.clone();
    rules.iter().find(fits).map(of_rule).unwrap_or_default()
}

#[test]
fn the_committed_permissions_are_those_of_the_declarations() {
    manifest::assert_committed("rbac", &yaml(&crate::all()).unwrap());
}

#[test]
fn parents_are_read_and_only_their_status_is_written() {
    let operators = crate::all();
    let group = "example.operetta.dev";
    for plural in ["echoservers", "tempnamespaces"] {
        assert_eq!(verbs(&operators, group, plural), ["get", "list", "watch"]);
        assert_eq!(verbs(&operators, group, &format!("{plural}/status")), ["patch"]);
        assert_eq!(verbs(&operators, group, &format!("{plural}/finalizers")), ["update"]);
    }
}

#[test]
fn a_parent_is_patched_only_for_a_finalizer() {
    struct Finalizing;
    impl operetta::operator::Handler for Finalizing {
        fn sync(
            &self,
            _: &operetta::operator::SyncRequest,
        ) -> anyhow::Result<operetta::operator::SyncResponse> {
            Ok(operetta::operator::SyncResponse::new())
        }

        fn has_finalizer(&self) -> bool {
            true
        }
    }
    let config = crate::echo_server::config();
    let operator = Operator::of::<crate::echo_server::EchoServer>(config, Finalizing);
    let expected = ["get", "list", "patch", "watch"];
    assert_eq!(verbs(&[operator], "example.operetta.dev", "echoservers"), expected);
    // Or for children that Kubernetes does not collect.
    let sync = |_: &operetta::operator::SyncRequest| Ok(operetta::operator::SyncResponse::new());
    let mut config = crate::echo_server::config();
    config.children[0].config = config.children[0].config.uncollectable();
    let operator = Operator::of::<crate::echo_server::EchoServer>(config, sync);
    assert_eq!(verbs(&[operator], "example.operetta.dev", "echoservers"), expected);
}

#[test]
fn children_are_kept_and_nothing_else_may_be_touched() {
    let operators = crate::all();
    for child in ["pods", "services", "namespaces"] {
        let expected = ["create", "delete", "get", "list", "patch", "watch"];
        assert_eq!(verbs(&operators, "", child), expected);
    }
    assert!(verbs(&operators, "", "secrets").is_empty());
    let rules = cluster_role(&operators).rules.unwrap();
    assert!(!format!("{rules:?}").contains('*'), "no wildcard");
}

fn echo_server_within(namespaces: &[&str]) -> Operator {
    let config = crate::echo_server::config().within_namespaces(namespaces.iter().copied());
    Operator { config, ..crate::echo_server::operator() }
}

#[test]
fn an_operator_of_some_namespaces_has_a_role_in_each_and_no_part_of_the_cluster_role() {
    let operators = [echo_server_within(&["a", "b"]), crate::temp_namespace::operator()];
    for group in ["", "example.operetta.dev"] {
        for resource in ["pods", "services", "echoservers", "echoservers/status"] {
            assert!(verbs(&operators, group, resource).is_empty(), "{resource}");
        }
    }
    assert!(!verbs(&operators, "", "namespaces").is_empty(), "the other one is not restricted");
    let roles = roles(&operators);
    let namespaces: Vec<_> = roles.iter().map(|role| role.metadata.namespace.as_deref()).collect();
    assert_eq!(namespaces, [Some("a"), Some("b")]);
    let unrestricted = cluster_role(&[crate::echo_server::operator()]).rules;
    assert_eq!(roles[0].rules, unrestricted, "it may do there what it could everywhere");
}

#[test]
fn operators_that_are_all_restricted_need_no_cluster_role() {
    let yaml = yaml(&[echo_server_within(&["a"])]).unwrap();
    assert!(!yaml.contains("ClusterRole"), "{yaml}");
    assert_eq!(yaml.matches("kind: RoleBinding").count(), 1);
}
