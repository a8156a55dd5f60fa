//! `/api/v1/openapi.json`: an `OpenAPI` document, generated from the table of endpoints and the types
//! of the answers. (`utoipa` would need an attribute for each handler, a second table, and its own
//! schemas.)

use std::sync::OnceLock;

use actix_web::{HttpResponse, http::header::ContentType, web::Data};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Map, Value, json};

use super::{
    endpoint::{AccessRule, Body, Endpoint, Form, JSON, Method, Parameter, Responses},
    logins::{self, cookie_name},
    origin::Protocol,
    paths::Paths,
    request_rules::RequestRules,
    status::Status,
};

/// The document as text, once it was requested.
#[derive(Debug, Default)]
pub(super) struct Document(OnceLock<String>);

pub(super) async fn show(
    document: Data<Document>,
    rules: Data<RequestRules>,
    paths: Data<Paths>,
) -> HttpResponse {
    let security = match rules.access {
        Some(_) => Security::Delegated(rules.protocol),
        None => Security::None,
    };
    let text = document.0.get_or_init(|| self::document(security, &paths).to_string());
    HttpResponse::Ok().content_type(ContentType::json()).body(text.clone())
}

/// How a client authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    None,
    /// By a token, or by the cookie of a session, whose name depends on the protocol.
    Delegated(Protocol),
}

const TOKEN: &str = "bearerToken";
const SESSION: &str = "session";

pub(super) fn document(security: Security, all: &Paths) -> Value {
    let mut schemas = generator();
    let mut paths = Map::new();
    for endpoint in all.endpoints() {
        let mut operation = operation(endpoint, all, &mut schemas);
        if let Some(alternatives) = security.of_endpoint(endpoint.access) {
            operation["security"] = alternatives;
        }
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method.operation()] = operation;
    }
    let error = schemas.subschema_for::<Status>();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Operetta",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The state of every operator, its reasons, and its next steps.",
            "license": {"name": "Apache-2.0 or MIT", "identifier": env!("CARGO_PKG_LICENSE")},
        },
        "paths": paths,
        "components": {
            "responses": {"Error": {
                "description": "Why the request failed",
                "content": {JSON: {"schema": error}},
            }},
            "schemas": schemas.take_definitions(true),
        },
    });
    if let Some(schemes) = security.schemes() {
        document["components"]["securitySchemes"] = schemes;
        document["security"] = json!(by_token_or_session());
    }
    document
}

impl Security {
    fn schemes(self) -> Option<Value> {
        let Self::Delegated(protocol) = self else { return None };
        let mut schemes = json!({TOKEN: {
            "type": "http", "scheme": "bearer",
            "description": "A token of the Kubernetes API server. A SubjectAccessReview checks the \
                            permission for the path: `/metrics`, or any other path with the prefix \
                            `/operetta`.",
        }});
        if let Some(cookie) = cookie_name(protocol) {
            schemes[SESSION] = json!({
                "type": "apiKey", "in": "cookie", "name": cookie,
                "description": "The cookie that `/ui/login` sets. Commands also need a proof of \
                                their origin: `Origin` or `Sec-Fetch-Site`.",
            });
        }
        Some(schemes)
    }

    /// The security of an endpoint, if it differs from that of all.
    fn of_endpoint(self, access: AccessRule) -> Option<Value> {
        match (self, access) {
            (Self::None, _) | (_, AccessRule::Guarded | AccessRule::Authenticated) => None,
            // Without authentication only the outcome is shown.
            (Self::Delegated(_), AccessRule::Open) => {
                Some(json!([vec![json!({})], by_token_or_session()].concat()))
            }
            (Self::Delegated(_), AccessRule::Public) => Some(json!([])),
        }
    }
}

/// Either of them suffices.
fn by_token_or_session() -> Vec<Value> {
    let session = logins::ARE_POSSIBLE.then(|| json!({SESSION: []}));
    [json!({TOKEN: []})].into_iter().chain(session).collect()
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(without_null)).with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// Absent values are omitted from answers, never null.
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

fn operation(endpoint: &Endpoint, all: &Paths, schemas: &mut SchemaGenerator) -> Value {
    let in_path = endpoint.path_names().filter_map(|name| all.meaning_of(name));
    let in_path = in_path.map(|parameter| shown(parameter, "path"));
    let in_query = endpoint.query.iter().map(|parameter| shown(parameter, "query"));
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": responses(&endpoint.answer, schemas),
    });
    if let Some(Body { media_type, meaning, fields }) = endpoint.body {
        operation["requestBody"] = json!({
            "required": true,
            "description": meaning,
            "content": {media_type: {"schema": body_schema(media_type, fields)}},
        });
    } else if endpoint.method == Method::Post {
        operation["requestBody"] = json!({
            "required": true,
            "description": "It is not read. Its type JSON proves that no form of another site sent it",
            "content": {JSON: {"schema": {"type": "object"}}},
        });
    }
    operation
}

fn body_schema(media_type: &str, fields: &[Parameter]) -> Value {
    let schema = |field: &Parameter| {
        let mut schema = schema(&field.form);
        schema["description"] = json!(field.meaning);
        (field.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = fields.iter().map(schema).collect();
    if properties.is_empty() {
        json!({"type": if media_type == JSON { "object" } else { "string" }})
    } else {
        json!({"type": "object", "properties": properties})
    }
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

fn shown(Parameter { name, form, meaning }: &Parameter, location: &str) -> Value {
    let is_required = location == "path";
    let mut parameter = json!({
        "name": name, "in": location, "required": is_required, "description": meaning,
        "schema": schema(form),
    });
    if matches!(form, Form::Flag | Form::Switch) {
        parameter["allowEmptyValue"] = json!(true);
    }
    parameter
}

fn schema(form: &Form) -> Value {
    match form {
        Form::Text | Form::Flag => json!({"type": "string"}),
        Form::Switch => json!({"type": "string", "enum": ["", "1", "true", "0", "false"]}),
        Form::WholeNumber => json!({"type": "integer", "minimum": 0}),
        Form::OneOf(words) => json!({"type": "string", "enum": words}),
        Form::Secret => json!({"type": "string", "format": "password"}),
    }
}

fn responses(answer: &Responses, schemas: &mut SchemaGenerator) -> Value {
    let schema = answer.schema.map(|schema_in| schema_in(schemas));
    let content = answer.media_types.iter().map(|media_type| {
        let is_json = *media_type == JSON;
        let schema = schema.as_ref().filter(|_| is_json).map(|schema| schema.as_value().clone());
        ((*media_type).to_owned(), json!({"schema": schema.unwrap_or(json!({"type": "string"}))}))
    });
    let content: Map<String, Value> = content.collect();
    let mut responses = Map::new();
    for code in answer.codes {
        let description = if *code < 400 { "Success" } else { "A check failed" };
        let response = json!({"description": description, "content": content});
        responses.insert(code.to_string(), response);
    }
    responses.insert("default".to_owned(), json!({"$ref": "#/components/responses/Error"}));
    responses.into()
}
