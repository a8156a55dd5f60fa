//! The index by parent is cleaned up, however its objects are removed.

use serde_json::json;

use super::super::*;
use crate::object::{K8sType, KeptManagers};

fn ty() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

/// A child of a parent of its own.
fn child(number: usize, version: u64) -> Object {
    let (name, parent) = (format!("c{number}"), format!("p{number}"));
    let value = json!({"metadata": {
        "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
        "labels": {"by": format!("{parent}-labelled")},
        "ownerReferences": [{"uid": parent, "controller": true}],
    }});
    Object::from_value(&ty(), &value, &KeptManagers::default()).unwrap()
}

fn unreadable(number: usize) -> Undecodable {
    let text = json!({"metadata": {
        "name": format!("c{number}"), "namespace": "ns", "resourceVersion": "6",
    }});
    Undecodable::read(&ty(), &text.to_string(), "odd".to_owned())
}

#[test]
fn nothing_is_kept_about_a_parent_whose_children_are_gone() {
    type Removal = fn(&mut Contents, ScopeId);
    let deleted = |contents: &mut Contents, scope: ScopeId| {
        for number in 0..3 {
            contents.observe_deletion(scope, &child(number, 7)).expect("it was cached");
        }
    };
    let not_listed = |contents: &mut Contents, scope: ScopeId| {
        let start = contents.begin_list(scope);
        contents.replace(scope, start, Vec::new(), &ResourceVersion::Number(7));
    };
    let marked = |contents: &mut Contents, _: ScopeId| {
        for number in 0..3 {
            let child = child(number, 5);
            contents.mark_deleted(child.key(), child.uid()).expect("it was cached");
        }
    };
    for (what, remove) in [
        ("deleted", deleted as Removal),
        ("not in the list", not_listed),
        ("deleted by us", marked),
    ] {
        let mut contents = Contents::new(BTreeSet::from(["by".to_owned()]));
        let scope = contents.add_scope(Some("ns".to_owned()));
        (0..3).for_each(|number| drop(contents.observe(scope, child(number, 5))));
        contents.mark_undecodable(unreadable(0));
        assert_eq!((contents.by_parent.len(), contents.census.of("ns")), (6, Some(3)));
        remove(&mut contents, scope);
        assert!(contents.by_parent.is_empty(), "{what}: {:?}", contents.by_parent);
        let undecodable = contents.undecodable.count(|_| true);
        assert_eq!(
            (contents.census.of("ns"), contents.bytes, undecodable),
            (Some(0), 0, 0),
            "{what}"
        );
    }
}
