//! Hostile paths, queries and headers.

use super::{Attempt, CONFIG_MAPS};

type Make = fn() -> String;

/// Targets of a GET.
const TARGETS: &[(&str, Make)] = &[
    ("an escaped parent", || format!("{CONFIG_MAPS}/..%2f..%2fsecrets")),
    ("dots", || format!("{CONFIG_MAPS}/%2e%2e")),
    ("a parent", || format!("{CONFIG_MAPS}/../../../../../etc/passwd")),
    ("empty segments", || format!("/api/v1{}namespaces", "/".repeat(5_000))),
    ("many segments", || "/a".repeat(10_000)),
    ("a long name", || format!("{CONFIG_MAPS}/{}", "x".repeat(30_000))),
    ("a zero", || format!("{CONFIG_MAPS}/%00")),
    ("no UTF-8", || format!("{CONFIG_MAPS}/%ff%fe")),
    ("a broken escape", || format!("{CONFIG_MAPS}/%zz")),
    ("a line break", || format!("{CONFIG_MAPS}/a%0d%0aX-Header:%20b")),
    ("a percent sign", || format!("{CONFIG_MAPS}/%2525")),
    ("a star", || "*".to_owned()),
    ("another host", || "http://example.com/api".to_owned()),
    ("no slash", || "api/v1".to_owned()),
    ("a long query", || format!("{CONFIG_MAPS}?a={}", "x".repeat(60_000))),
    ("many parameters", || format!("{CONFIG_MAPS}?{}", "a=b&".repeat(10_000))),
    ("many terms", || format!("{CONFIG_MAPS}?labelSelector={}", terms("a", ','))),
    ("many values", || format!("{CONFIG_MAPS}?labelSelector=a+in+({})", terms("v", ','))),
    ("parentheses", || format!("{CONFIG_MAPS}?labelSelector={}", "(".repeat(30_000))),
    ("exclamation marks", || format!("{CONFIG_MAPS}?labelSelector={}", "!".repeat(30_000))),
    ("commas", || format!("{CONFIG_MAPS}?labelSelector={}", ",".repeat(30_000))),
    ("fields", || format!("{CONFIG_MAPS}?fieldSelector={}", terms("metadata.name%3Da", ','))),
    ("escapes of fields", || {
        format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3D{}", "%5C".repeat(9_000))
    }),
    ("a long token", || format!("{CONFIG_MAPS}?limit=1&continue={}", "A".repeat(30_000))),
    ("a broken token", || format!("{CONFIG_MAPS}?limit=1&continue=%00%ff")),
    ("a huge limit", || format!("{CONFIG_MAPS}?limit=9223372036854775807")),
    ("a negative limit", || format!("{CONFIG_MAPS}?limit=-9223372036854775808")),
    ("a limit beyond numbers", || format!("{CONFIG_MAPS}?limit=99999999999999999999999")),
    ("the end of time", || {
        format!("{CONFIG_MAPS}?watch=1&resourceVersion=-1&timeoutSeconds=9223372036854775807")
    }),
    ("a version of the future", || format!("{CONFIG_MAPS}?resourceVersion=18446744073709551615")),
    ("an old version", || format!("{CONFIG_MAPS}?watch=1&resourceVersion=1&timeoutSeconds=1")),
    ("an empty discovery", || "/apis///".to_owned()),
    ("a long group", || format!("/apis/{}/v1", "g".repeat(30_000))),
    ("a document", || "/openapi/v2".to_owned()),
    ("another document", || "/openapi/v3/apis/hostile.example.com/v1".to_owned()),
];

/// More headers of a GET.
const HEADERS: &[(&str, Make)] = &[
    ("a long header", || format!("X-Long: {}\r\n", "x".repeat(60_000))),
    ("an endless header", || format!("X-Long: {}\r\n", "x".repeat(2_000_000))),
    ("many headers", || many(90)),
    ("too many headers", || many(5_000)),
    ("many media types", || format!("Accept: {}\r\n", terms("a/b;q=0.1", ','))),
    ("a long agent", || format!("User-Agent: {}\r\n", "x".repeat(30_000))),
    ("two lengths", || "Content-Length: 1\r\nContent-Length: 2\r\n".to_owned()),
    ("a negative length", || "Content-Length: -1\r\n".to_owned()),
    ("a length beyond memory", || "Content-Length: 18446744073709551615\r\n\r\n".to_owned()),
    ("a length and chunks", || {
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned()
    }),
    ("a huge chunk", || "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_owned()),
    ("no chunk", || "Transfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned()),
    ("another protocol", || "Upgrade: websocket\r\nConnection: Upgrade\r\n".to_owned()),
    ("a compressed body", || "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc".to_owned()),
    ("a folded header", || "X-A: b\r\n c\r\n".to_owned()),
    ("a broken header", || "X-A\r\n: b\r\n".to_owned()),
];

/// All attempts with paths and headers.
pub(super) fn attempts() -> Vec<Attempt> {
    let targets = TARGETS.iter().map(|(name, make)| {
        Attempt::new(format!("{name} in the target"), |process| {
            let head = process.head("GET", &make(), "");
            drop(process.send_raw(head.as_bytes(), b""));
        })
    });
    let headers = HEADERS.iter().map(|(name, make)| {
        Attempt::new(format!("{name} as header"), |process| {
            let head = process.head("GET", CONFIG_MAPS, &make());
            drop(process.send_half(head.as_bytes()));
        })
    });
    let methods = ["BREW", "TRACE", "CONNECT", "OPTIONS", "PRI", "get", "A-VERY-LONG-METHOD"];
    let methods = methods.map(|method| {
        Attempt::new(format!("the method {method}"), move |process| {
            let head = process.head(method, CONFIG_MAPS, "");
            drop(process.send_raw(head.as_bytes(), b""));
        })
    });
    targets.chain(headers).chain(methods).collect()
}

fn terms(term: &str, separator: char) -> String {
    let terms: Vec<&str> = (0..60_000 / (term.len() + 1)).map(|_| term).collect();
    terms.join(&separator.to_string())
}

fn many(headers: usize) -> String {
    (0..headers).flat_map(|at| ["X-".to_owned(), at.to_string(), ": a\r\n".to_owned()]).collect()
}
