//! Held deletions that a user allows.

use actix_web::http::{Method, StatusCode};

use super::{ask, command, is_status, pages::page, world::World};
use crate::{
    board::{Command, WebRequest},
    history::{Action, Outcome, Problem, Reconcile},
    object::{ObjectKey, Uid},
    operator::OperatorName,
};

const PATH: &str = "/api/v1/operators/echo-server/parents/ns/a/allow-deletions";
const CODE: &str = r#"{"code": "25fb2388"}"#;

/// Deletions of the parent `ns/a` are held, and the annotation of this code allows them.
pub(super) fn hold(world: &World, code: &str) {
    let (operator, key) =
        (OperatorName::new("echo-server").unwrap(), ObjectKey::namespaced("ns", "a"));
    let command =
        format!("kubectl annotate echoservers a --overwrite operetta.dev/allow-deletion={code}");
    let mut reconcile =
        Reconcile::new(std::time::SystemTime::now(), std::time::Duration::ZERO, Outcome::Waiting);
    let problem = Problem::new("EchoServer ns/a holds deletions")
        .cured_by([Action::command("Allow them", command), Action::text("Correct it")]);
    reconcile.problems = [problem].into();
    world.state.board.update_parent(&operator, &key, &Uid::new("p"), |parent| {
        parent.history.record(reconcile);
        parent.approval = Some(code.into());
    });
}

#[actix_web::test]
async fn a_code_is_refused_unless_it_is_that_of_the_held_deletions() {
    let world = World::running().with_parent().with_namespaces(1);
    let send = async |path: &str, body: &'static str| {
        ask(&world.state, command(Method::POST, path).set_payload(body)).await
    };
    let answer = send(PATH, CODE).await;
    let message = is_status(&answer, StatusCode::CONFLICT, "Conflict");
    assert!(message.contains("no deletion of `ns/a` is held"), "{message}");
    hold(&world, "0ther000");
    let answer = send(PATH, CODE).await;
    let message = is_status(&answer, StatusCode::CONFLICT, "Conflict");
    assert!(message.contains("other deletions") && !message.contains("0ther000"), "{message}");
    for body in ["", "{}", "[]", r#"{"code": 1}"#, r#"{"code": "a", "force": true}"#] {
        is_status(&send(PATH, body).await, StatusCode::BAD_REQUEST, "BadRequest");
    }
    let of_cluster = "/api/v1/operators/spaces/parents/n00000/allow-deletions";
    is_status(&send(of_cluster, CODE).await, StatusCode::CONFLICT, "Conflict");
    let gone = "/api/v1/operators/echo-server/parents/ns/gone/allow-deletions";
    is_status(&send(gone, CODE).await, StatusCode::NOT_FOUND, "NotFound");
}

#[actix_web::test]
async fn the_code_of_the_held_deletions_is_sent_on() {
    let world = World::running().with_parent();
    hold(&world, "25fb2388");
    let shown = super::get(&world.state, PATH.trim_end_matches("/allow-deletions")).await;
    assert_eq!(shown.json()["approval"], "25fb2388");
    let mut commands = world.state.board.take_commands();
    let executing = async {
        let Some(WebRequest::Command(command)) = commands.recv().await else { panic!() };
        command.answer.give(Ok(()));
        command.command
    };
    let asked = command(Method::POST, PATH).set_payload(CODE);
    let (answer, command) = tokio::join!(ask(&world.state, asked), executing);
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(command, Command::AllowDeletions("ns/a".parse().unwrap(), "25fb2388".to_owned()));
}

#[actix_web::test]
async fn the_page_of_a_parent_has_the_button_beside_the_command() {
    let (world, path) = (World::running().with_parent(), "/ui/operators/echo-server/parents/ns/a");
    assert!(!page(&world, path).await.contains("allow-deletions"));
    hold(&world, "25fb2388");
    let html = page(&world, path).await;
    assert_eq!(html.matches(&format!("data-command=\"{PATH}\"")).count(), 1, "{html}");
    assert!(html.contains("name=\"code\" value=\"25fb2388\""), "{html}");
}
