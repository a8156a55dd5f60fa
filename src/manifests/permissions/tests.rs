//! Which permissions follow from which declarations.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Secret},
};

use super::*;
use crate::{
    object::K8sType,
    operator::{ChildConfig, ConfigError, ConflictPolicy, DecoratorConfig, Propagation},
};

const KEEP: &str = "create delete get list patch watch";

fn greeter() -> OperatorConfig {
    OperatorConfig::new("greeter", K8sType::namespaced("example.dev/v1", "Greeting", "greetings"))
}

fn cleaner() -> OperatorConfig {
    OperatorConfig::new(
        "cleaner",
        K8sType::cluster_scoped("example.dev/v1", "Cleaning", "cleanings"),
    )
}

/// Rules as `resource.group: verbs`, a line for each resource.
fn lines(rules: &[PolicyRule]) -> Vec<String> {
    let mut lines: Vec<String> = rules.iter().flat_map(lines_of).collect();
    lines.sort();
    lines
}

fn lines_of(rule: &PolicyRule) -> Vec<String> {
    let group = rule.api_groups.clone().unwrap().remove(0);
    let dot = if group.is_empty() { "" } else { "." };
    let line = |resource: &String| format!("{resource}{dot}{group}: {}", rule.verbs.join(" "));
    rule.resources.iter().flatten().map(line).collect()
}

fn rules_of<R: Role>(config: &OperatorConfig<R>) -> Vec<String> {
    lines(&Permissions::of([config]).unwrap().rules())
}

/// The lines of an operator, with these for its children.
fn expected(plural: &str, of_children: &[&str]) -> Vec<String> {
    let mut lines = vec![
        "events.events.k8s.io: create patch".to_owned(),
        format!("{plural}.example.dev: get list patch watch"),
        format!("{plural}/status.example.dev: patch"),
    ];
    lines.extend(of_children.iter().map(|line| (*line).to_owned()));
    lines.sort();
    lines
}

#[test]
fn related_types_are_only_read_and_cluster_scoped_ones_by_a_cluster_role() {
    let config = greeter().related::<Secret>().related_metadata::<Namespace>();
    let read = ["secrets: get list watch", "namespaces: get list watch"];
    assert_eq!(rules_of(&config), expected("greetings", &read));
    let both = greeter().child::<Secret>(ChildConfig::apply()).related::<Secret>();
    let owned = "greetings/finalizers.example.dev: update";
    assert_eq!(rules_of(&both), expected("greetings", &[&format!("secrets: {KEEP}"), owned]));
    let within = Permissions::of([&config.within_namespace("a")]).unwrap().with_web_endpoint();
    assert_eq!(lines(&within.rules()), ["namespaces: get list watch"]);
    let here = lines(&within.rules_within("a"));
    assert!(here.contains(&"secrets: get list watch".to_owned()), "{here:?}");
    assert!(!here.iter().any(|line| line.starts_with("namespaces")), "{here:?}");
}

#[test]
fn each_declaration_has_its_verbs() {
    let apply = ChildConfig::apply();
    let owned = "greetings/finalizers.example.dev: update";
    let config_maps = &*format!("configmaps: {KEEP}");
    for (config, of_children) in [
        (greeter(), vec![]),
        (greeter().child::<ConfigMap>(apply), vec![config_maps, owned]),
        (greeter().child::<ConfigMap>(ChildConfig::recreate()), vec![config_maps, owned]),
        (greeter().child::<ConfigMap>(ChildConfig::on_delete()), vec![config_maps, owned]),
        (
            greeter().child::<Deployment>(apply),
            vec!["deployments.apps: create delete get list patch watch", owned],
        ),
        // In another namespace it has no owner, in that of the parent it has.
        (greeter().child::<ConfigMap>(apply.delete_with_finalizer()), vec![config_maps, owned]),
        // It cannot have an owner.
        (
            greeter().child::<Namespace>(apply.delete_with_finalizer()),
            vec!["namespaces: create delete get list patch watch"],
        ),
    ] {
        assert_eq!(rules_of(&config), expected("greetings", &of_children), "{config:?}");
    }
    let cluster = cleaner().child::<Namespace>(apply);
    let namespaces = &*format!("namespaces: {KEEP}");
    let of_children = [namespaces, "cleanings/finalizers.example.dev: update"];
    assert_eq!(rules_of(&cluster), expected("cleanings", &of_children));
}

#[test]
fn the_other_options_change_nothing() {
    let child = |config| greeter().child::<ConfigMap>(config);
    let apply = ChildConfig::apply;
    let plain = child(apply());
    for config in [
        child(apply().adopting()),
        child(apply().recreate_if_immutable()),
        child(apply().with_conflicts(ConflictPolicy::Yield)),
        child(apply().with_propagation(Propagation::Foreground)),
        child(apply().ignoring_status()),
        plain.clone().with_parent_selector("tier=gold"),
        plain.clone().succeeding_roperator(),
        plain.clone().sharing_status(),
        plain.clone().with_child_status(),
        plain.clone().with_normal_events(),
        plain.clone().without_deletion_limit(),
        plain.clone().with_handler_deadline(Duration::from_secs(1)),
    ] {
        assert_eq!(rules_of(&config), rules_of(&plain), "{config:?}");
    }
}

#[test]
fn operators_share_rules_whatever_their_order() {
    let a = greeter().child::<ConfigMap>(ChildConfig::apply());
    let b = cleaner()
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::on_delete());
    let rules = Permissions::of([&a, &b]).unwrap().rules();
    assert_eq!(rules, Permissions::of([&b, &a]).unwrap().rules());
    let children = vec!["configmaps".to_owned(), "secrets".to_owned()];
    assert!(rules.iter().any(|rule| rule.resources.as_ref() == Some(&children)), "{rules:?}");
    let mut each = [rules_of(&a), rules_of(&b)].concat();
    each.sort();
    each.dedup();
    assert_eq!(lines(&rules), each, "no more than each alone");
}

#[test]
fn a_decorator_may_patch_its_parents_and_their_status_only_if_it_writes_there() {
    let of = |config: DecoratorConfig| rules_of(&config.child::<ConfigMap>(ChildConfig::apply()));
    let decorator = || OperatorConfig::decorating("notes", greeter().parent);
    let (without, with) = (of(decorator()), of(decorator().with_status_fields()));
    assert!(
        without
            .iter()
            .any(|rule| rule.starts_with("greetings.example.dev: ") && rule.contains("patch"))
    );
    let is_status = |rule: &&String| rule.starts_with("greetings/status");
    assert_eq!(without.iter().filter(is_status).count(), 0, "{without:?}");
    assert_eq!(with.iter().filter(is_status).count(), 1, "{with:?}");
    assert_eq!(of(decorator().with_conditions()), with);
}

#[test]
fn owners_and_decorators_of_a_program_have_one_account() {
    let decorator = OperatorConfig::decorating("notes", greeter().parent);
    let both = Permissions::of([&cleaner()]).unwrap().and(&decorator).unwrap();
    let each = lines(&both.rules());
    for resource in ["cleanings.example.dev: ", "greetings.example.dev: "] {
        assert!(each.iter().any(|rule| rule.starts_with(resource)), "{each:?}");
    }
}

/// A parent of one operator that is a child of another.
#[test]
fn the_verbs_of_a_resource_are_those_of_all_its_uses() {
    let ty = greeter().parent;
    let other = cleaner().child_of_type(ty, ChildConfig::apply());
    let rules = lines(&Permissions::of([&greeter(), &other]).unwrap().rules());
    assert!(rules.contains(&format!("greetings.example.dev: {KEEP}")), "{rules:?}");
}

#[test]
fn a_restricted_operator_has_the_same_rules_in_each_of_its_namespaces_and_none_elsewhere() {
    let config = || greeter().child::<ConfigMap>(ChildConfig::apply());
    let restricted = config().within_namespaces(["a", "b"]);
    let permissions = Permissions::of([&restricted, &cleaner()]).unwrap();
    for namespace in ["a", "b"] {
        assert_eq!(lines(&permissions.rules_within(namespace)), rules_of(&config()));
    }
    assert!(permissions.rules_within("c").is_empty());
    assert_eq!(lines(&permissions.rules()), rules_of(&cleaner()));
    assert!(Permissions::of([&restricted]).unwrap().rules().is_empty());
}

#[test]
fn the_web_endpoint_lists_events_where_the_operators_work() {
    let restricted = greeter().within_namespace("a");
    let permissions = Permissions::of([&restricted]).unwrap();
    for with in [permissions.clone().with_web_endpoint(), permissions.clone().with_delegated_auth()]
    {
        let mut events = lines(&with.rules_within("a"));
        events.retain(|line| !lines(&permissions.rules_within("a")).contains(line));
        assert_eq!(events, ["events: list"]);
        assert!(with.rules().is_empty(), "nothing where no operator works");
    }
    let everywhere = Permissions::of([&cleaner()]).unwrap().with_web_endpoint().rules();
    assert!(lines(&everywhere).contains(&"events: list".to_owned()));
}

#[test]
fn the_web_endpoint_lists_pods_and_claims_beneath_workloads() {
    let deploying = greeter().child::<Deployment>(ChildConfig::apply());
    let rules = lines(&Permissions::of([&deploying]).unwrap().with_web_endpoint().rules());
    for listed in ["persistentvolumeclaims: list", "pods: list"] {
        assert!(rules.contains(&listed.to_owned()), "{rules:?}");
    }
}

/// Kinds and names, and the namespaces of roles.
fn names(manifests: &[Manifest]) -> Vec<String> {
    let name = |manifest: &Manifest| {
        let object = serde_json::to_value(manifest).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let [namespace, name] = ["namespace", "name"].map(|it| text(&object["metadata"][it]));
        format!("{} {namespace}/{name}", text(&object["kind"]))
    };
    manifests.iter().map(name).collect()
}

#[test]
fn roles_exist_only_where_they_have_rules_and_each_is_bound() {
    let account = Account::new("app", "system");
    let manifests =
        |config: &OperatorConfig| Permissions::of([config]).unwrap().manifests(&account);
    let everywhere = ["ServiceAccount system/app", "ClusterRole /app", "ClusterRoleBinding /app"];
    assert_eq!(names(&manifests(&cleaner())), everywhere);
    let within = ["ServiceAccount system/app", "Role a/app", "RoleBinding a/app"];
    assert_eq!(names(&manifests(&greeter().within_namespace("a"))), within);
    let none = Permissions::default().with_web_endpoint().manifests(&account);
    assert_eq!(names(&none), everywhere[..1]);
}

/// The namespace and the rules of the only role, for an account in `system`.
fn of_role(permissions: &Permissions) -> Option<(String, Vec<String>)> {
    let manifests = permissions.manifests(&Account::new("app", "system")).into_iter();
    let mut roles = manifests.filter_map(|manifest| match manifest {
        Manifest::Role(role) => Some((role.metadata.namespace.unwrap(), role.rules.unwrap())),
        _ => None,
    });
    let role = roles.next().map(|(namespace, rules)| (namespace, lines(&rules)));
    assert!(roles.next().is_none());
    role
}

#[test]
fn the_label_of_the_leader_is_a_patch_of_pods_beside_the_lease_and_only_on_request() {
    let elected = Permissions::default().with_leader_election(None);
    let leases = "leases.coordination.k8s.io: create get list update watch".to_owned();
    assert_eq!(of_role(&elected), Some(("system".to_owned(), vec![leases.clone()])));
    let both = vec![leases, "pods: patch".to_owned()];
    assert_eq!(of_role(&elected.with_leader_label()), Some(("system".to_owned(), both.clone())));
    let elsewhere = Permissions::default().with_leader_label().with_leader_election(Some("other"));
    assert_eq!(of_role(&elsewhere), Some(("other".to_owned(), both)));
    assert_eq!(of_role(&Permissions::default().with_leader_label()), None);
}

#[test]
fn members_of_a_group_also_delete_leases_and_only_where_theirs_are() {
    let leases = vec!["leases.coordination.k8s.io: create delete get list update watch".to_owned()];
    let sharded = Permissions::default().with_sharding(None);
    assert_eq!(of_role(&sharded), Some(("system".to_owned(), leases.clone())));
    let both = sharded.with_leader_election(None);
    assert_eq!(of_role(&both), Some(("system".to_owned(), leases.clone())));
    let elsewhere = Permissions::default().with_sharding(Some("other"));
    assert_eq!(of_role(&elsewhere), Some(("other".to_owned(), leases)));
}

#[test]
fn reviews_have_a_cluster_role_even_if_the_operators_have_none() {
    let restricted = greeter().within_namespace("a");
    let permissions = Permissions::of([&restricted]).unwrap().with_delegated_auth();
    let manifests = permissions.manifests(&Account::new("app", "system"));
    let expected = [
        "ClusterRole /app-access-reviewer",
        "ClusterRoleBinding /app-access-reviewer",
        "ClusterRole /app-metrics-reader",
        "ClusterRole /app-reader",
        "ClusterRole /app-commander",
        "ClusterRole /app-namespace-reader",
        "ClusterRole /app-namespace-commander",
    ];
    assert_eq!(names(&manifests)[3..], expected);
    let Manifest::ClusterRole(reviewer) = &manifests[3] else { panic!("{manifests:?}") };
    let reviews = [
        "subjectaccessreviews.authorization.k8s.io: create",
        "tokenreviews.authentication.k8s.io: create",
    ];
    assert_eq!(lines(reviewer.rules.as_ref().unwrap()), reviews);
}

#[test]
fn every_binding_names_its_role_and_the_account() {
    let both = [cleaner(), greeter().within_namespace("a")];
    let permissions = Permissions::of(&both).unwrap().with_delegated_auth();
    let bindings = permissions.manifests(&Account::new("app", "system")).into_iter();
    let bindings: Vec<_> = bindings
        .filter_map(|manifest| match manifest {
            Manifest::ClusterRoleBinding(it) => Some((it.metadata, it.role_ref, it.subjects)),
            Manifest::RoleBinding(it) => Some((it.metadata, it.role_ref, it.subjects)),
            _ => None,
        })
        .collect();
    assert_eq!(bindings.len(), 3);
    for (metadata, role, subjects) in bindings {
        assert_eq!(metadata.name, Some(role.name));
        assert_eq!(role.kind == "Role", metadata.namespace.is_some());
        let subject = subjects.unwrap().remove(0);
        let account = (subject.kind.as_str(), subject.name.as_str(), subject.namespace.as_deref());
        assert_eq!(account, ("ServiceAccount", "app", Some("system")));
    }
}

#[test]
fn a_configuration_that_cannot_be_registered_has_no_permissions() {
    let refused = Permissions::of([&greeter().child::<Namespace>(ChildConfig::apply())]);
    assert!(matches!(refused, Err(ManifestError::Config(ConfigError::ClusterChild { .. }))));
}
