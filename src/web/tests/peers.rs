//! Requests that are sent on to another process.

use bytes::Bytes;
use http::Method;
use secrecy::SecretString;

use super::{tls::pair, world::World};
use crate::web::{
    Protection, Tls, listen,
    peers::{Asked, ask},
    server,
    tls::Certificates,
};

fn asked() -> Asked {
    Asked {
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
    handle.stop(false).await;
}
