//! The document of version 2, made from the parts of version 3.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    custom::CustomDefinition,
    definitions::{self, Definitions, REFERENCE},
    document::{custom_definitions, information_paths},
    downgrade::downgrade,
    paths,
    shared_parameter::SharedParameters,
};
use crate::{discovery, published::Draft, resource::Resources};

const PREFIX: &str = "#/definitions/";
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];
/// The order of media types.
const PRODUCED: [&str; 8] = [
    "text/plain",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "*/*",
    "",
];
const CONSUMED: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
const WITHOUT_BODY_CUSTOM: [&str; 2] = ["application/json", "application/yaml"];

/// Where a definition comes from.
enum Source<'a> {
    BuiltIn(&'a str),
    Custom(CustomDefinition<'a>),
}

/// Writes the document.
pub(crate) fn document(resources: &Resources, draft: &mut Draft) {
    let text = definitions::text();
    let definitions = Definitions::new(&text);
    let mut shared = SharedParameters::default();
    let mut paths: Vec<String> = Vec::new();
    let mut sources: BTreeMap<String, Source<'_>> = BTreeMap::new();
    let mut add = |of: Map<String, Value>, is_custom: bool| {
        for (path, item) in of {
            let item = path_item(item, is_custom, &mut shared);
            paths.push(format!("{}:{item}", Value::from(path)));
        }
    };
    add(information_paths(resources), false);
    for group in discovery::core().into_iter().chain(discovery::others(resources)) {
        for version in &group.versions {
            let custom = custom_definitions(resources, &group.name, &version.version);
            let of = paths::paths(&definitions, resources, &group.name, version);
            add(of, !custom.is_empty());
            sources.extend(custom.into_iter().map(|(name, it)| (name, Source::Custom(it))));
        }
    }
    let built_in = definitions
        .names()
        .map(|name| (name.to_owned(), Source::BuiltIn(definitions.get(name).unwrap_or_default())));
    sources.extend(built_in);
    draft.push(
        "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"1.37\"},\"paths\":{",
    );
    draft.push_list(paths);
    draft.push("},\"definitions\":{");
    draft.push_list(
        sources.iter().map(|(name, it)| format!("\"{name}\":{}", it.text(&definitions))),
    );
    let parameters = shared.into_value();
    let security = json!({ "BearerToken": super::document::bearer_token() });
    draft.push(format!(
        "}},\"parameters\":{parameters},\"securityDefinitions\":{security},\"security\":[{{\"BearerToken\":[]}}]}}"
    ));
}

impl Source<'_> {
    fn text(&self, definitions: &Definitions<'_>) -> String {
        match self {
            Self::BuiltIn(text) => definition(serde_json::from_str(text).unwrap_or_default()),
            Self::Custom(custom) => custom_definition(custom.schema(definitions)),
        }
    }
}

fn definition(mut schema: Value) -> String {
    convert(&mut schema);
    schema.to_string().replace(REFERENCE, PREFIX)
}

fn custom_definition(mut schema: Value) -> String {
    downgrade(&mut schema);
    definition(schema)
}

/// Version 2 has no defaults of definitions, no choice of types, and references without a wrapper.
fn convert(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.remove("default");
    if fields.remove("oneOf").is_some() {
        fields.insert("type".to_owned(), json!("string"));
    }
    if let Some([one]) = fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
        && let Some(reference) = one.get("$ref").cloned()
    {
        fields.remove("allOf");
        fields.insert("$ref".to_owned(), reference);
    }
    for inner in ["items", "additionalProperties"] {
        fields.get_mut(inner).into_iter().for_each(convert);
    }
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, schema)| convert(schema));
}

fn path_item(mut item: Value, is_custom: bool, shared: &mut SharedParameters) -> String {
    for method in METHODS {
        if let Some(operation) = item.get_mut(method) {
            operation_in_version_2(operation, is_custom, shared);
        }
    }
    if let Some(parameters) = item.get_mut("parameters").and_then(Value::as_array_mut) {
        for it in parameters {
            *it = shared.reference(parameter(it));
        }
    }
    item.to_string().replace(REFERENCE, PREFIX)
}

fn operation_in_version_2(operation: &mut Value, is_custom: bool, shared: &mut SharedParameters) {
    let body = operation.as_object_mut().and_then(|fields| fields.remove("requestBody"));
    let consumed = match &body {
        Some(body) => media(body, &CONSUMED),
        None if operation["x-kubernetes-action"].is_null() => {
            media(&operation["responses"]["200"], &PRODUCED)
        }
        None if is_custom => WITHOUT_BODY_CUSTOM.map(str::to_owned).to_vec(),
        None => vec!["*/*".to_owned()],
    };
    operation["produces"] = json!(media(&operation["responses"]["200"], &PRODUCED));
    // Those of the issuer of tokens say nothing of what they take.
    if !matches!(operation["tags"][0].as_str(), Some("WellKnown" | "openid")) {
        operation["consumes"] = json!(consumed);
    }
    operation["schemes"] = json!(["https"]);
    let own = operation["parameters"].as_array().into_iter().flatten().map(parameter);
    let parameters: Vec<Value> = body
        .as_ref()
        .map(body_parameter)
        .into_iter()
        .chain(own)
        .map(|it| shared.reference(it))
        .collect();
    if let Some(fields) = operation.as_object_mut() {
        fields.remove("parameters");
        if !parameters.is_empty() {
            fields.insert("parameters".to_owned(), json!(parameters));
        }
    }
    let responses = operation["responses"].as_object_mut().into_iter().flatten();
    responses.for_each(|(_, response)| response_in_version_2(response));
}

fn response_in_version_2(response: &mut Value) {
    let Some(fields) = response.as_object_mut() else { return };
    let content = fields.remove("content");
    let schema =
        content.as_ref().and_then(Value::as_object).and_then(|content| content.values().next());
    if let Some(schema) = schema.and_then(|it| it.get("schema")) {
        fields.insert("schema".to_owned(), schema.clone());
    }
}

/// The media types of a body in the order of version 2.
fn media(of: &Value, order: &[&str]) -> Vec<String> {
    let mut media: Vec<String> =
        of["content"].as_object().into_iter().flatten().map(|(media, _)| media.clone()).collect();
    media.sort_by_key(|media| order.iter().position(|known| known == media));
    media
}

fn body_parameter(body: &Value) -> Value {
    let content = body["content"].as_object().and_then(|content| content.values().next());
    let schema = content.map(|it| it["schema"].clone()).unwrap_or_default();
    let mut parameter = json!({ "name": "body", "in": "body", "schema": schema });
    if body["required"] == true {
        parameter["required"] = json!(true);
    }
    parameter
}

fn parameter(of: &Value) -> Value {
    let mut parameter = of.clone();
    if let Some(fields) = parameter.as_object_mut()
        && let Some(Value::Object(schema)) = fields.remove("schema")
    {
        fields.extend(schema);
    }
    parameter
}
