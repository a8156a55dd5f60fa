//! Commands over HTTP and their answers.

use actix_web::{
    http::{Method, StatusCode, header},
    test::TestRequest,
};
use tokio::sync::mpsc::Receiver;

use super::{Answer, ask, is_status, request, world::World};
use crate::board::{Command, CommandError, CommandRequest, PauseEnd, PauseRequest, WebRequest};

const PARENT: &str = "/api/v1/operators/echo-server/parents/ns/a";

fn post(path: &str) -> TestRequest {
    request(Method::POST, path).insert_header((header::CONTENT_TYPE, "application/json"))
}

/// Sends a command that gets this result.
async fn sent(
    world: &World,
    path: &str,
    result: Result<(), CommandError>,
) -> (Answer, CommandRequest) {
    let mut commands: Receiver<WebRequest> = world.state.board.take_commands();
    let executing = async {
        let Some(WebRequest::Command(mut command)) = commands.recv().await else { panic!() };
        let answer = std::mem::replace(&mut command.answer, crate::board::Responder::nobody());
        answer.give(result);
        command
    };
    tokio::join!(ask(&world.state, post(path)), executing)
}

#[actix_web::test]
async fn each_path_sends_its_command_and_returns_success() {
    let world = World::running().with_parent().with_namespaces(1);
    let key = || "ns/a".parse().unwrap();
    let of_cluster = || "n00000".parse().unwrap();
    let spaces = "/api/v1/operators/spaces";
    for (path, code, expected) in [
        (format!("{PARENT}/sync"), 202, Command::Sync(key())),
        (format!("{PARENT}/pause"), 200, Command::PauseParent(key(), PauseRequest::default())),
        (format!("{PARENT}/resume"), 200, Command::ResumeParent(key())),
        (format!("{spaces}/parents/n00000/sync"), 202, Command::Sync(of_cluster())),
        (
            format!("{spaces}/parents/n00000/pause"),
            200,
            Command::PauseParent(of_cluster(), PauseRequest::default()),
        ),
        (format!("{spaces}/pause"), 200, Command::PauseOperator(PauseRequest::default())),
        (format!("{spaces}/resume"), 200, Command::ResumeOperator),
    ] {
        let (answer, command) = sent(&world, &path, Ok(())).await;
        assert_eq!((answer.code, &command.command), (code, &expected), "{path}: {}", answer.body);
        assert_eq!(answer.json()["status"], "Success");
        assert!(path.contains(&command.operator));
    }
}

#[actix_web::test]
async fn errors_of_commands_are_returned_with_their_code_and_reason() {
    let world = World::running().with_parent();
    let refused = |code, reason: &str| {
        let (reason, message) = (reason.to_owned(), "no".to_owned());
        CommandError::Refused { code, reason, message }
    };
    let gone = CommandError::NoParent { operator: "o".to_owned(), key: "ns/a".parse().unwrap() };
    for (error, code, reason) in [
        (refused(403, "Forbidden"), StatusCode::FORBIDDEN, "Forbidden"),
        (refused(409, "Conflict"), StatusCode::CONFLICT, "Conflict"),
        (gone, StatusCode::NOT_FOUND, "NotFound"),
        (CommandError::Busy, StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
        (CommandError::Unanswered("x".to_owned()), StatusCode::GATEWAY_TIMEOUT, "Timeout"),
    ] {
        let (answer, _) = sent(&world, &format!("{PARENT}/pause"), Err(error)).await;
        is_status(&answer, code, reason);
    }
    world.state.board.begin_stopping();
    let answer = ask(&world.state, post(&format!("{PARENT}/pause"))).await;
    is_status(&answer, StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");
}

#[actix_web::test]
async fn a_command_must_be_a_post_of_json_from_the_same_origin() {
    let world = World::running().with_parent().with_namespaces(1);
    for path in [
        format!("{PARENT}/sync"),
        format!("{PARENT}/pause"),
        format!("{PARENT}/resume"),
        "/api/v1/operators/spaces/pause".to_owned(),
        "/api/v1/operators/spaces/resume".to_owned(),
    ] {
        let answer = ask(&world.state, request(Method::GET, &path)).await;
        is_status(&answer, StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
        assert_eq!(answer.header(header::ALLOW), "POST", "{path}");
        // Requests that a form of another site can send.
        let form = || request(Method::POST, &path);
        let (code, reason) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType");
        is_status(&ask(&world.state, form()).await, code, reason);
        let text = form().insert_header((header::CONTENT_TYPE, "text/plain"));
        is_status(&ask(&world.state, text).await, code, reason);
        let other = post(&path).insert_header((header::ORIGIN, "https://evil.example"));
        is_status(&ask(&world.state, other).await, StatusCode::FORBIDDEN, "Forbidden");
        // A request of our own page is accepted, but nobody receives the command.
        let own = post(&path).insert_header((header::ORIGIN, "http://localhost:8080"));
        is_status(
            &ask(&world.state, own).await,
            StatusCode::SERVICE_UNAVAILABLE,
            "ServiceUnavailable",
        );
    }
    // The last part may be a command or the name of a parent, depending on its type.
    for (path, code, reason) in [
        ("/api/v1/operators/spaces/parents/n00000/nonsense", 405, "MethodNotAllowed"),
        (PARENT, 405, "MethodNotAllowed"),
        ("/api/v1/operators/echo-server/parents/a/sync", 400, "BadRequest"),
        ("/api/v1/operators/spaces/parents/ns/n00000/sync", 400, "BadRequest"),
    ] {
        let answer = ask(&world.state, post(path)).await;
        is_status(&answer, StatusCode::from_u16(code).unwrap(), reason);
    }
    let path = "/api/v1/operators/echo-server/parents/ns/sync";
    let answer = ask(&world.state, request(Method::GET, path)).await;
    is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
}

#[actix_web::test]
async fn a_pause_says_why_and_until_when() {
    let world = World::running().with_parent();
    let body = r#"{"reason": "the DBA migrates the volume", "for": "2h"}"#;
    for path in [format!("{PARENT}/pause"), "/api/v1/operators/echo-server/pause".to_owned()] {
        let mut commands: Receiver<WebRequest> = world.state.board.take_commands();
        let executing = async {
            let Some(WebRequest::Command(command)) = commands.recv().await else { panic!() };
            command.answer.give(Ok(()));
            command.command
        };
        let (answer, command) =
            tokio::join!(ask(&world.state, post(&path).set_payload(body)), executing);
        assert_eq!(answer.code, 200, "{}", answer.body);
        let (Command::PauseParent(_, asked) | Command::PauseOperator(asked)) = command else {
            panic!("{command:?}")
        };
        assert_eq!(asked.reason.as_deref(), Some("the DBA migrates the volume"));
        let two_hours = std::time::Duration::from_hours(2);
        assert_eq!(asked.end, Some(PauseEnd::After(two_hours)));
    }
    let too_long = format!(r#"{{"reason": "{}"}}"#, "x".repeat(5000));
    let (bad, large) = (StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE);
    for (body, code, reason) in [
        (r#"{"why": "x"}"#, bad, "BadRequest"),
        (r#"{"until": "soon"}"#, bad, "BadRequest"),
        (&too_long, large, "RequestEntityTooLarge"),
    ] {
        let path = format!("{PARENT}/pause");
        let answer = ask(&world.state, post(&path).set_payload(body.to_owned())).await;
        is_status(&answer, code, reason);
    }
}
