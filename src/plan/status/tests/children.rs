//! The list of children in the status.

use super::*;

fn listing(
    present: &Value,
    handler: Option<&Value>,
    children: ChildrenField<'_>,
    schema: &StatusSchema,
) -> StatusPatch {
    status_patch(StatusInput {
        parent: &parent(present),
        shared: None,
        handler,
        conditions: &[],
        cleared: &[],
        children,
        names: &ConditionNames::default(),
        beside: None,
        observed_generation: false,
        schema,
        now: NOW,
    })
}

fn pod(name: &str, message: Option<&str>) -> ChildStatus {
    let text = |text: &str| text.to_owned();
    let (api_version, kind, namespace) = (text("v1"), text("Pod"), Some(text("ns")));
    let state = if message.is_some() { ChildState::Failed } else { ChildState::Synced };
    let message = message.map(text);
    ChildStatus { api_version, kind, namespace, name: text(name), state, message }
}

/// A status that declares the list, with these fields of an entry.
fn with_children(fields: &[&str]) -> StatusSchema {
    let fields: Map<_, _> =
        fields.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let status = json!({"type": "object", "properties": {
        "phase": {"type": "string"},
        "children": {"type": "array", "items": {"type": "object", "properties": fields}},
    }});
    StatusSchema::from_open_api(Some(&status), true)
}

#[test]
fn children_are_listed_as_far_as_that_is_declared() {
    let children = [pod("a", None), pod("b", Some(&"x".repeat(300)))];
    let listed = ChildrenField::Listed(&children);
    let patch = listing(&json!({}), None, listed, &with_children(&["name", "state"]));
    let entry = |name: &str, state: &str| json!({"name": name, "state": state});
    let expected = json!({"children": [entry("a", "Synced"), entry("b", "Failed")]});
    assert_eq!(patch.body.unwrap()["status"], expected);
    let patch = listing(&json!({}), None, listed, &with_children(&["message"]));
    let message = patch.body.unwrap()["status"]["children"][1]["message"].clone();
    assert!(message.as_str().unwrap().len() <= 256, "{message}");
    let number = json!({"type": "object", "properties": {"children": {"type": "integer"}}});
    let number = StatusSchema::from_open_api(Some(&number), true);
    for schema in [schema(), number] {
        let patch = listing(&json!({}), None, listed, &schema);
        assert_eq!((patch.body, patch.undeclared), (None, vec![UndeclaredField::own("children")]));
    }
    let many: Vec<_> = (0..101).map(|number| pod(&number.to_string(), None)).collect();
    let patch = listing(&json!({}), None, ChildrenField::Listed(&many), &with_children(&["name"]));
    assert_eq!(patch.undeclared, [UndeclaredField::own("childrenOmitted")]);
    let any = StatusSchema::unknown();
    let patch = listing(&json!({}), None, ChildrenField::Listed(&many), &any);
    assert_eq!(patch.body.unwrap()["status"]["childrenOmitted"], 1);
}

#[test]
fn the_list_of_children_belongs_to_the_framework_where_it_is_configured() {
    let (schema, children) = (with_children(&["name"]), [pod("a", None)]);
    let ours = json!({"children": [{"name": "a"}]});
    let theirs = json!({"phase": "x", "children": [{"name": "mine"}]});
    let echo = json!({"phase": "x", "children": [{"name": "a"}]});
    let off = listing(&ours, Some(&theirs), ChildrenField::Off, &schema);
    assert_eq!(off.body.unwrap()["status"], theirs);
    for children in [ChildrenField::Listed(&children), ChildrenField::Kept] {
        for (handler, overruled) in
            [(&theirs, true), (&echo, false), (&json!({"phase": "x", "children": []}), false)]
        {
            let patch = listing(&ours, Some(handler), children, &schema);
            assert_eq!(patch.overruled, overruled, "{handler}");
            assert_eq!(patch.body.unwrap()["status"], json!({"phase": "x"}));
        }
        let same = listing(&ours, None, children, &schema);
        assert_eq!(same.body, None);
    }
    let none = listing(&ours, None, ChildrenField::Listed(&[]), &schema);
    assert_eq!(none.body.unwrap()["status"], json!({"children": null}));
}
