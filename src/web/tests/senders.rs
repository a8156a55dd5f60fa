//! The origin of commands, and the limits of time and size, over real sockets.

use std::{net::SocketAddr, time::Duration};

use actix_web::{
    body::to_bytes,
    dev::ServerHandle,
    http::{Method, StatusCode, header},
    test::{TestRequest, call_service, init_service},
    web,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{ask, command, is_status, open_gate, request, world::World};
use crate::web::{
    Protection, WebState, listen,
    request_rules::Limits,
    server::{app, limited},
};

const FORM: &str = "application/x-www-form-urlencoded";

#[actix_web::test]
async fn a_command_from_another_site_is_refused() {
    let world = World::running().with_parent();
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        for (name, value) in [
            ("Origin", "http://evil.example"),
            ("Origin", "http://localhost:8081"),
            ("Origin", "null"),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
        ] {
            let request = command(method.clone(), "/api/v1/operators").insert_header((name, value));
            let answer = ask(&world.state, request).await;
            let message = is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
            assert!(message.contains(&format!("`{name}` must be")), "{message}");
        }
    }
}

#[actix_web::test]
async fn a_page_of_another_site_cannot_call_a_handler_or_occupy_the_server_by_a_read() {
    let world = World::running().with_parent();
    let (api, ui) =
        ("/api/v1/operators/echo-server/parents/ns/a", "/ui/operators/echo-server/parents/ns/a");
    for path in [
        format!("{api}?diff=1"),
        format!("{api}?diff"),
        format!("{api}?diff=0"),
        format!("{api}?events&%64iff=true"),
        format!("{ui}?diff=1"),
        format!("{ui}?events=1"),
        "/api/v1/plans".to_owned(),
        "/api/v1/plans?output=yaml".to_owned(),
        "/api/v1/events".to_owned(),
    ] {
        for method in [Method::GET, Method::HEAD] {
            for site in ["cross-site", "same-site"] {
                let from_there =
                    request(method.clone(), &path).insert_header(("Sec-Fetch-Site", site));
                assert_eq!(ask(&world.state, from_there).await.code, 403, "{method} {path}");
            }
            let origin = request(method, &path).insert_header(("Origin", "http://evil.example"));
            assert_eq!(ask(&world.state, origin).await.code, 403, "{path}");
        }
    }
    // A link from another site to a page that only shows.
    for path in [api, ui, "/", "/metrics"] {
        let followed = request(Method::GET, path).insert_header(("Sec-Fetch-Site", "cross-site"));
        assert_eq!(ask(&world.state, followed).await.code, 200, "{path}");
    }
}

#[actix_web::test]
async fn a_switch_is_on_off_or_refused() {
    let world = World::running().with_parent();
    let path = "/api/v1/operators/echo-server/parents/ns/a";
    for (query, code, is_read) in [
        ("", 200, false),
        ("?events=0", 200, false),
        ("?events=false&diff=false", 200, false),
        ("?events", 200, true),
        ("?events=1", 200, true),
        ("?events=true", 200, true),
        ("?events=maybe", 400, false),
        ("?diff=yes", 400, false),
        ("?diff=TRUE", 400, false),
    ] {
        let answer = ask(&world.state, request(Method::GET, &format!("{path}{query}"))).await;
        assert_eq!(answer.code, code, "{query}: {}", answer.body);
        assert_eq!(answer.json().get("events").is_some(), is_read, "{query}: {}", answer.body);
    }
    let refused = ask(&world.state, request(Method::GET, &format!("{path}?diff=maybe"))).await;
    let message = is_status(&refused, StatusCode::BAD_REQUEST, "BadRequest");
    assert!(message.contains("`maybe` is neither `true` nor `false`"), "{message}");
}

/// Sends a request to an endpoint with the program's own command.
async fn ask_own(request: TestRequest) -> (u16, String) {
    let app = app(open_gate(), World::running().state);
    let app = app.route("/own", web::post().to(async || "done"));
    let response = call_service(&init_service(app).await, request.to_request()).await;
    let code = response.status().as_u16();
    let Ok(body) = to_bytes(response.into_body()).await else { panic!("the body is incomplete") };
    (code, String::from_utf8(body.to_vec()).unwrap())
}

#[actix_web::test]
async fn a_command_that_a_form_could_send_is_refused_with_the_required_type() {
    let plain = request(Method::POST, "/own");
    let form = request(Method::POST, "/own");
    let form = form.insert_header((header::CONTENT_TYPE, FORM)).set_payload("a=b");
    for request in [plain, form] {
        let (code, body) = ask_own(request).await;
        assert_eq!(code, 415, "{body}");
        assert!(body.contains("Content-Type: application/json"), "{body}");
    }
    assert_eq!(ask_own(command(Method::POST, "/own")).await, (200, "done".to_owned()));
    // Unknown paths and methods have their own refusal.
    assert_eq!(ask_own(request(Method::POST, "/nonsense")).await.0, 404);
    assert_eq!(ask_own(request(Method::POST, "/metrics")).await.0, 405);
}

#[actix_web::test]
async fn a_command_of_the_same_origin_passes() {
    let own = command(Method::POST, "/own")
        .insert_header(("Origin", "http://localhost:8080"))
        .insert_header(("Sec-Fetch-Site", "same-origin"));
    assert_eq!(ask_own(own).await.0, 200);
}

const SHORT: Duration = Duration::from_millis(100);

/// A server on its own port.
fn serve(limits: Limits) -> (SocketAddr, ServerHandle) {
    serve_all(World::running().state, limits)
}

pub(super) fn serve_all(state: WebState, limits: Limits) -> (SocketAddr, ServerHandle) {
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = limited(listener, state, Protection::default(), limits).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    (address, handle)
}

/// Everything that the server sends until it closes the connection.
pub(super) async fn until_closed(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A server that closes with unread data may reset the connection.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

pub(super) async fn talk(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

fn head(address: SocketAddr, more: &str) -> String {
    format!(
        "POST /api/v1/operators HTTP/1.1\r\nHost: {address}\r\n\
         Content-Type: application/json\r\n{more}\r\n"
    )
}

#[actix_web::test]
async fn a_body_that_is_too_slow_ends_the_connection() {
    let (address, handle) = serve(Limits { body: SHORT, ..Limits::default() });
    for framing in ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut stream = talk(address, &format!("{}2\r\n{{}}\r\n", head(address, framing))).await;
        let answer = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{framing}: {answer}");
        assert!(answer.contains(r#""reason":"Timeout""#), "{answer}");
    }
    // The same for an unexpected body.
    let get = format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nContent-Length: 5\r\n\r\n");
    assert!(until_closed(&mut talk(address, &get).await).await.starts_with("HTTP/1.1 408"));
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_body_without_a_length_has_the_same_limit() {
    let (address, handle) = serve(Limits::default());
    let mut stream = talk(address, &head(address, "Transfer-Encoding: chunked\r\n")).await;
    let chunk = format!("{:x}\r\n{}\r\n", 8 << 10, " ".repeat(8 << 10));
    for _ in 0..9 {
        // The server may close the connection before all is sent.
        let _ = stream.write_all(chunk.as_bytes()).await;
    }
    let answer = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains(r#""reason":"RequestEntityTooLarge""#), "{answer}");
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_body_within_the_limits_reaches_the_handler() {
    let (address, handle) = serve(Limits::default());
    let framing = "Transfer-Encoding: chunked\r\nConnection: close\r\n";
    let text = format!("{}2\r\n{{}}\r\n0\r\n\r\n", head(address, framing));
    let answer = until_closed(&mut talk(address, &text).await).await;
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    handle.stop(false).await;
}

#[actix_web::test]
async fn headers_that_are_too_slow_end_the_connection() {
    let (address, handle) = serve(Limits { head: SHORT, ..Limits::default() });
    for text in ["", "GET /livez HT", "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let answer = until_closed(&mut talk(address, text).await).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{text:?}: {answer}");
    }
    handle.stop(false).await;
}
