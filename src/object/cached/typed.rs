//! Objects as Rust types. An error names the path that does not fit, and never quotes a value.

use serde::de::DeserializeOwned;

use super::Object;

/// An object does not fit a Rust type.
///
/// The error never quotes the object, as `serde` would: it may be a Secret, and the error of a
/// handler is shown in a condition, an Event and the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{object} does not fit the Rust type: {path}{problem}")]
pub struct ParseAsError {
    object: String,
    path: String,
    problem: String,
}

impl Object {
    /// The object as a Rust type.
    ///
    /// # Errors
    /// A field is missing, or does not fit the type.
    pub fn parse_as<T: DeserializeOwned>(&self) -> Result<T, ParseAsError> {
        let text = self.to_json();
        // Parsing with paths is slower: only a text that fails is parsed again.
        serde_json::from_str(&text).map_err(|error| self.misfit::<T>(None, &text, &error))
    }

    /// One field of it, such as `spec`, as a Rust type; one that is missing is read as `null`.
    ///
    /// # Errors
    /// A field in it is missing, or does not fit the type.
    pub fn parse_field_as<T: DeserializeOwned>(&self, field: &str) -> Result<T, ParseAsError> {
        let text = self.field(field).unwrap_or_default().to_string();
        serde_json::from_str(&text).map_err(|error| self.misfit::<T>(Some(field), &text, &error))
    }

    fn misfit<T: DeserializeOwned>(
        &self,
        field: Option<&str>,
        text: &str,
        error: &serde_json::Error,
    ) -> ParseAsError {
        let mut reader = serde_json::Deserializer::from_str(text);
        let inner = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            Err(error) if error.path().iter().len() > 0 => Some(error.path().to_string()),
            Err(_) | Ok(_) => None,
        };
        let path = match (field, inner) {
            (Some(field), Some(inner)) => format!("`{field}.{inner}`: "),
            (Some(place), None) => format!("`{place}`: "),
            (None, Some(place)) => format!("`{place}`: "),
            (None, None) => String::new(),
        };
        let object = format!("{} {}", self.ty(), self.key());
        ParseAsError { object, path, problem: without_values(error) }
    }
}

/// The problem in the words of `serde`, as far as they come from the Rust type.
fn without_values(error: &serde_json::Error) -> String {
    let position = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let text = text.strip_suffix(&position).unwrap_or(&text);
    if text.starts_with("missing field `") {
        return text.to_owned();
    }
    let wanted = || text.rsplit_once(", expected ").map(|(_, wanted)| wanted);
    let kinds = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let kind = kinds.into_iter().find(|kind| text.starts_with(kind));
    match (kind, wanted()) {
        (Some("invalid type: "), Some(wanted)) => {
            format!("{}, where {wanted} is expected", found(text))
        }
        (Some(_), Some(wanted)) => format!("another value than {wanted}"),
        _ => "its value is refused".to_owned(),
    }
}

/// The JSON type that was found.
fn found(text: &str) -> &str {
    let there = text.trim_start_matches("invalid type: ");
    let ends = there.find(['`', '"', ',']).unwrap_or(there.len());
    there[..ends].trim_end()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, num::NonZeroU8};

    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    const SECRET: &str = "s3cret, expected \"s3cret\"";

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Size {
        Small,
        Large,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "is only parsed")]
    struct Website {
        spec: Spec,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Spec {
        port: u16,
        weight: Option<NonZeroU8>,
        size: Option<Size>,
        levels: Vec<u8>,
        address: Option<std::net::IpAddr>,
        counts: BTreeMap<String, u8>,
    }

    fn misfit(fields: Value) -> String {
        let ty = K8sType::namespaced("example.dev/v1", "Website", "websites");
        let mut value = fields;
        value["metadata"] = json!({
            "namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "1",
        });
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        let error = object.parse_as::<Website>().unwrap_err();
        if object.field("spec").is_some() {
            let of_spec = object.parse_field_as::<Spec>("spec").unwrap_err();
            assert_eq!(of_spec, error, "the same of the field alone");
        }
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        let head = "Website.example.dev/v1 ns/a does not fit the Rust type: ";
        error.to_string().strip_prefix(head).unwrap().to_owned()
    }

    #[test]
    fn a_misfit_is_named_by_its_path_and_never_quoted() {
        for (spec, expected) in [
            (json!({"port": SECRET}), "`spec.port`: string, where u16 is expected"),
            (json!({"port": -7}), "`spec.port`: another value than u16"),
            (json!({"port": null}), "`spec.port`: null, where u16 is expected"),
            (json!({"weight": 0}), "`spec.weight`: another value than a nonzero u8"),
            (json!({"size": SECRET}), "`spec.size`: another value than `small` or `large`"),
            (json!({"levels": [1, SECRET]}), "`spec.levels[1]`: string, where u8 is expected"),
            (json!({"levels": {}}), "`spec.levels`: map, where a sequence is expected"),
            (json!({"address": SECRET}), "`spec.address`: its value is refused"),
            (json!({"counts": {"a.b": true}}), "`spec.counts.a.b`: boolean, where u8 is expected"),
        ] {
            assert_eq!(misfit(json!({"spec": spec})), expected);
        }
        assert_eq!(misfit(json!({})), "missing field `spec`");
    }
}
