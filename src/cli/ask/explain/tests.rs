//! What is printed about parents.

use serde_json::json;

use super::*;

fn explained(of: Value, is_wide: bool) -> String {
    let parent: Parent = serde_json::from_value(of).unwrap();
    explain("cook", &parent, "2026-01-01T12:00:00Z".parse().unwrap(), is_wide)
}

fn stuck() -> Value {
    json!({
        "namespace": "shop", "name": "menu", "phase": "failing", "failures": 3, "reconciles": 9,
        "why": {
            "what": "Menu shop/menu has an error of its handler: no oven",
            "because": ["the error may be temporary", "since 11:55"],
            "actions": [
                {"text": "Correct it", "command": "kubectl edit menus menu -n shop", "inCode": false},
                {"text": "Return another error", "inCode": true},
            ],
        },
        "nextWake": {"at": "2026-01-01T12:00:02.000Z", "why": "Retry"},
        "conditions": [{
            "type": "Synced", "status": "False", "reason": "HandlerFailed", "message": "no oven",
            "lastTransitionTime": "2026-01-01T11:55:00Z",
        }],
        "children": [{
            "kind": "Deployment", "namespace": "shop", "name": "menu",
            "readiness": {"state": "Progressing", "message": "1 of 2 replicas"},
            "decision": {"child": "Deployment.v1.apps shop/menu", "decision": "Held", "why": "a pause"},
            "preview": {"action": "Update", "differences": [
                {"path": ".spec.replicas", "live": 2, "desired": 3},
                {"path": ".spec.paused", "desired": true},
            ]},
            "children": [{
                "kind": "Pod", "namespace": "shop", "name": "menu-1",
                "readiness": {"state": "Ready"},
            }],
        }],
        "childrenOmitted": 0,
        "history": [{
            "number": 9, "started": "2026-01-01T11:59:50.000Z", "durationMilliseconds": 1.25,
            "causes": [{"reason": "Retry", "message": "its backoff has passed"}],
            "outcome": {"result": "Failed", "reason": "HandlerFailed", "message": "no oven"},
            "decisions": [{"child": "Pod.v1 shop/a", "decision": "Created"}], "omitted": 2,
        }],
    })
}

#[test]
fn a_parent_is_explained_from_why_to_history() {
    let expected = "\
Name:       shop/menu
Operator:   cook
Phase:      failing (3 failures in a row)
What:       Menu shop/menu has an error of its handler: no oven
Why:        the error may be temporary
            since 11:55
Do this:    Correct it
            $ kubectl edit menus menu -n shop
In code:    Return another error
Reconciles: 9
Next:       in 2s (Retry), or when something changes

CONDITION   STATUS   REASON          AGE   MESSAGE
Synced      False    HandlerFailed   5m    no oven

CHILD                  READINESS     LAST DECISION   MESSAGE
Deployment shop/menu   Progressing   Held            a pause
  Pod shop/menu-1      Ready

Update Deployment shop/menu
  - .spec.replicas: 2
  + .spec.replicas: 3
  + .spec.paused: true

RECONCILE   AGE   TOOK    OUTCOME                 CAUSES                   DECISIONS
9           10s   1.2ms   Failed, HandlerFailed   its backoff has passed   Created Pod.v1 shop/a, 2 more
";
    assert_eq!(explained(stuck(), false), expected);
}

#[test]
fn events_are_shown_with_what_they_are_about() {
    let mut parent = stuck();
    parent["events"] = json!({
        "items": [{
            "lastSeen": "2026-01-01T11:59:00Z", "type": "Warning", "reason": "BackOff", "count": 12,
            "object": {"kind": "Pod", "namespace": "shop", "name": "menu-1"}, "message": "no image",
        }],
        "omitted": 0, "objectsOmitted": 0, "errors": ["forbidden"],
    });
    let shown = explained(parent, true);
    let line = "60s         Warning   BackOff   Pod shop/menu-1   12      no image\n";
    assert!(shown.contains(line), "{shown}");
    assert!(shown.ends_with("Events cannot be read: forbidden\n"), "{shown}");
}

#[test]
fn a_parent_that_is_not_known_well_yet_is_shown_as_far_as_it_is() {
    let shown = explained(json!({"name": "global", "phase": "pending"}), false);
    assert!(
        shown.starts_with("Name:       global\nOperator:   cook\nPhase:      pending\n"),
        "{shown}"
    );
    assert!(shown.ends_with("It has no children.\n"), "{shown}");
}

#[test]
fn no_text_of_the_process_forges_a_line_or_controls_the_terminal() {
    let forged = "x\nWhy:        all is well\r\u{1b}[2K\u{202e}";
    let mut parent = stuck();
    parent["why"]["what"] = json!(forged);
    parent["why"]["actions"][0]["command"] = json!(forged);
    parent["previewError"] = json!(forged);
    parent["conditions"][0]["message"] = json!(forged);
    parent["children"][0]["decision"]["why"] = json!(forged);
    parent["children"][0]["preview"]["why"] = json!(forged);
    parent["children"][0]["preview"]["differences"][0] =
        json!({"path": forged, "live": forged, "desired": {forged: 1}});
    parent["history"][0]["causes"][0]["message"] = json!(forged);
    for is_wide in [false, true] {
        let shown = explained(parent.clone(), is_wide);
        let begins = |line: &str| line.starts_with("Why:        all");
        assert!(shown.contains("all is well") && !shown.lines().any(begins), "{shown}");
        assert!(!shown.contains(['\r', '\u{1b}', '\u{202e}']), "{shown}");
    }
}
