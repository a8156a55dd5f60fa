//! The tools `map` and `allow-deletions` of `/mcp`.

use serde_json::{Value, json};

use super::{
    approval::hold,
    mcp::{call, told},
    world::{MARKED, SENTINEL, World, pods},
};
use crate::{
    board::{Command, Responder, WebRequest},
    object::{FieldOwner, ObjectKey},
    plan::ChildId,
};

fn of_parent(more: &Value) -> Value {
    let mut all = json!({"operator": "echo-server", "namespace": "ns", "name": "a"});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

#[actix_web::test]
async fn the_map_shows_what_is_around_a_parent_and_the_ids_to_ask_for() {
    let world = World::running().with_parent();
    let text = told(&world.state, "map", of_parent(&json!({}))).await;
    assert!(text.starts_with("2 objects around it."), "{text}");
    let parent = text.lines().find(|line| line.starts_with("EchoServer ns/a: failing")).unwrap();
    assert!(parent.ends_with("[echoservers.example.com/ns/a]"), "{text}");
    let pod = text.lines().find(|line| line.starts_with(">Pod ns/pod: ")).unwrap();
    assert!(pod.contains("[pods/ns/pod]") && pod.contains("logs: `kubectl logs"), "{text}");
    assert!(!text.contains(SENTINEL) && !text.contains(MARKED), "{text}");
    let bad = told(&world.state, "map", of_parent(&json!({"problems": true}))).await;
    assert!(bad.contains("Pod ns/pod") && !bad.contains("Secret ns/secret"), "{bad}");
    let kind = told(&world.state, "map", of_parent(&json!({"kind": "secret"}))).await;
    assert!(kind.contains("Secret ns/secret") && !kind.contains("Pod ns/pod"), "{kind}");
}

#[actix_web::test]
async fn the_map_names_who_set_which_field_of_an_object() {
    let world = World::running().with_parent();
    let mut requests = world.state.board.take_commands();
    let replying = async {
        let Some(WebRequest::Owners(mut request)) = requests.recv().await else { panic!() };
        let id = ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "pod") };
        assert_eq!(request.of, id);
        let owner = |manager: &str, subresource: &str, omitted| FieldOwner {
            manager: manager.to_owned(),
            operation: "Apply".to_owned(),
            subresource: subresource.to_owned(),
            time: "2026-01-01T12:00:00Z".to_owned(),
            fields: vec![".spec.a".to_owned(), ".spec.b".to_owned()],
            omitted,
        };
        let answer = std::mem::replace(&mut request.answer, Responder::nobody());
        answer.give(Ok(Ok(vec![owner("echo-server", "", 3), owner("kubelet", "status", 0)])));
    };
    let arguments = of_parent(&json!({"fields_of": "pods/ns/pod"}));
    let (text, ()) = tokio::join!(told(&world.state, "map", arguments), replying);
    let expected = "2 field managers have set fields of it.\n\
        echo-server, Apply at 2026-01-01T12:00:00Z: .spec.a .spec.b and 3 more\n\
        kubelet, Apply of status at 2026-01-01T12:00:00Z: .spec.a .spec.b";
    assert_eq!(text, expected);
    let (why, is_error) =
        call(&world.state, "map", of_parent(&json!({"fields_of": "pods/ns/other"}))).await;
    assert!(is_error && why.contains("no object `pods/ns/other`"), "{why}");
}

#[actix_web::test]
async fn a_map_of_hundreds_of_objects_is_short_and_says_how_to_ask() {
    let world = World::running().with_parent().with_pods(200);
    let text = told(&world.state, "map", of_parent(&json!({}))).await;
    assert!(text.starts_with("202 objects around it."), "{text}");
    assert!(text.contains("more are left out: ask for a `kind`"), "{text}");
}

#[actix_web::test]
async fn held_deletions_are_allowed_by_their_code_alone() {
    let world = World::running().with_parent();
    hold(&world, "25fb2388");
    let explained = told(&world.state, "explain", of_parent(&json!({}))).await;
    assert!(explained.contains("operetta.dev/allow-deletion=25fb2388"), "{explained}");
    let (why, is_error) =
        call(&world.state, "allow-deletions", of_parent(&json!({"code": "0ther000"}))).await;
    assert!(is_error && why.contains("other deletions"), "{why}");
    let (why, is_error) = call(&world.state, "allow-deletions", of_parent(&json!({}))).await;
    assert!(is_error && why.contains("code: it is missing"), "{why}");
    let mut commands = world.state.board.take_commands();
    let executing = async {
        let Some(WebRequest::Command(command)) = commands.recv().await else { panic!() };
        command.answer.give(Ok(()));
        command.command
    };
    let allowing = told(&world.state, "allow-deletions", of_parent(&json!({"code": "25fb2388"})));
    let (_, command) = tokio::join!(allowing, executing);
    assert_eq!(command, Command::AllowDeletions("ns/a".parse().unwrap(), "25fb2388".to_owned()));
}
