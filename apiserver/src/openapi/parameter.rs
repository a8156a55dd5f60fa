//! Parameters of requests.

use serde_json::{Value, json};

use super::definitions::{Definitions, Parameter};

const PRETTY: &str = "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent \
                      indicates a browser or command-line HTTP tool (curl and wget).";
const NAMESPACE: &str = "object name and auth scope, such as for teams and projects";

/// The parameters of a request's query.
pub(super) fn of_options(definitions: &Definitions<'_>, options: &str) -> Vec<Value> {
    definitions.parameters(options).iter().map(query).collect()
}

/// `pretty`.
pub(super) fn pretty() -> Value {
    let [name, ty] = ["pretty", "string"].map(str::to_owned);
    query(&Parameter { name, ty, description: PRETTY.to_owned() })
}

/// `namespace`.
pub(super) fn namespace() -> Value {
    in_path("namespace", NAMESPACE)
}

/// `name`, of an object or of what is sent to a subresource.
pub(super) fn name(kind: &str) -> Value {
    in_path("name", &format!("name of the {kind}"))
}

/// The rest of a path behind a proxy.
pub(super) fn rest() -> Value {
    in_path("path", "path to the resource")
}

fn in_path(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "path",
        "description": description,
        "required": true,
        "schema": { "type": "string", "uniqueItems": true },
    })
}

fn query(parameter: &Parameter) -> Value {
    let Parameter { name, ty, description } = parameter;
    let mut value = json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": ty, "uniqueItems": true },
    });
    if let Some(fields) = value.as_object_mut().filter(|_| description.is_empty()) {
        fields.remove("description");
    }
    value
}

/// The order in a list of parameters.
pub(super) fn order(parameter: &Value) -> (String, String) {
    let text = |field: &str| parameter[field].as_str().unwrap_or_default().to_owned();
    (text("name"), text("in"))
}
