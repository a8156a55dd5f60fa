//! What users send as a proof of who they are is nowhere to be seen, whether it is right or wrong.

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    logged::{leaked, leaks, watch_logs},
    started::http,
    world::World,
};

const CREDENTIAL: &str = "s3ntinel-of-a-user";

/// A form of the login page, as its own script sends it.
fn login(body: &str, address: impl std::fmt::Display) -> (String, String) {
    let headers = format!(
        "Origin: http://{address}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    ("POST /ui/login".to_owned(), headers)
}

#[operetta_harness::test]
async fn no_credential_that_a_user_sends_is_shown() {
    watch_logs();
    let world = World::new().await;
    let operators = world
        .start(|builder| {
            operators::register_all(builder, operators::all())
                .auth(operetta::web::Auth::delegated())
        })
        .await;
    let address = operators.running().web().unwrap();
    let basic = BASE64_STANDARD.encode(format!("{CREDENTIAL}:{CREDENTIAL}"));
    let get = |path: &str, headers: String| (format!("GET {path}"), headers);
    for (line, headers) in [
        get("/", format!("Authorization: Bearer {CREDENTIAL}\r\n")),
        get("/metrics", format!("Authorization: Basic {basic}\r\n")),
        get("/api/v1/operators", format!("Cookie: operetta={CREDENTIAL}\r\n")),
        get(&format!("/api/v1/operators?access_token={CREDENTIAL}"), String::new()),
        get(&format!("/ui/cache?token={CREDENTIAL}"), "Accept: application/json\r\n".to_owned()),
        get("/readyz?verbose", format!("Authorization: Bearer {CREDENTIAL}\r\n")),
        login(&format!("token={CREDENTIAL}&next=/"), address),
        login(&format!("password={CREDENTIAL}&next=/ui"), address),
        (
            "POST /api/v1/operators/echo-server/pause".to_owned(),
            format!(
                "Authorization: Bearer {CREDENTIAL}\r\nContent-Type: application/json\r\nContent-Length: 0\r\n"
            ),
        ),
    ] {
        let (code, answer) = http(address, &line, &headers).await;
        assert!(!leaks(&answer), "{line}: {code} {answer}");
    }
    operators.stop().await;
    let leaked = leaked();
    assert!(leaked.is_empty(), "{leaked:#?}");
}
