//! Which boxes and lines a map has.

use std::collections::BTreeSet;

use super::*;
use crate::{
    object::{K8sType, ObjectKey},
    web::views::{KeyView, TypeView},
};

fn node(role: Role, kind: &str, name: &str, state: &'static str) -> MapNode {
    let ty = K8sType::namespaced("v1", kind, &format!("{}s", kind.to_lowercase()));
    let (ty, key) = (TypeView::from(&ty), KeyView::from(&ObjectKey::namespaced("ns", name)));
    MapNode {
        id: format!("{}/{key}", ty.name),
        role,
        ty,
        key,
        state,
        message: String::new(),
        decision: None,
        changed_by: None,
        logs: Vec::new(),
        uid: None,
    }
}

fn edge(from: &MapNode, to: &MapNode, relation: Relation) -> Edge {
    Edge { from: from.id.clone(), to: to.id.clone(), relation }
}

/// A parent that owns these.
fn map(children: Vec<MapNode>) -> Map {
    let parent = node(Role::Parent, "Shop", "p", "ready");
    let edges = children.iter().map(|child| edge(&parent, child, Relation::Owns)).collect();
    let nodes = std::iter::once(parent).chain(children).collect();
    Map { nodes, edges, ..Map::default() }
}

fn figure(map: &Map) -> Figure {
    Figure::of(map, Mark::good("ready"), Some("ns"))
}

fn names(figure: &Figure) -> Vec<String> {
    figure.boxes.iter().map(|it| format!("{} {}", it.kind, it.title)).collect()
}

#[test]
fn five_hundred_objects_are_a_few_boxes_and_what_is_not_ready_keeps_its_own() {
    let state = |number| if number == 300 { "Failed" } else { "Exists" };
    let many = (0..490).map(|it| node(Role::Child, "ConfigMap", &format!("c{it}"), state(it)));
    let few = (0..5).map(|it| node(Role::Child, "Secret", &format!("s{it}"), "Exists"));
    let map = map(many.chain(few).collect());
    let figure = figure(&map);
    let names = names(&figure);
    assert_eq!(names[..3], ["Shop p", "ConfigMap c300", "ConfigMap 489 objects"]);
    assert_eq!((names.len(), figure.lines.len()), (8, 7));
    let ids: BTreeSet<_> = figure.boxes.iter().map(|it| &it.id).collect();
    assert_eq!(ids.len(), figure.boxes.len());
}

#[test]
fn a_folded_box_says_how_many_are_not_ready() {
    let children = (0..20).map(|it| node(Role::Child, "Pod", &format!("p{it}"), "Progressing"));
    let figure = figure(&map(children.collect()));
    let last = figure.boxes.last().unwrap();
    assert_eq!(last.label(), "17 objects Pod · 17 not ready, not all ready: 17 not ready");
    assert_eq!(figure.boxes.len(), 5);
}

#[test]
fn lines_across_the_tree_are_drawn_between_boxes_only() {
    let pods =
        [node(Role::Dependant, "Pod", "a", "Ready"), node(Role::Dependant, "Pod", "b", "Ready")];
    let claim = node(Role::Dependant, "Claim", "c", "Ready");
    let theme = node(Role::Related, "ConfigMap", "theme", "Exists");
    let mut map = map(pods.into());
    let across = [
        edge(&map.nodes[1], &claim, Relation::Owns),
        edge(&map.nodes[2], &claim, Relation::Mounts),
        edge(&map.nodes[0], &theme, Relation::Reads),
        Edge { from: "gone".to_owned(), to: claim.id.clone(), relation: Relation::Mounts },
    ];
    map.edges.extend(across);
    map.nodes.extend([claim, theme]);
    let figure = figure(&map);
    let classes: Vec<_> = figure.lines.iter().map(|line| line.class).collect();
    assert_eq!(classes, ["owns", "owns", "owns", "mounts", "reads"]);
    assert_eq!(names(&figure), ["Shop p", "Pod a", "Claim c", "Pod b", "ConfigMap theme"]);
}

#[test]
fn a_box_says_why_it_is_not_ready_or_else_who_wrote_it_too() {
    let other = Some("hpa".to_owned());
    let ready = MapNode { changed_by: other.clone(), ..node(Role::Child, "Pod", "a", "Ready") };
    let message = "0 of 1 ready: the image cannot be pulled".to_owned();
    let failing =
        MapNode { changed_by: other, message, ..node(Role::Child, "Pod", "b", "Progressing") };
    let map = map(vec![ready, failing]);
    let figure = figure(&map);
    assert_eq!(figure.boxes[1].label(), "a Pod · also written by hpa, ready: also written by hpa");
    assert_eq!(figure.boxes[1].second_line(), "Pod · also written by hpa");
    assert_eq!(figure.boxes[2].second_line(), "Pod · 0 of 1 ready: the image can…");
}

#[test]
fn a_long_name_fits_its_box_and_another_namespace_is_shown() {
    let name = format!("{}-end", "n".repeat(60));
    let mut far = node(Role::Child, "Pod", "far", "Ready");
    far.key = (&ObjectKey::namespaced("other", "far")).into();
    let figure = figure(&map(vec![node(Role::Child, "Pod", &name, "Ready"), far]));
    assert_eq!(figure.boxes[1].name.chars().count(), NAME);
    assert!(figure.boxes[1].name.ends_with("-end") && figure.boxes[1].title == name);
    assert_eq!(figure.boxes[2].name, "other/far");
}
