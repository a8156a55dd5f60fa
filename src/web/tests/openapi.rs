//! The `OpenAPI` document is valid, and answers fit it.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::{Value, json};

use super::{
    access::with_token, ask_through, get, is_status, probe, request, reviewer::Reviewer,
    world::World,
};
use crate::web::{
    endpoint::{AccessRule, Endpoint, FORM, JSON, Method},
    openapi::{Security, document},
    origin::Protocol,
    request_rules::RequestRules,
    table::PATHS,
};

/// Where a schema is said to be. Nothing is fetched.
const ADDRESS: &str = "https://operetta.test/schema.json";

fn operation<'a>(document: &'a Value, endpoint: &Endpoint) -> &'a Value {
    &document["paths"][endpoint.path][endpoint.method.operation()]
}

/// Every value under this name, however deep.
fn all<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(name));
            fields.values().for_each(|field| all(field, name, found));
        }
        Value::Array(items) => items.iter().for_each(|item| all(item, name, found)),
        _ => {}
    }
}

/// Forbids fields that a schema does not declare.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let is_object = fields.get("properties").is_some_and(Value::is_object);
            if is_object && !fields.contains_key("additionalProperties") {
                fields.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn check(components: &Value, schema: &Value, answer: &Value, what: &str) {
    let mut root = schema.clone();
    root["components"] = components.clone();
    let (schemas, index) = compiled(root);
    let valid = schemas.validate(answer, index);
    assert!(valid.is_ok(), "{what}: {:#}\n{answer:#}", valid.unwrap_err());
}

/// The schema, which is valid itself.
fn compiled(schema: Value) -> (Schemas, SchemaIndex) {
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.set_default_draft(Draft::V2020_12);
    compiler.add_resource(ADDRESS, schema).unwrap();
    let index = compiler.compile(ADDRESS, &mut schemas).unwrap();
    (schemas, index)
}

#[test]
fn the_document_has_exactly_the_endpoints_with_their_parameters() {
    let document = document(Security::None, &PATHS);
    let operations: usize =
        document["paths"].as_object().unwrap().values().map(|p| p.as_object().unwrap().len()).sum();
    assert_eq!(operations, PATHS.endpoints().len());
    let mut ids = BTreeSet::new();
    for endpoint in PATHS.endpoints() {
        let operation = operation(&document, endpoint);
        assert_eq!(operation["summary"], endpoint.summary, "{}", endpoint.path);
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{operation}");
        let parameters = operation["parameters"].as_array().unwrap();
        let placed = |location: &str| -> Vec<&str> {
            let here = parameters.iter().filter(|parameter| parameter["in"] == location);
            here.map(|parameter| parameter["name"].as_str().unwrap()).collect()
        };
        assert_eq!(placed("path"), endpoint.path_names().collect::<Vec<_>>());
        assert_eq!(placed("query").len(), endpoint.query.len());
        for parameter in parameters {
            assert_eq!(parameter["required"], parameter["in"] == "path", "{parameter}");
            assert!(parameter["schema"]["type"].is_string(), "{parameter}");
        }
        assert_eq!(operation["responses"]["default"]["$ref"], "#/components/responses/Error");
    }
}

#[test]
fn every_reference_in_the_document_resolves_and_every_schema_compiles() {
    let document = document(Security::None, &PATHS);
    let mut references = Vec::new();
    all(&document, "$ref", &mut references);
    assert!(references.len() > 10);
    for reference in references {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
        assert!(is_name, "{name}");
        let mut root = schema.clone();
        root["components"] = document["components"].clone();
        compiled(root);
    }
}

#[test]
fn descriptions_of_fields_come_from_the_code() {
    let document = document(Security::None, &PATHS);
    let cache = &document["components"]["schemas"]["Cache"]["properties"];
    assert_eq!(cache["restarts"]["description"], "How often the watch restarted.");
    assert_eq!(cache["lastEvent"]["$ref"], "#/components/schemas/Time");
    assert!(!document.to_string().contains("\"null\""), "absent values are omitted");
}

#[actix_web::test]
async fn every_answer_fits_its_schema() {
    let world = World::running().with_parent().with_namespaces(1);
    let mut document: Value = get(&world.state, "/api/v1/openapi.json").await.json();
    close(&mut document["components"]["schemas"]);
    let mut checked = 0;
    for endpoint in PATHS.endpoints().filter(|endpoint| endpoint.method == Method::Get) {
        let answer = probe(&world.state, endpoint).await;
        let responses = &operation(&document, endpoint)["responses"];
        let response = if answer.code == 404 {
            &document["components"]["responses"]["Error"]
        } else {
            &responses[answer.code.to_string()]
        };
        let schema = &response["content"][JSON]["schema"];
        if schema.is_object() || schema == true {
            let schema = if schema == true { &json!({}) } else { schema };
            check(&document["components"], schema, &answer.json(), endpoint.path);
            checked += 1;
        }
    }
    assert!(checked >= 10, "{checked}");
}

/// Checks that the answer to a GET fits its schema and has no other fields.
pub(super) fn check_answer(path: &str, answer: &Value) {
    let mut document = document(Security::None, &PATHS);
    close(&mut document["components"]["schemas"]);
    let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
    check(&document["components"], &content[JSON]["schema"], answer, path);
}

#[actix_web::test]
async fn a_refusal_fits_the_document() {
    let world = World::running();
    let document = document(Security::None, &PATHS);
    let answer = get(&world.state, "/nonsense").await;
    is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
    let schema = &document["components"]["responses"]["Error"]["content"][JSON]["schema"];
    check(&document["components"], schema, &answer.json(), "/nonsense");
}

#[test]
fn the_document_describes_delegated_access() {
    for (protocol, cookie) in [(Protocol::Http, "operetta"), (Protocol::Https, "__Host-operetta")] {
        let document = document(Security::Delegated(protocol), &PATHS);
        let schemes = &document["components"]["securitySchemes"];
        assert_eq!(
            [&schemes["bearerToken"]["type"], &schemes["bearerToken"]["scheme"]],
            ["http", "bearer"]
        );
        let session = &schemes["session"];
        assert_eq!(
            [&session["type"], &session["in"], &session["name"]],
            ["apiKey", "cookie", cookie]
        );
        let either = json!([{"bearerToken": []}, {"session": []}]);
        assert_eq!(document["security"], either);
        for endpoint in PATHS.endpoints() {
            let expected = match endpoint.access {
                AccessRule::Guarded | AccessRule::Authenticated => None,
                AccessRule::Open => Some(json!([{}, {"bearerToken": []}, {"session": []}])),
                AccessRule::Public => Some(json!([])),
            };
            let security = operation(&document, endpoint).get("security");
            assert_eq!(security, expected.as_ref(), "{}", endpoint.path);
        }
    }
    let open = document(Security::None, &PATHS);
    let mut found = Vec::new();
    all(&open, "security", &mut found);
    assert!(found.is_empty() && open["components"].get("securitySchemes").is_none());
}

#[actix_web::test]
async fn a_server_shows_the_document_for_its_protocol() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    let open = get(&world.state, "/api/v1/openapi.json").await.json();
    assert_eq!(open.get("security"), None);
    let asked = || {
        with_token(request(actix_web::http::Method::GET, "/api/v1/openapi.json"), "token-of-ann")
    };
    for (protocol, cookie) in [(Protocol::Http, "operetta"), (Protocol::Https, "__Host-operetta")] {
        let rules = RequestRules { protocol, ..rules.clone() };
        let document = ask_through(rules, &world.state, asked()).await.json();
        assert_eq!(document["components"]["securitySchemes"]["session"]["name"], cookie);
    }
}

#[test]
fn a_form_is_described_with_its_fields_and_the_token_is_a_password() {
    let document = document(Security::None, &PATHS);
    let content = &document["paths"]["/ui/login"]["post"]["requestBody"]["content"][FORM];
    let properties = &content["schema"]["properties"];
    assert_eq!(properties["token"]["format"], "password", "{content}");
    assert_eq!(properties["next"]["type"], "string", "{content}");
}
