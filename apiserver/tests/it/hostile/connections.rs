//! Hostile connections: many of them, silent ones, and those that ask for much and read nothing.

use std::{io::Write, net::TcpStream, thread};

use super::{Attempt, CONFIG_MAPS, Process, process::Tls};

/// How many connections are opened at a time.
const MANY: usize = 150;

/// All attempts with connections.
pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("silent connections", |process| {
            let open: Vec<TcpStream> = (0..MANY).map(|_| process.connect()).collect();
            still_answers(process);
            drop(open);
        }),
        Attempt::new("noise instead of TLS", |process| {
            for length in [1, 100, 100_000] {
                let _ = process.connect().write_all(&vec![0xff; length]);
                let _ = process.connect().write_all(&vec![0x16; length]);
            }
        }),
        Attempt::new("plain HTTP instead of TLS", |process| {
            let _ = process.connect().write_all(b"GET / HTTP/1.1\r\n\r\n");
        }),
        Attempt::new("noise over TLS", |process| {
            drop(process.send_raw(&vec![0xff; 100_000], b""));
        }),
        Attempt::new("half requests", |process| {
            let open = opened(process, "POST", CONFIG_MAPS, "Content-Length: 3000000\r\n", MANY);
            still_answers(process);
            drop(open);
        }),
        Attempt::new("half heads", |process| {
            let open: Vec<Tls> = (0..MANY)
                .map(|_| {
                    let mut stream = process.connect_tls();
                    let _ = stream.write_all(b"GET / HTTP/1.1\r\nX-A: ");
                    stream
                })
                .collect();
            still_answers(process);
            drop(open);
        }),
        Attempt::new("large bodies that do not end", large_bodies),
        Attempt::new("bodies at one time", bodies_at_one_time),
        Attempt::new("one object in many large versions", |process| {
            for at in 0..200 {
                put_large(process, "versions", at);
            }
        }),
        Attempt::new("more objects than fit", |process| {
            for at in 0..100 {
                create_large(process, &format!("large-{at}"));
            }
        }),
        Attempt::new("lists that nobody reads", |process| {
            let all: Vec<Tls> = ACCEPTS
                .iter()
                .flat_map(|accept| opened(process, "GET", LIST, accept, 10))
                .collect();
            still_answers(process);
            drop(all);
        }),
        Attempt::new("watches that nobody reads", |process| {
            let all: Vec<Tls> = ACCEPTS
                .iter()
                .flat_map(|accept| opened(process, "GET", WATCH, accept, 40))
                .collect();
            for at in 0..10 {
                put_large(process, "watched", at);
            }
            still_answers(process);
            drop(all);
        }),
        Attempt::new("lists at one time", |process| {
            for accept in ACCEPTS {
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            let head = process.head("GET", LIST, accept);
                            drop(process.send_raw(head.as_bytes(), b""));
                        });
                    }
                });
            }
        }),
        Attempt::new("requests with long queries", |process| {
            for _ in 0..1000 {
                let target = format!("/version?{}", "x".repeat(50_000));
                drop(process.send("GET", &target, "", b""));
            }
        }),
        Attempt::new("the end of all objects", |process| {
            drop(process.send("DELETE", CONFIG_MAPS, "", b""));
        }),
    ]
}

const LIST: &str = "/api/v1/configmaps";
const WATCH: &str = "/api/v1/configmaps?watch=true";
const ACCEPTS: [&str; 4] = [
    "Accept: application/json\r\n",
    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n",
    "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io\r\n",
    "Accept: application/yaml, application/json\r\n",
];

fn still_answers(process: &Process) {
    let answer = process.send("GET", "/readyz", "", b"");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
}

/// Connections that have sent the head of a request.
fn opened(process: &Process, method: &str, target: &str, headers: &str, times: usize) -> Vec<Tls> {
    let open = |_| {
        let mut stream = process.connect_tls();
        let _ = stream.write_all(process.head(method, target, headers).as_bytes());
        let _ = stream.flush();
        stream
    };
    (0..times).map(open).collect()
}

fn large_bodies(process: &Process) {
    let mut open = opened(process, "POST", CONFIG_MAPS, "Content-Length: 3000000\r\n", 60);
    let part = vec![b' '; 2_900_000];
    for stream in &mut open {
        // The server may refuse it.
        let _ = stream.write_all(&part);
    }
    drop(open);
}

fn bodies_at_one_time(process: &Process) {
    let maps = vec![r#"{"":0}"#; 80_000].join(",");
    let body = format!(r#"{{"metadata":{{"name":"much"}},"data":[{maps}]}}"#);
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                drop(process.send("POST", CONFIG_MAPS, "application/json", body.as_bytes()));
            });
        }
    });
}

fn create_large(process: &Process, name: &str) {
    let text = "x".repeat(1_000_000);
    let body = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"a":"{text}"}}}}"#);
    drop(process.send("POST", CONFIG_MAPS, "application/json", body.as_bytes()));
}

fn put_large(process: &Process, name: &str, at: usize) {
    if at == 0 {
        create_large(process, name);
    }
    let text = format!("{at}").repeat(300_000);
    let body = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"a":"{text}"}}}}"#);
    let target = format!("{CONFIG_MAPS}/{name}");
    drop(process.send("PUT", &target, "application/json", body.as_bytes()));
}
