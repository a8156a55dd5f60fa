//! `/api/v1/openapi.json`: an `OpenAPI` document made from the table of endpoints and from the types
//! of the answers. Nothing in it is written by hand but how the parts are put together.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::header::ContentType};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Map, Value, json};

use super::{
    endpoint::{Access, Answer, Body, Endpoint, Form, JSON, Parameter},
    status::Status,
    table::{ENDPOINTS, PATH_PARAMETERS},
};

pub(super) async fn show() -> HttpResponse {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());
    HttpResponse::Ok().content_type(ContentType::json()).body(DOCUMENT.as_str())
}

/// The document.
pub(super) fn document() -> Value {
    let mut schemas = generator();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let operation = operation(endpoint, &mut schemas);
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method.operation()] = operation;
    }
    let error = schemas.subschema_for::<Status>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Operetta",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What every operator does, why, and what it will do next.",
            "license": {"name": "Apache-2.0 or MIT", "identifier": env!("CARGO_PKG_LICENSE")},
        },
        "paths": paths,
        "components": {
            "responses": {"Error": {
                "description": "Why the request was not answered",
                "content": {JSON: {"schema": error}},
            }},
            "schemas": schemas.take_definitions(true),
        },
    })
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(without_null)).with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// What is not there is left out of an answer, never null.
fn without_null(schema: &mut Schema) {
    let null = json!("null");
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|ty| *ty != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    choices.retain(|choice| choice["type"] != null);
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        schema.ensure_object().extend(only);
    }
}

fn operation(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Value {
    let in_path = endpoint
        .path_names()
        .filter_map(|name| PATH_PARAMETERS.iter().find(|parameter| parameter.name == name));
    let in_path = in_path.map(|parameter| shown(parameter, "path"));
    let in_query = endpoint.query.iter().map(|parameter| shown(parameter, "query"));
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": responses(&endpoint.answer, schemas),
    });
    if let Some(Body { media_type, meaning }) = endpoint.body {
        operation["requestBody"] = json!({
            "required": true,
            "description": meaning,
            "content": {media_type: {"schema": {"type": "string"}}},
        });
    }
    if endpoint.access == Access::Open {
        operation["security"] = json!([]);
    }
    operation
}

/// `getApiV1OperatorsOperatorParents` for `GET /api/v1/operators/{operator}/parents`.
fn operation_id(endpoint: &Endpoint) -> String {
    let words = endpoint.path.split(|c: char| !c.is_ascii_alphanumeric());
    let capitalised = words.filter_map(|word| {
        let first = word.chars().next()?.to_ascii_uppercase();
        Some(format!("{first}{}", &word[1..]))
    });
    let path: String = capitalised.collect();
    format!("{}{}", endpoint.method.operation(), if path.is_empty() { "Index" } else { &path })
}

fn shown(Parameter { name, form, meaning }: &Parameter, place: &str) -> Value {
    let schema = match form {
        Form::Text => json!({"type": "string"}),
        Form::WholeNumber => json!({"type": "integer", "minimum": 0}),
        Form::Flag => json!({"type": "string", "default": ""}),
        Form::OneOf(words) => json!({"type": "string", "enum": words}),
    };
    let is_required = place == "path";
    json!({
        "name": name, "in": place, "required": is_required, "description": meaning,
        "schema": schema,
    })
}

fn responses(answer: &Answer, schemas: &mut SchemaGenerator) -> Value {
    let schema = answer.schema.map(|schema_in| schema_in(schemas));
    let content = answer.media_types.iter().map(|media_type| {
        let is_json = *media_type == JSON;
        let schema = schema.as_ref().filter(|_| is_json).map(|schema| schema.as_value().clone());
        ((*media_type).to_owned(), json!({"schema": schema.unwrap_or(json!({"type": "string"}))}))
    });
    let content: Map<String, Value> = content.collect();
    let mut responses = Map::new();
    for code in answer.codes {
        let description = if *code < 300 { "All is well" } else { "All is not well" };
        let response = json!({"description": description, "content": content});
        responses.insert(code.to_string(), response);
    }
    responses.insert("default".to_owned(), json!({"$ref": "#/components/responses/Error"}));
    responses.into()
}
