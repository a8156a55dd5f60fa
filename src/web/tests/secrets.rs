//! No endpoint of the table shows a secret, for every object of the world and every form and flag.

use actix_web::http::header;

use super::{
    ask, reading, request,
    world::{MARKED, SENTINEL, World},
};
use crate::web::{
    endpoint::{Endpoint, Form, Method},
    table::PATHS,
};

/// The paths of the endpoint for each object.
fn paths(endpoint: &Endpoint) -> Vec<String> {
    let objects = [
        ("echoservers.example.com", "a"),
        ("pods", "pod"),
        ("secrets", "secret"),
        ("pods", "a"),
        ("namespaces", "n00000"),
    ];
    let fill = |(ty, name): (&str, &str)| {
        let operator = if name == "n00000" { "spaces" } else { "echo-server" };
        let names =
            [("{operator}", operator), ("{type}", ty), ("{namespace}", "ns"), ("{name}", name)];
        let put = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
        names.iter().fold(endpoint.path.to_owned(), put)
    };
    let mut paths: Vec<String> = objects.into_iter().map(fill).collect();
    paths.sort();
    paths.dedup();
    let queries = endpoint.query.iter().flat_map(|parameter| match parameter.form {
        Form::OneOf(values) => {
            values.iter().map(|value| format!("{}={value}", parameter.name)).collect()
        }
        _ => vec![format!("{}=1", parameter.name)],
    });
    let queries: Vec<String> = queries.collect();
    let with_queries =
        paths.iter().flat_map(|path| queries.iter().map(move |query| format!("{path}?{query}")));
    with_queries.chain(paths.iter().cloned()).collect()
}

#[actix_web::test]
async fn no_endpoint_shows_values_that_are_secret_or_marked() {
    let world = World::running().with_parent().with_namespaces(1);
    let mut answered = 0;
    for endpoint in PATHS.endpoints().filter(|endpoint| endpoint.method == Method::Get) {
        for path in paths(endpoint) {
            for accept in ["application/json", "text/html", "application/yaml"] {
                let request = request(reading(endpoint), &path);
                let request = request.insert_header((header::ACCEPT, accept));
                let answer = ask(&world.state, request).await;
                for sentinel in [SENTINEL, MARKED] {
                    assert!(!answer.body.contains(sentinel), "{path} {accept}: {}", answer.body);
                    let headers = format!("{:?}", answer.headers);
                    assert!(!headers.contains(sentinel), "{path}: {headers}");
                }
                answered += usize::from(answer.code == 200);
            }
        }
    }
    assert!(answered > PATHS.endpoints().len(), "only {answered} answers were checked");
}
