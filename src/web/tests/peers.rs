//! Requests that are sent on to another process.

use bytes::Bytes;
use http::Method;
use secrecy::SecretString;

use super::{ask as ask_state, request, tls::pair, world::World};
use crate::web::{
    Protection, Tls, listen,
    peers::{Asked, SENT_ON, Wanted, ask},
    server,
    tls::Certificates,
};

fn asked() -> Asked {
    Asked {
        wanted: Wanted::Answer,
        method: Method::GET,
        path_and_query: "/livez".to_owned(),
        accept: None,
        content_type: None,
        token: Some(SecretString::from("a-token")),
        body: Bytes::new(),
    }
}

fn certificates((certificate, key): (String, String)) -> Certificates {
    Tls::from_pem(certificate, key).load().unwrap()
}

/// Whoever may write Leases may name any address there.
#[actix_web::test]
async fn a_token_is_sent_on_to_a_process_with_the_same_certificate_only() {
    let both = pair();
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let protection =
        Protection { certificates: Some(certificates(both.clone())), ..Protection::default() };
    let server = server(listener, World::running().state, protection).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    let (secure, clear) = (format!("https://{address}"), format!("http://{address}"));
    let answer = ask(&secure, asked(), Some(certificates(both))).await.unwrap();
    assert_eq!((answer.status.as_u16(), &*answer.body), (200, &b"ok"[..]));
    for (url, own, why) in [
        (&secure, Some(certificates(pair())), "the same certificate"),
        (&secure, None, "the same certificate"),
        (&clear, Some(certificates(pair())), "over TLS only"),
    ] {
        let Err(error) = ask(url, asked(), own).await else { panic!("{url} got the token") };
        assert!(error.to_string().contains(why), "{error}");
    }
    let own = Some(certificates(pair()));
    let Err(error) = ask(&clear, Asked { token: None, ..asked() }, own).await else {
        panic!("whoever answers in clear text is believed")
    };
    assert!(error.to_string().contains("over TLS only"), "{error}");
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_member_that_asks_gets_the_share_of_this_process() {
    let state = World::running().with_parent().state;
    let asked = async |path: &str, sent_on: &'static str| {
        let request = request(actix_web::http::Method::GET, path);
        let answer = ask_state(&state, request.insert_header((SENT_ON, sent_on))).await;
        assert_eq!(answer.code, 200, "{path}: {}", answer.body);
        answer
    };
    for path in ["/api/v1/operators/echo-server/parents", "/api/v1/search", "/ui/search"] {
        let share = asked(path, Wanted::Share.name()).await.json();
        assert!(share["items"][0]["spot"]["key"].is_string(), "{path}: {share}");
        assert!(share["total"].is_u64(), "{path}: {share}");
    }
    let census = asked("/api/v1/operators", Wanted::Share.name()).await.json();
    assert!(census["echo-server"]["parents"].is_object(), "{census}");
    for path in ["/", "/ui/operators/echo-server", "/ui/operators/echo-server/namespaces/ns"] {
        assert!(asked(path, Wanted::Share.name()).await.json().is_object(), "{path}");
    }
    // A request that was sent on is answered as any other.
    let list = asked("/api/v1/operators", Wanted::Answer.name()).await.json();
    assert!(list["items"][0]["name"].is_string(), "{list}");
}
