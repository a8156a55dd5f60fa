//! Invalid input to every endpoint of the table is answered with a `Status` or a successful answer,
//! and not logged as an error.

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

/// Unusual names in paths.
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

/// Values in queries that are invalid for every form of parameter except text.
const ODD_VALUES: &[&str] = &["-1", "1.5", "many", "%00", "%ff", "99999999999999999999", "%2e%2e"];

/// Invalid selectors, tokens and phases.
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
    PATHS.endpoints().filter(|endpoint| endpoint.method == endpoint::Method::Get)
}

/// A page shows errors as HTML and ignores unknown parameters.
fn is_page(endpoint: &Endpoint) -> bool {
    endpoint.answer.media_types == ["text/html"]
}

/// A successful answer of the endpoint, or a `Status` of a client error.
fn is_valid(endpoint: &Endpoint, answer: &Answer, asked: &str) {
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{asked}");
    if answer.header(header::CONTENT_TYPE).starts_with("text/html") {
        assert!(is_page(endpoint) && answer.code < 500, "{asked}: {}", answer.code);
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
                is_valid(endpoint, &answer, &path);
            }
        }
        for path in [
            format!("/{}", endpoint.path),
            format!("{}/", endpoint.path),
            format!("{}/../x", endpoint.path),
        ] {
            // Valid names, so that the rest of the path is tested.
            let path = example_path(&Endpoint { path: leak(path), ..*endpoint });
            let answer = ask(request(reading(endpoint), &path)).await;
            is_valid(endpoint, &answer, &path);
        }
    }
    assert_eq!(*errors.0.lock().unwrap(), Vec::<String>::new());
}

#[actix_web::test]
async fn odd_values_are_refused_for_known_parameters_and_ignored_elsewhere() {
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
                is_valid(endpoint, &answer, &asked);
                let is_strict = matches!(parameter.form, Form::WholeNumber | Form::OneOf(_));
                if is_strict && !is_page(endpoint) {
                    is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
                }
            }
        }
        for (name, broken) in BROKEN {
            let asked = format!("{path}?{name}={broken}");
            let answer = ask(request(reading(endpoint), &asked)).await;
            if is_page(endpoint) {
                is_valid(endpoint, &answer, &asked);
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
async fn an_unexpected_body_is_ignored_and_oversized_input_is_refused() {
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
        is_valid(endpoint, &binary, &path);
    }
    assert_eq!(*errors.0.lock().unwrap(), Vec::<String>::new());
}

/// The path of an endpoint is static.
fn leak(path: String) -> &'static str {
    Box::leak(path.into_boxed_str())
}
