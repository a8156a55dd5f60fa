//! Parameters of version 2 that are said once and referred to.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::URL_SAFE};
use serde_json::{Map, Value, json};

use super::definitions::REFERENCE;

/// The fields of a parameter in the order in which its name is made from them.
const ORDER: [&str; 7] = ["uniqueItems", "type", "description", "name", "in", "required", "schema"];

/// The shared parameters by their names.
#[derive(Debug, Default)]
pub(super) struct SharedParameters(BTreeMap<String, Value>);

impl SharedParameters {
    /// A reference to the parameter, or itself where clients look for it in the operation.
    pub(super) fn reference(&mut self, parameter: Value) -> Value {
        if !is_shared(&parameter) {
            return parameter;
        }
        let name = name(&parameter);
        let reference = json!({ "$ref": format!("#/parameters/{name}") });
        self.0.entry(name).or_insert(parameter);
        reference
    }

    /// All of them.
    pub(super) fn into_value(self) -> String {
        let all: Map<String, Value> = self.0.into_iter().collect();
        Value::Object(all).to_string().replace(REFERENCE, "#/definitions/")
    }
}

fn is_shared(parameter: &Value) -> bool {
    let text = |field: &str| parameter[field].as_str().unwrap_or_default();
    match (text("in"), text("name")) {
        (_, "name") | ("query", "fieldValidation" | "dryRun") => false,
        ("body", _) => {
            let of = parameter["schema"]["$ref"].as_str().unwrap_or_default();
            of.starts_with(&format!("{REFERENCE}io.k8s.apimachinery"))
        }
        _ => true,
    }
}

/// The name of the real server, which clients may have kept: `limit-1NfNmdNH`.
fn name(parameter: &Value) -> String {
    let known = ORDER.iter().filter_map(|&field| Some((field, parameter.get(field)?)));
    let fields: Vec<String> =
        known.map(|(field, value)| format!("\"{field}\":{}", as_go_writes(value))).collect();
    let hash = fnv(&format!("{{{}}}", fields.join(",")));
    let own = parameter["name"].as_str().unwrap_or_default();
    format!("{own}-{}", URL_SAFE.encode(&hash.to_be_bytes()[..6]))
}

fn as_go_writes(value: &Value) -> String {
    let text = value.to_string().replace(REFERENCE, "#/definitions/");
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_the_name_that_the_real_server_gives_it() {
        let parameter = json!({
            "name": "path", "in": "path", "description": "path to the resource", "type": "string",
            "required": true, "uniqueItems": true,
        });
        assert_eq!(name(&parameter), "path-z6Ciiujn");
    }
}
