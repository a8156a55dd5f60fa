//! Objects as Rust types, and what is told of one that does not fit: where, and never what.

use serde::de::DeserializeOwned;

use super::Object;

/// An object does not fit a Rust type.
///
/// What the object holds is never quoted, as `serde` would: it may be a Secret, and what a handler
/// returns as its error is shown in a condition, an Event and the log.
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
    /// When a field is missing, or is not as the type wants it.
    pub fn parse_as<T: DeserializeOwned>(&self) -> Result<T, ParseAsError> {
        let text = self.to_json();
        // Reading with paths takes longer: only what fails is read again.
        serde_json::from_str(&text).map_err(|error| self.misfit::<T>(None, &text, &error))
    }

    /// One field of it, such as `spec`, as a Rust type; one that is missing is read as `null`.
    ///
    /// # Errors
    /// When a field in it is missing, or is not as the type wants it.
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

/// What is wrong, in the words of `serde` as far as they come from the Rust type.
fn without_values(error: &serde_json::Error) -> String {
    let position = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = said.strip_suffix(&position).unwrap_or(&said);
    if said.starts_with("missing field `") {
        return said.to_owned();
    }
    let wanted = || said.rsplit_once(", expected ").map(|(_, wanted)| wanted);
    let kinds = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let kind = kinds.into_iter().find(|kind| said.starts_with(kind));
    match (kind, wanted()) {
        (Some("invalid type: "), Some(wanted)) => {
            format!("{}, where {wanted} is expected", found(said))
        }
        (Some(_), Some(wanted)) => format!("another value than {wanted}"),
        _ => "its value is refused".to_owned(),
    }
}

/// Which type of JSON there is.
fn found(said: &str) -> &str {
    let there = said.trim_start_matches("invalid type: ");
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
    struct Kitchen {
        spec: Spec,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Spec {
        port: u16,
        seats: Option<NonZeroU8>,
        size: Option<Size>,
        stoves: Vec<u8>,
        opens: Option<std::net::IpAddr>,
        menus: BTreeMap<String, u8>,
    }

    fn misfit(fields: Value) -> String {
        let ty = K8sType::namespaced("example.dev/v1", "Kitchen", "kitchens");
        let mut value = fields;
        value["metadata"] = json!({
            "namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "1",
        });
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        let error = object.parse_as::<Kitchen>().unwrap_err();
        if object.field("spec").is_some() {
            let of_spec = object.parse_field_as::<Spec>("spec").unwrap_err();
            assert_eq!(of_spec, error, "the same of the field alone");
        }
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        let head = "Kitchen.example.dev/v1 ns/a does not fit the Rust type: ";
        error.to_string().strip_prefix(head).unwrap().to_owned()
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_place_and_never_quoted() {
        for (spec, expected) in [
            (json!({"port": SECRET}), "`spec.port`: string, where u16 is expected"),
            (json!({"port": -7}), "`spec.port`: another value than u16"),
            (json!({"port": null}), "`spec.port`: null, where u16 is expected"),
            (json!({"seats": 0}), "`spec.seats`: another value than a nonzero u8"),
            (json!({"size": SECRET}), "`spec.size`: another value than `small` or `large`"),
            (json!({"stoves": [1, SECRET]}), "`spec.stoves[1]`: string, where u8 is expected"),
            (json!({"stoves": {}}), "`spec.stoves`: map, where a sequence is expected"),
            (json!({"opens": SECRET}), "`spec.opens`: its value is refused"),
            (json!({"menus": {"a.b": true}}), "`spec.menus.a.b`: boolean, where u8 is expected"),
        ] {
            assert_eq!(misfit(json!({"spec": spec})), expected);
        }
        assert_eq!(misfit(json!({})), "missing field `spec`");
    }
}
