//! An endpoint behind a proxy that terminates TLS.

use actix_web::dev::ServerHandle;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{reviewer::Reviewer, world::World};
use crate::web::{Protection, TlsProxy, listen, server};

struct Served {
    address: String,
    handle: ServerHandle,
}

impl Served {
    fn start(proxy: Option<&str>) -> Self {
        let listener = listen("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (access, proxy) = (Reviewer::default().rules().access, proxy.map(str::parse));
        let proxy: Option<TlsProxy> = proxy.transpose().unwrap();
        let protection = Protection { access, proxy, ..Protection::default() };
        let server = server(listener, World::running().state, protection).unwrap();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self { address, handle }
    }

    /// The answer to a login form of this origin for this host.
    async fn log_in(&self, host: &str, origin: &str) -> String {
        let (form, kind) = ("token=token-of-ann&next=/", "application/x-www-form-urlencoded");
        let request = format!(
            "POST /ui/login HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: {kind}\r\n\
             X-Forwarded-Proto: https\r\nX-Forwarded-Host: ops.example\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{form}",
            form.len()
        );
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

#[actix_web::test]
async fn behind_a_proxy_the_cookie_is_secure() {
    let served = Served::start(Some("ops.example"));
    let answer = served.log_in("ops.example", "https://ops.example").await;
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    let cookie = answer.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(cookie.starts_with("set-cookie: __Host-operetta="), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    for (host, origin) in [
        ("evil.example", "https://evil.example"),
        ("ops.example", "http://ops.example"),
        ("ops.example", "https://evil.example"),
    ] {
        let answer = served.log_in(host, origin).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{host} from {origin}: {answer}");
    }
    served.handle.stop(false).await;
}

#[actix_web::test]
async fn forwarded_headers_are_not_trusted() {
    let served = Served::start(None);
    let answer = served.log_in("ops.example", "https://ops.example").await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let here = format!("http://{}", served.address);
    let answer = served.log_in(&served.address, &here).await;
    assert!(answer.starts_with("HTTP/1.1 303") && !answer.contains("Secure"), "{answer}");
    served.handle.stop(false).await;
}
