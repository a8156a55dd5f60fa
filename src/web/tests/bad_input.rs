//! Whatever a client sends to whichever endpoint, it gets a `Status` or a good answer; nothing is
//! logged as an error. It goes through the table of endpoints, so a new one is tried by being there.

use std::sync::{Arc, Mutex};

use actix_web::{
    http::{Method, StatusCode, header},
    test::{TestRequest, init_service},
};
use tracing::{Event, Level, Metadata, Subscriber, span};

use super::{
    Answer, answer_of, command, example_path, is_status, open_gate, reading, request, world::World,
};
use crate::web::{
    endpoint::{self, Endpoint, Form},
    server::app,
    table::PATHS,
};

/// Keeps the names of the errors that were logged.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<String>>>);

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.metadata().name().to_owned());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// What may stand in a path where a name is expected.
const ODD_NAMES: &[&str] = &[
    "..",
    ".",
    "%2e%2e",
    "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd",
    "a%2fb",
    "%00",
    "a%00b",
    "%ff%fe",
    "%c0%ae%c0%ae",
    "%",
    "%zz",
    "%25%32%65",
    "%F0%9F%98%80",
    "%3Cscript%3E",
    "{x}",
    "*",
    "a;b",
    "-",
    "NUL",
    "+",
];

/// What may stand in a query where something else is expected; what is wrong with every form of
/// parameter but text.
const ODD_VALUES: &[&str] = &["-1", "1.5", "many", "%00", "%ff", "99999999999999999999", "%2e%2e"];

/// Each is no selector, no token, no phase.
const BROKEN: &[(&str, &str)] = &[
    ("limit", "1&limit=2"),
    ("continue", "bnM"),
    ("continue", "eyJsaXN0IjoiIn0"),
    ("labelSelector", "a+in+("),
    ("labelSelector", "%ff"),
    ("labelSelector", "a%3D%00"),
    ("fieldSelector", "spec.nodeName%3Da"),
    ("fieldSelector", "metadata.name"),
    ("phase", "cheerful"),
    ("phase", "failing,%00"),
    ("output", "xml"),
];

fn readable() -> impl Iterator<Item = &'static Endpoint> {
    PATHS.endpoints().iter().filter(|endpoint| endpoint.method == endpoint::Method::Get)
}

/// A page says in HTML what is wrong, and does not mind words that it does not know.
fn is_for_people(endpoint: &Endpoint) -> bool {
    endpoint.answer.media_types == ["text/html"]
}

/// A good answer of the endpoint, or a `Status` of a client's mistake.
fn is_decent(endpoint: &Endpoint, answer: &Answer, asked: &str) {
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{asked}");
    if answer.header(header::CONTENT_TYPE).starts_with("text/html") {
        assert!(is_for_people(endpoint) && answer.code < 500, "{asked}: {}", answer.code);
    } else if !endpoint.answer.codes.contains(&answer.code) {
        let code = StatusCode::from_u16(answer.code).unwrap();
        assert!(code.is_client_error(), "{asked}: {code}");
        let reason = answer.json()["reason"].as_str().unwrap().to_owned();
        assert!(!is_status(answer, code, &reason).is_empty(), "{asked}");
    }
}

#[actix_web::test]
async fn odd_names_in_paths_are_not_found_or_refused() {
    let (world, errors) = (World::running().with_parent().with_namespaces(1), Errors::default());
    let _guard = tracing::subscriber::set_default(errors.clone());
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let ask = async |request: TestRequest| answer_of(&service, request.to_request()).await;
    for endpoint in readable() {
        for name in endpoint.path_names() {
            for odd in ODD_NAMES {
                let pattern = endpoint.path.replace(&format!("{{{name}}}"), odd);
                let path = example_path(&Endpoint { path: leak(pattern), ..*endpoint });
                let answer = ask(request(reading(endpoint), &path)).await;
                assert!((400..500).contains(&answer.code), "{path}: {}", answer.code);
                is_decent(endpoint, &answer, &path);
            }
        }
        for path in [
            format!("/{}", endpoint.path),
            format!("{}/", endpoint.path),
            format!("{}/../x", endpoint.path),
        ] {
            // The example names would hide what is odd about the rest.
            let path = example_path(&Endpoint { path: leak(path), ..*endpoint });
            let answer = ask(request(reading(endpoint), &path)).await;
            is_decent(endpoint, &answer, &path);
        }
    }
    assert_eq!(*errors.0.lock().unwrap(), Vec::<String>::new());
}

#[actix_web::test]
async fn odd_words_in_queries_are_refused_where_they_mean_something_and_ignored_elsewhere() {
    let (world, errors) = (World::running().with_parent().with_namespaces(1), Errors::default());
    let _guard = tracing::subscriber::set_default(errors.clone());
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let ask = async |request: TestRequest| answer_of(&service, request.to_request()).await;
    for endpoint in readable() {
        let path = example_path(endpoint);
        let plain = ask(request(reading(endpoint), &path)).await.code;
        for parameter in endpoint.query {
            for odd in ODD_VALUES {
                let asked = format!("{path}?{}={odd}", parameter.name);
                let answer = ask(request(reading(endpoint), &asked)).await;
                is_decent(endpoint, &answer, &asked);
                let is_strict = matches!(parameter.form, Form::WholeNumber | Form::OneOf(_));
                if is_strict && !is_for_people(endpoint) {
                    is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
                }
            }
        }
        for (name, broken) in BROKEN {
            let asked = format!("{path}?{name}={broken}");
            let answer = ask(request(reading(endpoint), &asked)).await;
            if is_for_people(endpoint) {
                is_decent(endpoint, &answer, &asked);
            } else if endpoint.query.iter().any(|parameter| parameter.name == *name) {
                is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
            } else {
                assert_eq!(answer.code, plain, "{asked}");
            }
        }
        for ignored in ["?nonsense=1", "?", "?&&=", "?%ff=%ff", "?a=b=c&a"] {
            let asked = format!("{path}{ignored}");
            assert_eq!(ask(request(reading(endpoint), &asked)).await.code, plain, "{asked}");
        }
    }
    assert_eq!(*errors.0.lock().unwrap(), Vec::<String>::new());
}

#[actix_web::test]
async fn a_body_where_none_is_read_changes_nothing_and_too_much_of_anything_is_refused() {
    let (world, errors) = (World::running().with_parent().with_namespaces(1), Errors::default());
    let _guard = tracing::subscriber::set_default(errors.clone());
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let ask = async |request: TestRequest| answer_of(&service, request.to_request()).await;
    for endpoint in PATHS.endpoints() {
        let path = example_path(endpoint);
        let method = match endpoint.method {
            endpoint::Method::Get => reading(endpoint),
            endpoint::Method::Post => Method::POST,
            endpoint::Method::Put => Method::PUT,
        };
        let asked = || command(method.clone(), &path);
        if endpoint.method == endpoint::Method::Get {
            let plain = ask(asked()).await.code;
            let with_body = ask(asked().set_payload("{\"a\": 1}")).await;
            assert_eq!(with_body.code, plain, "{path}");
            let long = format!("{path}?{}", "x".repeat(9 << 10));
            is_status(
                &ask(request(reading(endpoint), &long)).await,
                StatusCode::URI_TOO_LONG,
                "BadRequest",
            );
        }
        let large = asked().insert_header((header::CONTENT_LENGTH, "70000"));
        let code = StatusCode::PAYLOAD_TOO_LARGE;
        is_status(&ask(large).await, code, "RequestEntityTooLarge");
        let binary = request(method.clone(), &path).set_payload(vec![0xff, 0x00, 0xfe]);
        let binary = ask(binary).await;
        is_decent(endpoint, &binary, &path);
    }
    assert_eq!(*errors.0.lock().unwrap(), Vec::<String>::new());
}

/// An endpoint's path lives for ever.
fn leak(path: String) -> &'static str {
    Box::leak(path.into_boxed_str())
}
