use serde_json::json;

use super::*;

fn version(text: &str) -> ResourceVersion {
    ResourceVersion::new(text)
}

fn pod(name: &str, from: Option<&str>, to: Option<&str>) -> Cause {
    let ty = K8sType::namespaced("v1", "Pod", "pods");
    let key = ObjectKey::namespaced("ns", name);
    let (from, to) = (from.map(version), to.map(version));
    Cause::ChildChanged(Box::new(ObjectChange { ty, key, from, to }))
}

#[test]
fn changes_of_one_object_become_one_change() {
    let mut causes = Causes::default();
    causes.add(pod("a", Some("1"), Some("2")));
    causes.add(Cause::Resync);
    causes.add(pod("b", None, Some("3")));
    causes.add(pod("a", Some("2"), None));
    causes.add(Cause::Resync);
    let expected = [pod("a", Some("1"), None), Cause::Resync, pod("b", None, Some("3"))];
    assert_eq!(causes.take(), expected);
    assert_eq!(causes.take(), []);
}

#[test]
fn the_number_of_kept_causes_is_bounded() {
    let mut causes = Causes::default();
    for number in 0..1000 {
        causes.add(pod(&number.to_string(), None, Some("1")));
    }
    let kept = causes.take();
    assert_eq!(kept.len(), MAX_CAUSES + 1);
    assert_eq!(kept.last(), Some(&Cause::More { count: 1000 - MAX_CAUSES }));
}

#[test]
fn a_command_is_kept_among_thousands_of_causes() {
    let mut causes = Causes::default();
    for number in 0..1000 {
        causes.add(pod(&number.to_string(), None, Some("1")));
    }
    let asked = Cause::Command { by: Some("ada".into()) };
    causes.add(asked.clone());
    assert_eq!(asked.to_string(), "ada requested a reconcile");
    let kept = causes.take();
    assert_eq!(kept.first(), Some(&asked));
    assert_eq!(kept.last(), Some(&Cause::More { count: 1001 - MAX_CAUSES }));
}

#[test]
fn a_command_comes_before_a_change_that_had_to_wait() {
    let asked = Cause::Command { by: None };
    let mut causes = Causes::default();
    for cause in [pod("a", Some("1"), Some("2")), asked.clone(), pod("a", Some("2"), Some("3"))] {
        causes.add(cause);
    }
    assert_eq!(causes.take(), [asked, pod("a", Some("1"), Some("3"))]);
}

#[test]
fn a_cause_names_the_object_and_both_versions() {
    let shown = serde_json::to_value(pod("a", Some("1"), Some("2"))).unwrap();
    let expected = json!({
        "reason": "ChildChanged",
        "message": "Pod.v1 ns/a changed from version 1 to 2",
        "apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "a",
        "from": "1", "to": "2",
    });
    assert_eq!(shown, expected);
    assert_eq!(pod("a", Some("1"), None).reason(), "ChildDeleted");
}
