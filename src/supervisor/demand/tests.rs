//! The watches of operators, alone and as others come and go.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret};

use super::*;
use crate::{cluster::ShardedBy, operator::ChildConfig};

fn watches(configs: &[&OperatorConfig]) -> Watches {
    demand(configs).watches()
}

fn demand(configs: &[&OperatorConfig]) -> Demand {
    let demanding = configs.iter().copied().map(|config| demanding(config));
    Demand::of(&demanding.collect::<Vec<_>>(), &BTreeSet::new())
}

fn demanding(config: &OperatorConfig) -> Demanding<'_> {
    Demanding { config, sees_all_parents: false, is_open: false, whole: &[] }
}

#[test]
fn a_parent_selector_is_on_the_watch_only_without_other_operators_and_without_a_finalizer() {
    let ty = K8sType::of::<ConfigMap>();
    let a = OperatorConfig::of::<ConfigMap>("a").with_parent_selector("tier=gold");
    assert_eq!(selector(&[&a], &ty).as_deref(), Some("tier=gold"));
    let b = OperatorConfig::of::<Secret>("b").child::<ConfigMap>(ChildConfig::apply());
    assert_eq!(selector(&[&a, &b], &ty), None);
    let elsewhere = b.within_namespace("y");
    let a = a.within_namespaces(["x", "y"]);
    assert_eq!(shown(&[&a, &elsewhere], &ty), ["x:tier=gold", "y:*"]);
    let finalizing = Demanding { sees_all_parents: true, ..demanding(&a) };
    let watches = Demand::of(&[finalizing], &BTreeSet::new()).watches();
    assert!(watches[&ty].iter().all(|watch| watch.label_selector.is_none()));
}

fn selector(configs: &[&OperatorConfig], ty: &K8sType) -> Option<String> {
    let watches = watches(configs);
    assert_eq!(watches[ty].len(), 1, "one watch per type");
    watches[ty][0].label_selector.clone()
}

#[test]
fn what_a_webhook_reads_is_watched_as_a_whole_also_where_nobody_else_needs_it() {
    let (pods, secrets) = (K8sType::of::<Pod>(), K8sType::of::<Secret>());
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let a = a.within_namespace("x");
    let watches = Demand::of(&[demanding(&a)], &[pods.clone(), secrets.clone()].into()).watches();
    for ty in [pods, secrets] {
        let whole = &watches[&ty][0];
        assert_eq!((&whole.namespace, &whole.label_selector), (&None, &None), "{ty}");
    }
}

/// The watch of a type in a process that works in buckets 3 and 7.
fn shared(configs: &[&OperatorConfig], unlabelled: &[K8sType], ty: &K8sType) -> WatchSpec {
    let sharing = Sharing {
        buckets: "3,7".parse().unwrap(),
        unlabelled: unlabelled.iter().cloned().collect(),
        parent_labels: BTreeSet::from(["operetta.dev/parent-uid".to_owned()]),
    };
    demand(configs).shared(Some(sharing)).watches()[ty][0].clone()
}

#[test]
fn a_process_of_several_watches_the_parents_and_children_of_its_buckets() {
    let (parents, pods) = (K8sType::of::<ConfigMap>(), K8sType::of::<Pod>());
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let by = |spec: &WatchSpec| spec.shard.as_ref().map(|shard| shard.by.clone());
    assert_eq!(by(&shared(&[&a], &[], &parents)), Some(ShardedBy::Uid));
    let labelled = shared(&[&a], &[], &pods);
    let selector = "app.kubernetes.io/managed-by in (a),operetta.dev/bucket in (3,7)";
    assert_eq!((labelled.label_selector.as_deref(), by(&labelled)), (Some(selector), None));
    let labels = || BTreeSet::from(["operetta.dev/parent-uid".to_owned()]);
    let unlabelled = shared(&[&a], std::slice::from_ref(&pods), &pods);
    assert_eq!(unlabelled.label_selector.as_deref(), Some("app.kubernetes.io/managed-by in (a)"));
    assert_eq!(by(&unlabelled), Some(ShardedBy::Parent(labels())));
    let b = OperatorConfig::of::<Pod>("b");
    let both = shared(&[&a, &b], &[], &pods);
    assert_eq!(
        (both.label_selector.as_deref(), by(&both)),
        (None, Some(ShardedBy::Either(labels())))
    );
}

#[test]
fn what_is_read_whole_is_not_shared_and_all_buckets_need_no_label() {
    let pods = K8sType::of::<Pod>();
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let whole = Demand::of(&[demanding(&a)], &[pods.clone()].into());
    let sharing =
        |buckets: &str| Some(Sharing { buckets: buckets.parse().unwrap(), ..Sharing::default() });
    let watches = whole.shared(sharing("3")).watches();
    assert_eq!((&watches[&pods][0].label_selector, &watches[&pods][0].shard), (&None, &None));
    let alone = demand(&[&a]).shared(sharing("0-63")).watches();
    let selector = alone[&pods][0].label_selector.as_deref();
    assert_eq!(selector, Some("app.kubernetes.io/managed-by in (a)"));
    let nothing = demand(&[&a]).shared(sharing("")).watches();
    let selector = nothing[&pods][0].label_selector.as_deref().unwrap();
    assert!(selector.ends_with("operetta.dev/bucket in (none)"), "{selector}");
}

#[test]
fn other_buckets_are_a_change_of_the_watches_that_are_shared() {
    let (parents, pods) = (K8sType::of::<ConfigMap>(), K8sType::of::<Pod>());
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let of = |buckets: &str| {
        let sharing = Sharing { buckets: buckets.parse().unwrap(), ..Sharing::default() };
        demand(&[&a]).shared(Some(sharing))
    };
    let mut changed = of("3").since(&of("4")).changed;
    changed.sort();
    let mut expected = vec![parents, pods];
    expected.sort();
    assert_eq!(changed, expected);
    assert_eq!(of("3").since(&of("3")), Difference::default());
}

#[test]
fn operators_share_the_watch_of_a_child_type() {
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let b = OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply());
    assert_eq!(
        selector(&[&a, &b], &K8sType::of::<Pod>()).as_deref(),
        Some("app.kubernetes.io/managed-by in (a,b)")
    );
}

#[test]
fn a_parent_type_is_watched_without_a_selector_even_if_it_is_also_a_child_type() {
    let a = OperatorConfig::of::<ConfigMap>("a");
    let b = OperatorConfig::of::<Secret>("b").child::<ConfigMap>(ChildConfig::apply());
    assert_eq!(selector(&[&a, &b], &K8sType::of::<ConfigMap>()), None);
    assert_eq!(selector(&[&b, &a], &K8sType::of::<ConfigMap>()), None);
}

#[test]
fn operators_with_other_labels_cannot_share_a_selector() {
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let mut b = OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply());
    b.labels.managed_by = "example.dev/by".to_owned();
    assert_eq!(selector(&[&a, &b], &K8sType::of::<Pod>()), None);
}

/// Namespace and selector of each watch, as `namespace:selector`.
fn shown(configs: &[&OperatorConfig], ty: &K8sType) -> Vec<String> {
    let show = |watch: &WatchSpec| {
        let namespace = watch.namespace.as_deref().unwrap_or("*");
        format!("{namespace}:{}", watch.label_selector.as_deref().unwrap_or("*"))
    };
    watches(configs)[ty].iter().map(show).collect()
}

#[test]
fn each_namespace_has_one_watch_for_its_operators() {
    let a = OperatorConfig::of::<ConfigMap>("a")
        .child::<Pod>(ChildConfig::apply())
        .within_namespaces(["x", "y"]);
    let b = OperatorConfig::of::<Secret>("b")
        .child::<Pod>(ChildConfig::apply())
        .within_namespaces(["y", "z"]);
    let label = "app.kubernetes.io/managed-by";
    let pods =
        [format!("x:{label} in (a)"), format!("y:{label} in (a,b)"), format!("z:{label} in (b)")];
    assert_eq!(shown(&[&a, &b], &K8sType::of::<Pod>()), pods);
    assert_eq!(shown(&[&a, &b], &K8sType::of::<ConfigMap>()), ["x:*", "y:*"]);
}

#[test]
fn an_operator_of_all_namespaces_makes_one_watch_with_fallbacks_for_the_others() {
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let b =
        OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply()).within_namespace("x");
    let label = "app.kubernetes.io/managed-by";
    let pods = [format!("*:{label} in (a,b)"), format!("x:{label} in (a,b)")];
    assert_eq!(shown(&[&a, &b], &K8sType::of::<Pod>()), pods);
    assert_eq!(shown(&[&b, &a], &K8sType::of::<Secret>()), ["x:*"]);
    let all = watches(&[&a, &b]);
    let relied_on = |config| relied_on(config, &all).into_iter().map(|it| it.to_string());
    assert_eq!(relied_on(&a).collect::<Vec<_>>(), ["configmaps", "pods"]);
    let of_b = ["pods in namespace x", "secrets in namespace x"];
    assert_eq!(relied_on(&b).collect::<Vec<_>>(), of_b);
}

#[test]
fn a_cluster_scoped_type_has_one_watch_whatever_the_namespaces() {
    let a = OperatorConfig::of::<ConfigMap>("a")
        .child::<Namespace>(ChildConfig::apply().delete_with_finalizer())
        .within_namespaces(["x", "y"]);
    let namespaces = K8sType::of::<Namespace>();
    assert_eq!(shown(&[&a], &namespaces), ["*:app.kubernetes.io/managed-by in (a)"]);
    let relied_on = relied_on(&a, &watches(&[&a]));
    assert!(relied_on.iter().any(|it| it.ty == namespaces && it.namespace.is_none()));
}

#[test]
fn a_use_as_parent_type_removes_the_selector_only_in_the_namespaces_of_its_operator() {
    let a = OperatorConfig::of::<ConfigMap>("a")
        .child::<Secret>(ChildConfig::apply())
        .within_namespaces(["x", "y"]);
    let b = OperatorConfig::of::<Secret>("b").within_namespace("y");
    let secrets = ["x:app.kubernetes.io/managed-by in (a)", "y:*"];
    assert_eq!(shown(&[&a, &b], &K8sType::of::<Secret>()), secrets);
}

#[test]
fn a_related_type_uses_a_watch_that_shows_all_its_objects() {
    let secrets = K8sType::of::<Secret>();
    let reader = OperatorConfig::of::<ConfigMap>("a").related::<Secret>();
    let spec = |config: &OperatorConfig| source_specs(config).next().unwrap();
    let has_all = |others: &[&OperatorConfig], reader: &OperatorConfig| {
        has_all(&watches(&[&[reader], others].concat()), &spec(reader))
    };
    let parents = OperatorConfig::of::<Secret>("b");
    let children = OperatorConfig::of::<Pod>("b").child::<Secret>(ChildConfig::apply());
    assert!(has_all(&[&parents], &reader));
    assert!(!has_all(&[&children], &reader), "it shows only children");
    assert!(!has_all(&[&parents.clone().within_namespace("x")], &reader));
    assert!(!has_all(&[&parents], &reader.clone().within_namespace("x")));
    let metadata = OperatorConfig::of::<ConfigMap>("a").related_metadata::<Secret>();
    assert!(!has_all(&[&parents], &metadata));
    assert!(
        !watches(&[&reader]).contains_key(&secrets),
        "nothing is watched until it is asked for"
    );
}

#[test]
fn an_operator_requires_only_the_watches_of_its_namespaces() {
    let a = OperatorConfig::of::<ConfigMap>("a")
        .child::<Pod>(ChildConfig::apply())
        .within_namespace("x");
    let b =
        OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply()).within_namespace("y");
    let all = watches(&[&a, &b]);
    let relied_on: Vec<_> = relied_on(&a, &all).iter().map(ToString::to_string).collect();
    assert_eq!(relied_on, ["configmaps in namespace x", "pods in namespace x"]);
}

/// What happens to the watches when these operators follow the others, as `type: namespace:selector`.
fn followed(before: &[Demanding<'_>], after: &[Demanding<'_>]) -> (Difference, Vec<String>) {
    let running = Demand::of(before, &BTreeSet::new());
    let next = Demand::of(after, &BTreeSet::new()).continuing(&running);
    let show = |(ty, specs): (K8sType, Vec<WatchSpec>)| {
        let spec = |spec: &WatchSpec| {
            let namespace = spec.namespace.as_deref().unwrap_or("*");
            format!(
                "{}: {namespace}:{}",
                ty.resource_name(),
                spec.label_selector.as_deref().unwrap_or("*")
            )
        };
        specs.iter().map(spec).collect::<Vec<_>>()
    };
    (next.since(&running), next.watches().into_iter().flat_map(show).collect())
}

fn open(config: &OperatorConfig) -> Demanding<'_> {
    Demanding { is_open: true, ..demanding(config) }
}

#[test]
fn the_first_later_operator_replaces_the_watch_of_a_shared_child_type_and_the_next_ones_do_not() {
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let b = OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply());
    let c = OperatorConfig::of::<Namespace>("c").child::<Pod>(ChildConfig::apply());
    let (difference, watches) = followed(&[demanding(&a)], &[demanding(&a), open(&b)]);
    assert_eq!(difference.opened, [K8sType::of::<Secret>()]);
    assert_eq!(difference.changed, [K8sType::of::<Pod>()]);
    assert!(watches.contains(&"pods: *:operetta.dev/parent-uid".to_owned()), "{watches:?}");
    let two = [demanding(&a), open(&b)];
    let (difference, _) = followed(&two, &[two[0], two[1], open(&c)]);
    assert_eq!(difference.opened, [K8sType::of::<Namespace>()]);
    assert!(difference.changed.is_empty() && difference.closed.is_empty());
}

#[test]
fn a_type_is_closed_with_the_last_who_needs_it_and_never_narrowed_before() {
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let b = OperatorConfig::of::<Pod>("b");
    let both = [demanding(&a), demanding(&b)];
    let (difference, watches) = followed(&both, &both[..1]);
    assert_eq!(difference, Difference::default());
    assert!(watches.contains(&"pods: *:*".to_owned()), "{watches:?}");
    let (difference, _) = followed(&both, &both[1..]);
    assert_eq!(difference.closed, [K8sType::of::<ConfigMap>()]);
    let (difference, watches) = followed(&both, &[]);
    assert_eq!((difference.closed.len(), watches.len()), (2, 0));
}

#[test]
fn namespaces_come_and_go_one_by_one_and_a_watch_of_all_stays() {
    let in_x = OperatorConfig::of::<ConfigMap>("a").within_namespace("x");
    let in_y = OperatorConfig::of::<Secret>("b")
        .child::<ConfigMap>(ChildConfig::apply())
        .within_namespace("y");
    let all = OperatorConfig::of::<Secret>("b").child::<ConfigMap>(ChildConfig::apply());
    let (x, y, all) = (open(&in_x), open(&in_y), open(&all));
    let of_maps = |watches: Vec<String>| -> Vec<String> {
        watches.into_iter().filter(|watch| watch.starts_with("configmaps")).collect()
    };
    let (difference, watches) = followed(&[x], &[x, y]);
    assert_eq!(difference.changed, [K8sType::of::<ConfigMap>()]);
    let label = "operetta.dev/parent-uid";
    assert_eq!(of_maps(watches), ["configmaps: x:*".to_owned(), format!("configmaps: y:{label}")]);
    let (_, watches) = followed(&[x, y], &[x]);
    assert_eq!(of_maps(watches), ["configmaps: x:*"]);
    let (_, watches) = followed(&[x], &[x, all]);
    assert_eq!(of_maps(watches), ["configmaps: *:*", "configmaps: x:*"]);
    let (difference, watches) = followed(&[x, all], &[x]);
    assert_eq!(of_maps(watches), ["configmaps: *:*", "configmaps: x:*"]);
    assert!(difference.changed.is_empty());
}

#[test]
fn a_type_whose_watch_a_reader_uses_stays_with_the_reader() {
    let reader = OperatorConfig::of::<ConfigMap>("a").related::<Secret>();
    let parents = OperatorConfig::of::<Secret>("b");
    let secrets = [K8sType::of::<Secret>()];
    let reading = Demanding { whole: &secrets, ..open(&reader) };
    let (difference, watches) = followed(&[open(&parents), reading], &[reading]);
    assert_eq!(difference, Difference::default());
    assert!(watches.contains(&"secrets: *:*".to_owned()), "{watches:?}");
}

#[test]
fn a_process_that_has_no_bucket_yet_asks_for_nothing() {
    let (parents, pods) = (K8sType::of::<ConfigMap>(), K8sType::of::<Pod>());
    let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
    let unlabelled = [pods.clone()].into();
    let watches =
        demand(&[&a]).shared(Some(Sharing { unlabelled, ..Sharing::default() })).watches();
    for ty in [parents, pods] {
        let (watch, nothing) = (&watches[&ty][0], "operetta.dev/bucket in (none)");
        let selector = watch.label_selector.as_deref().unwrap_or_default();
        assert!(selector.ends_with(nothing) && watch.shard.is_none(), "{watch:?}");
    }
}
