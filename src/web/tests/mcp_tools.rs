//! What the tools of `/mcp` answer.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::{
    mcp::{call, called, message, send, told},
    world::{MARKED, SENTINEL, World, pods},
};
use crate::{
    board::{
        Command, CommandError, CommandRequest, EventReading, OperatorState, PauseEnd, PauseRequest,
        Preview, Responder, WebRequest,
    },
    object::{ObjectEvent, ObjectKey},
    operator::{ChildConfig, OperatorName, Pause},
    plan::{ChildId, Plan, Step, Write},
};

fn parent() -> Value {
    json!({"operator": "echo-server", "namespace": "ns", "name": "a"})
}

fn with(arguments: &Value, more: &Value) -> Value {
    let mut all = arguments.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

#[actix_web::test]
async fn operators_are_listed_with_their_states_and_phases() {
    let world = World::running().with_parent().with_namespaces(3);
    let reasons = vec!["namespaces cannot be listed".to_owned()];
    world.set("spaces", OperatorState::Degraded { reasons });
    world.pause("spaces");
    let text = told(&world.state, "operators", json!({})).await;
    let expected = "2 operators.\n\
        echo-server: EchoServer (example.com/v1), running; parents: 1 failing; children: Pod, Secret\n\
        spaces: Namespace (v1), degraded, paused by a user; parents: 3 pending; namespaces cannot be listed";
    assert_eq!(text, expected);
}

#[actix_web::test]
async fn attention_names_what_is_wrong_and_why() {
    let world = World::running();
    let text = told(&world.state, "attention", json!({})).await;
    assert_eq!(text, "Nothing needs attention.");
    let world = world.with_parent().with_undecodable_pods(1);
    world.pause("spaces");
    let text = told(&world.state, "attention", json!({})).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "3 things need attention.");
    assert!(lines[1].starts_with("operator spaces is paused by a user"), "{text}");
    assert!(lines[2].starts_with("cache ") && lines[2].contains("cannot be decoded"), "{text}");
    let failing = "EchoServer ns/a of echo-server: failing since ";
    assert!(lines[3].starts_with(failing) && lines[3].contains("no such image"), "{text}");
    let of = |arguments| told(&world.state, "attention", arguments);
    assert!(of(json!({"operator": "echo-server"})).await.contains("1 thing needs attention."));
    assert!(of(json!({"namespace": "other"})).await.contains("paused"));
    assert!(!of(json!({"namespace": "other"})).await.contains("ns/a"));
}

#[actix_web::test]
async fn answers_about_hundreds_of_parents_and_children_are_short_and_say_how_to_ask() {
    let world = World::running().with_parent().with_pods(200).with_failing_parents(500);
    let world = world.with_namespaces(500);
    let attention = told(&world.state, "attention", json!({})).await;
    assert!(attention.starts_with("501 things need attention."), "{attention}");
    let shown = attention.lines().count() - 2;
    let end = format!("{} more are left out: ask for one `operator`", 501 - shown);
    assert!(attention.contains(&end) && shown > 3, "{attention}");
    let spaces = told(&world.state, "parents", json!({"operator": "spaces"})).await;
    assert!(spaces.starts_with("500 parents of spaces, each a Namespace."), "{spaces}");
    let shown = spaces.lines().count() - 2;
    let end = format!("{} more are left out: ask for a `namespace`", 500 - shown);
    assert!(spaces.contains(&end) && shown > 20, "{spaces}");
    let children = told(&world.state, "children", parent()).await;
    assert!(children.contains("202 children, "), "{children}");
    let shown = children.lines().count() - 3;
    let end = format!("{} more are left out: ask for a `kind`", 202 - shown);
    assert!(children.contains(&end) && shown > 5, "{children}");
    let secrets = told(&world.state, "children", with(&parent(), &json!({"kind": "secret"}))).await;
    assert!(secrets.ends_with("Secret ns/secret: Exists"), "{secrets}");
}

#[actix_web::test]
async fn parents_are_found_by_phase_and_text() {
    let world = World::running().with_parent().with_failing_parents(3);
    let of = |more: Value| {
        let arguments = with(&json!({"operator": "echo-server"}), &more);
        let state = world.state.clone();
        async move { told(&state, "parents", arguments).await }
    };
    assert!(of(json!({"text": "S/A"})).await.ends_with("ns/a: failing: no such image"));
    assert!(of(json!({"namespace": "many"})).await.starts_with("3 parents of echo-server"));
    assert!(of(json!({"phase": "ready"})).await.starts_with("0 parents"));
    let (why, is_error) =
        call(&world.state, "parents", json!({"operator": "echo-server", "phase": "odd"})).await;
    assert!(is_error && why.contains("`odd` is not one of"), "{why}");
}

#[actix_web::test]
async fn a_parent_is_explained() {
    let world = World::running().with_parent();
    let text = told(&world.state, "explain", parent()).await;
    for part in [
        "EchoServer ns/a of echo-server: failing",
        "EchoServer ns/a fails.",
        "Because: no such image",
        "Condition Ready=False: cannot log in with (redacted)",
        "Children: 2, 1 of them not ready.",
        "failed (HandlerFailed: no such image)",
        "wrote; because ",
        "Created Pod.v1 ns/pod",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    // As answers show it.
    let short = json!({"operator": "echo-server", "name": "ns/a"});
    assert!(told(&world.state, "explain", short).await.starts_with("EchoServer ns/a"));
}

#[actix_web::test]
async fn children_are_shown_with_their_readiness() {
    let world = World::running().with_parent();
    let text = told(&world.state, "children", parent()).await;
    assert!(text.contains("2 children, 1 of them not ready."), "{text}");
    assert!(text.contains("Pod ns/pod: ") && text.contains("(redacted)"), "{text}");
    let bad = told(&world.state, "children", with(&parent(), &json!({"problems": true}))).await;
    assert!(bad.contains("Pod ns/pod") && !bad.contains("Secret ns/secret"), "{bad}");
}

/// The answer of a tool for this reply of the engine.
async fn answered(
    world: &World,
    tool: &str,
    arguments: Value,
    reply: impl FnOnce(WebRequest),
) -> (String, bool) {
    let mut requests = world.state.board.take_commands();
    let replying = async { reply(requests.recv().await.unwrap()) };
    tokio::join!(call(&world.state, tool, arguments), replying).0
}

#[actix_web::test]
async fn a_diff_shows_what_a_reconcile_would_change() {
    let world = World::running().with_parent();
    let preview = |request: WebRequest| {
        let WebRequest::Preview(mut request) = request else { panic!() };
        let id = ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "pod") };
        let desired = json!({"metadata": {"name": "pod", "namespace": "ns"}, "spec": {
            "nodeName": MARKED, "restartPolicy": "Never",
        }});
        let steps = vec![Step::Create(Write::new(id, desired, 0, ChildConfig::apply()))];
        let plan = Plan { steps, ..Plan::default() };
        let (live, none) = (BTreeMap::new(), BTreeMap::new);
        let preview = Preview { plan, live, foreign: none(), contested: none(), parent: None };
        std::mem::replace(&mut request.answer, Responder::nobody()).give(Ok(preview));
    };
    let (text, is_error) = answered(&world, "diff", parent(), preview).await;
    assert!(!is_error && text.contains("A reconcile would change 1 child."), "{text}");
    assert!(text.contains("\nCreate Pod ns/pod\n> ") && text.contains("> .spec + "), "{text}");
    assert!(text.contains("Never") && !text.contains(MARKED), "{text}");
    let refused = |request: WebRequest| {
        let WebRequest::Preview(mut request) = request else { panic!() };
        let answer = std::mem::replace(&mut request.answer, Responder::nobody());
        answer.give(Err(CommandError::Undecided("it is being deleted".to_owned())));
    };
    let (text, _) = answered(&world, "diff", parent(), refused).await;
    assert!(text.contains("There is no preview: it is being deleted"), "{text}");
}

#[actix_web::test]
async fn events_are_read_now() {
    let world = World::running().with_parent();
    let event = |is_warning, message: &str| ObjectEvent {
        kind: "Pod".to_owned(),
        key: ObjectKey::namespaced("ns", "pod"),
        is_warning,
        reason: "BackOff".to_owned(),
        message: message.to_owned(),
        source: "kubelet".to_owned(),
        count: 12,
        first: None,
        last: Some(SystemTime::now() - Duration::from_mins(3)),
    };
    let reading = move |request: WebRequest| {
        let WebRequest::Events(mut request) = request else { panic!() };
        let events = vec![event(true, &format!("cannot use {MARKED}")), event(false, "pulled")];
        let reading = EventReading { events, ..EventReading::default() };
        std::mem::replace(&mut request.answer, Responder::nobody()).give(Ok(reading));
    };
    let only = with(&parent(), &json!({"problems": true}));
    let (all, _) = answered(&world, "events", parent(), reading).await;
    let expected = "Warning BackOff of Pod ns/pod, 12 times, 3 min ago: cannot use (redacted)";
    assert!(all.contains("2 Events.") && all.contains(expected) && all.contains("pulled"), "{all}");
    let (warnings, _) = answered(&world, "events", only, reading).await;
    assert!(warnings.contains(expected) && !warnings.contains("pulled"), "{warnings}");
}

#[actix_web::test]
async fn commands_are_given_and_their_errors_are_returned() {
    let world = World::running().with_parent();
    let key = || "ns/a".parse().unwrap();
    for (tool, expected, words) in [
        ("sync", Command::Sync(key()), "as soon as a permit is free"),
        ("pause", Command::PauseParent(key(), PauseRequest::default()), "it has the annotation"),
        ("resume", Command::ResumeParent(key()), "it no longer has the annotation"),
    ] {
        let done = |request: WebRequest| {
            let WebRequest::Command(CommandRequest { command, answer, by, .. }) = request else {
                panic!()
            };
            assert_eq!((command, by), (expected.clone(), None));
            answer.give(Ok(()));
        };
        let (text, is_error) = answered(&world, tool, parent(), done).await;
        assert!(!is_error && text.contains(words), "{text}");
    }
    let refused = |request: WebRequest| {
        let WebRequest::Command(CommandRequest { answer, .. }) = request else { panic!() };
        let (reason, message) = ("Forbidden".to_owned(), format!("it quotes {MARKED}"));
        answer.give(Err(CommandError::Refused { code: 403, reason, message }));
    };
    let (text, is_error) = answered(&world, "pause", parent(), refused).await;
    assert!(is_error && text.contains("it quotes (redacted)"), "{text}");
}

#[actix_web::test]
async fn the_activity_is_shown_the_newest_first_and_can_be_selected() {
    let world = World::running().with_parent();
    let (operator, key) =
        (OperatorName::new("echo-server").unwrap(), ObjectKey::namespaced("ns", "a"));
    let pause = Pause::begun(SystemTime::now(), Some("ann"), None, Some("the volume is moved"));
    world.state.board.record_pause((&operator, &key), Some(&pause), Some("ann"));
    world.state.board.record_approval((&operator, &key), Some("bob"));
    let all = told(&world.state, "activity", json!({})).await;
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines[0], "3 entries, newest first.", "{all}");
    let allowed =
        "0 s ago, echo-server: Deletions of `ns/a` that are held were allowed by \"bob\".";
    let paused = "0 s ago, echo-server: `ns/a` was paused by \"ann\": the volume is moved.";
    assert_eq!(lines[1..3], [allowed, paused]);
    for (query, expected) in [
        (json!({"kind": "paused"}), "1 entry,"),
        (json!({"text": "VOLUME"}), "1 entry,"),
        (json!({"operator": "echo-server", "namespace": "ns"}), "2 entries,"),
        (json!({"since": "1h", "kind": "deleted"}), "0 entries,"),
    ] {
        let text = told(&world.state, "activity", query.clone()).await;
        assert!(text.starts_with(expected), "{query}: {text}");
    }
    for number in 0..200 {
        let key = ObjectKey::namespaced("ns", &format!("p{number}"));
        let (kind, by) = (number % 2 == 0, format!("user-{number}"));
        world.state.board.record_pause((&operator, &key), kind.then_some(&pause), Some(&by));
        world.state.board.record_approval((&operator, &key), Some(&by));
    }
    let many = told(&world.state, "activity", json!({})).await;
    assert!(many.contains("more are left out: ask for an `operator`"), "{many}");
    for (argument, words) in [
        (json!({"kind": "odd"}), "`odd` is not one of"),
        (json!({"since": "yesterday"}), "is neither a time"),
        (json!({"namespace": "a/b"}), "not the name of an object"),
    ] {
        let (why, is_error) = call(&world.state, "activity", argument).await;
        assert!(is_error && why.contains(words), "{why}");
    }
}

#[actix_web::test]
async fn a_pause_has_the_reason_and_the_end_that_are_given() {
    let world = World::running().with_parent();
    let reason = "the DBA moves the volume ".repeat(20);
    let more = json!({"reason": reason, "for": "1d 12h"});
    let done = |request: WebRequest| {
        let WebRequest::Command(CommandRequest { command, answer, .. }) = request else { panic!() };
        let Command::PauseParent(_, asked) = command else { panic!("{command:?}") };
        let end = Some(PauseEnd::After(Duration::from_hours(36)));
        assert_eq!((asked.reason, asked.end), (Some(reason.clone()), end));
        answer.give(Ok(()));
    };
    let (text, is_error) = answered(&world, "pause", with(&parent(), &more), done).await;
    assert!(!is_error, "{text}");
    for (more, words) in [
        (json!({"for": "soon"}), "for: `soon`"),
        (json!({"reason": "x".repeat(513)}), "longer than 512 characters"),
        (json!({"reason": "x".repeat(3000)}), "longer than 2048 bytes"),
    ] {
        let (why, is_error) = call(&world.state, "pause", with(&parent(), &more)).await;
        assert!(is_error && why.contains(words), "{why}");
    }
}

#[actix_web::test]
async fn wrong_calls_are_refused_with_what_is_wrong() {
    let world = World::running().with_parent();
    let long = "x".repeat(300);
    for (tool, arguments, words) in [
        ("nonsense", json!({}), "there is no such tool: the tools are operators, attention"),
        ("explain", json!({}), "operator: it is missing"),
        ("explain", json!({"operator": "echo-server"}), "name: it is missing"),
        ("explain", json!({"operator": 7, "name": "a"}), "operator: it must be a text"),
        ("explain", json!({"operator": "", "name": "a"}), "operator: it is empty"),
        ("explain", json!({"operator": long, "name": "a"}), "longer than 253 bytes"),
        ("explain", with(&parent(), &json!({"odd": 1})), "those of the tool are operator, name"),
        ("operators", json!({"odd": 1}), "those of the tool are none"),
        ("children", with(&parent(), &json!({"problems": "yes"})), "must be true or false"),
        ("explain", json!({"operator": "nobody", "name": "ns/a"}), "`nobody` does not exist"),
        ("parents", json!({"operator": "nobody"}), "`nobody` does not exist"),
        ("attention", json!({"operator": "nobody"}), "`nobody` does not exist"),
        ("explain", json!({"operator": "echo-server", "name": "b"}), "namespaced"),
        ("explain", json!({"operator": "echo-server", "name": "ns/b"}), "no parent `ns/b`"),
        ("pause", json!({"operator": "spaces", "name": "ns/b"}), "have no namespace"),
    ] {
        let (why, is_error) = call(&world.state, tool, arguments).await;
        assert!(is_error && why.contains(words), "{tool}: {why}");
    }
    for odd in ["..", "a/b/c", "a%2Fb", "a b", "a?x", "a#", "*", "a\\b", "a\n"] {
        for tool in ["explain", "pause"] {
            let arguments = json!({"operator": odd, "namespace": "ns", "name": "a"});
            let (why, is_error) = call(&world.state, tool, arguments).await;
            assert!(is_error && why.contains("it is not the name of an object"), "{odd}: {why}");
            let arguments = json!({"operator": "echo-server", "namespace": "ns", "name": odd});
            let (why, is_error) = call(&world.state, tool, arguments).await;
            assert!(is_error && why.contains("it is not the name of an object"), "{odd}: {why}");
        }
    }
}

#[actix_web::test]
async fn no_tool_shows_a_secret_value() {
    let world = World::running().with_parent().with_undecodable_pods(1).with_namespaces(1);
    for (tool, arguments) in [
        ("operators", json!({})),
        ("attention", json!({})),
        ("parents", json!({"operator": "echo-server"})),
        ("explain", parent()),
        ("children", parent()),
        ("diff", parent()),
        ("events", parent()),
        ("activity", json!({})),
        ("sync", parent()),
    ] {
        let asked = message("tools/call", &json!({"name": tool, "arguments": arguments}));
        let answer = send(&world.state, &asked).await;
        let _ = called(&answer);
        for secret in [SENTINEL, MARKED] {
            assert!(!answer.body.contains(secret), "{tool}: {}", answer.body);
        }
    }
}
