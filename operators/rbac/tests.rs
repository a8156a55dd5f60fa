//! Which permissions are generated, and which are not.

use operetta::operator::ChildConfig;

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
fn the_committed_permissions_are_up_to_date() {
    manifest::assert_committed("rbac", &yaml(&crate::all()).unwrap());
}

#[test]
fn parents_are_read_and_patched_but_neither_created_nor_deleted() {
    let operators = crate::all();
    let group = "example.operetta.dev";
    for plural in ["echoservers", "tempnamespaces"] {
        // For the annotation that pauses a parent, and for finalizers.
        assert_eq!(verbs(&operators, group, plural), ["get", "list", "patch", "watch"]);
        assert_eq!(verbs(&operators, group, &format!("{plural}/status")), ["patch"]);
        assert_eq!(verbs(&operators, group, &format!("{plural}/finalizers")), ["update"]);
    }
}

#[test]
fn children_are_managed_and_nothing_else() {
    let operators = crate::all();
    for child in ["pods", "services", "namespaces"] {
        let expected = ["create", "delete", "get", "list", "patch", "watch"];
        assert_eq!(verbs(&operators, "", child), expected);
    }
    assert!(verbs(&operators, "", "secrets").is_empty());
    let rules = cluster_role(&operators).rules.unwrap();
    assert!(!format!("{rules:?}").contains('*'), "no wildcard");
}

#[test]
fn events_are_recorded_and_listed_and_no_more() {
    let operators = crate::all();
    assert_eq!(verbs(&operators, "events.k8s.io", "events"), ["create", "patch"]);
    assert_eq!(verbs(&operators, "", "events"), ["list"]);
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

/// A role in a namespace grants nothing for cluster-scoped objects.
#[test]
fn cluster_scoped_children_of_a_restricted_operator_are_in_the_cluster_role() {
    let mut operator = echo_server_within(&["a"]);
    operator.config =
        operator.config.child::<Namespace>(ChildConfig::apply().delete_with_finalizer());
    let operators = [operator];
    assert!(verbs(&operators, "", "namespaces").contains(&"create".to_owned()));
    assert!(verbs(&operators, "", "pods").is_empty());
    let rules = format!("{:?}", roles(&operators)[0].rules);
    assert!(rules.contains("pods") && !rules.contains("namespaces"), "{rules}");
}

#[test]
fn restricted_operators_have_no_cluster_role_except_for_reviews() {
    let yaml = yaml(&[echo_server_within(&["a"])]).unwrap();
    let bound: Vec<&str> = yaml
        .split("\n---\n")
        .filter(|document| document.contains("kind: ClusterRoleBinding"))
        .collect();
    assert_eq!(bound.len(), 1, "{yaml}");
    assert!(bound[0].contains("name: operetta-access-reviewer"), "{yaml}");
    assert_eq!(yaml.matches("kind: RoleBinding").count(), 1);
}

#[test]
fn each_role_of_a_user_grants_no_more_than_its_part_of_the_endpoint() {
    let [scraper, reader, commander] = access::users();
    let verbs_of = |role: &ClusterRole, path: &str| -> Vec<String> {
        let rules = role.rules.iter().flatten();
        let fits = |rule: &&PolicyRule| {
            let mut urls = rule.non_resource_urls.iter().flatten();
            urls.any(|url| {
                url == path || url.strip_suffix('*').is_some_and(|p| path.starts_with(p))
            })
        };
        rules.filter(fits).flat_map(|rule| rule.verbs.clone()).collect()
    };
    let api = "/operetta/api/v1/operators";
    assert_eq!(verbs_of(&scraper, "/metrics"), ["get"]);
    assert!(verbs_of(&scraper, api).is_empty());
    assert_eq!(verbs_of(&reader, api), ["get"]);
    assert_eq!(verbs_of(&commander, api), ["get", "post", "put"]);
    for role in [scraper, reader, commander] {
        assert!(verbs_of(&role, "/api/v1/nodes").is_empty(), "nothing of the API server's own");
        assert!(role.rules.iter().flatten().all(|rule| rule.resources.is_none()));
    }
}
