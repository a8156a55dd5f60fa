//! Checks whether an object can be decoded into its Go struct, and finds unknown fields.
//!
//! The errors are those of a request with status 400. Of several invalid values the real server reports
//! the first in the document, this module the first by name; but both prefer what a type with its own reader
//! says, such as a time.

use base64::{DecodeError as Base64Error, Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};
use thiserror::Error;

use super::{
    catalog::{BuiltinType, go_struct},
    go_type::{GoField, GoType},
    go_union, timestamp,
};
use crate::quantity::Quantity;

/// The struct of the metadata of every object.
pub(super) const OBJECT_META: &str = "meta.v1.ObjectMeta";

/// Why an object cannot be decoded as its kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} in version {version:?} cannot be handled as a {kind}: {reason}")]
pub struct DecodeError {
    kind: &'static str,
    version: &'static str,
    reason: String,
}

impl DecodeError {
    /// Without the type, as Go says it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Checks that every value has the type of its field, and returns the fields that the type does
/// not have, as `spec.containers[0].imagee`. These are dropped by `default`.
pub fn decode(ty: &BuiltinType, object: &Value) -> Result<Vec<String>, DecodeError> {
    decode_struct(ty.root, object, "").map_err(|reason| DecodeError {
        kind: ty.kind,
        version: ty.version,
        reason,
    })
}

/// The same for the metadata of an object of any type, which are at a path of an object.
pub(crate) fn decode_metadata(metadata: &Value, at: &str) -> Result<Vec<String>, String> {
    decode_struct(OBJECT_META, metadata, at)
}

/// The same for a value of a struct, which is at a path of its object.
pub(crate) fn decode_struct(
    name: &'static str,
    value: &Value,
    at: &str,
) -> Result<Vec<String>, String> {
    let mut walk = Walk { unknown: Vec::new(), first: None };
    let place = Place { go_struct: "", fields: String::new(), at: at.to_owned() };
    walk.value(&GoType::Struct(name), None, value, &place)?;
    walk.first.map_or(Ok(walk.unknown), Err)
}

/// Where a value is: as errors say it, and as warnings about unknown fields do.
struct Place {
    go_struct: &'static str,
    fields: String,
    at: String,
}

struct Walk {
    unknown: Vec<String>,
    /// The first value of another type: Go reads on, and may find what stops it.
    first: Option<String>,
}

impl Walk {
    fn value(
        &mut self,
        ty: &GoType,
        name: Option<&'static str>,
        value: &Value,
        place: &Place,
    ) -> Result<(), String> {
        match (ty, value) {
            (_, Value::Null) | (GoType::Any, _) => Ok(()),
            (GoType::Pointer(inner), _) => self.value(inner, name, value, place),
            (GoType::Struct(inner), Value::Object(fields)) => self.fields(inner, fields, place),
            (GoType::List(element), Value::Array(items)) => {
                items.iter().enumerate().try_for_each(|(index, item)| {
                    self.value(element, name, item, &place.with(&format!("[{index}]")))
                })
            }
            (GoType::Map(element), Value::Object(entries)) => {
                entries.iter().try_for_each(|(key, item)| {
                    self.value(element, name, item, &place.with(&format!(".{key}")))
                })
            }
            _ => {
                let Err(fault) = scalar(ty, value) else { return Ok(()) };
                let fault = fault.unwrap_or_else(|| mismatch(ty, name, value, place));
                if reads_itself(ty) {
                    return Err(fault);
                }
                self.first.get_or_insert(fault);
                Ok(())
            }
        }
    }

    fn fields(
        &mut self,
        name: &'static str,
        fields: &Map<String, Value>,
        place: &Place,
    ) -> Result<(), String> {
        let known = &go_struct(name).fields;
        for (key, value) in fields {
            let inner = place.field(name, key);
            match known.get(key.as_str()) {
                Some(field) if go_union::is_one(field) => union(field, value, &inner)?,
                Some(GoField { ty, name, .. }) => self.value(ty, *name, value, &inner)?,
                None => self.unknown.push(inner.at),
            }
        }
        Ok(())
    }
}

/// A value that has a reader of its own, which does not notice unknown fields.
fn union(field: &GoField, value: &Value, place: &Place) -> Result<(), String> {
    for (ty, part) in go_union::parts(field, value)? {
        let mut inner = Walk { unknown: Vec::new(), first: None };
        inner.value(&ty, None, part, place)?;
        inner.first.map_or(Ok(()), Err)?;
    }
    Ok(())
}

impl Place {
    fn with(&self, step: &str) -> Self {
        let at = self.at.clone() + step;
        Self { go_struct: self.go_struct, fields: self.fields.clone(), at }
    }

    fn field(&self, go_struct: &'static str, name: &str) -> Self {
        let join = |parent: &str| match parent {
            "" => name.to_owned(),
            _ => format!("{parent}.{name}"),
        };
        let mut fields = self.fields.clone();
        if let Some(part) = embedded(go_struct, name) {
            fields = if fields.is_empty() { part.to_owned() } else { format!("{fields}.{part}") };
        }
        Self { go_struct, fields: join(&fields), at: join(&self.at) }
    }
}

/// The struct inside of a struct whose field this is: Go names it in errors, and JSON does not have it.
fn embedded(go_struct: &str, field: &str) -> Option<&'static str> {
    const OF_VOLUME: [&str; 9] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    match (go_struct, field) {
        ("core.v1.Volume", field) if field != "name" => Some("VolumeSource"),
        ("core.v1.EphemeralContainer", field) if field != "targetContainerName" => {
            Some("EphemeralContainerCommon")
        }
        ("core.v1.Probe", "exec" | "httpGet" | "tcpSocket" | "grpc") => Some("ProbeHandler"),
        ("core.v1.PersistentVolumeSpec", field) if !OF_VOLUME.contains(&field) => {
            Some("PersistentVolumeSource")
        }
        _ => None,
    }
}

/// Whether the type has its own reader, whose errors are the last ones.
fn reads_itself(ty: &GoType) -> bool {
    matches!(ty, GoType::Quantity | GoType::IntOrString | GoType::Time | GoType::MicroTime)
}

/// Whether a scalar can be read; the error is its own, or `None` for the general one.
pub(super) fn scalar(ty: &GoType, value: &Value) -> Result<(), Option<String>> {
    let fits = match (ty, value) {
        (GoType::String | GoType::IntOrString, Value::String(_))
        | (GoType::Bool, Value::Bool(_))
        | (GoType::Float64, Value::Number(_)) => true,
        (GoType::Int32, Value::Number(n)) => n.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        (GoType::Int64, Value::Number(n)) => n.is_i64(),
        (GoType::IntOrString, Value::Number(_)) => return scalar(&GoType::Int32, value),
        (GoType::Quantity, _) => return quantity(value).map_err(Some),
        (GoType::Bytes, Value::String(text)) => return bytes(text).map_err(Some),
        (GoType::Time | GoType::MicroTime, Value::String(text)) => {
            return timestamp::check(text, *ty == GoType::MicroTime).map_err(Some);
        }
        _ => false,
    };
    if fits { Ok(()) } else { Err(None) }
}

fn quantity(value: &Value) -> Result<(), String> {
    Quantity::of(value).map(drop).ok_or_else(|| {
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned()
    })
}

pub(super) fn bytes(text: &str) -> Result<(), String> {
    let position = match BASE64_STANDARD.decode(text) {
        Ok(_) => return Ok(()),
        // Padding is one byte of its group; what is after it is wrong.
        Err(Base64Error::InvalidByte(at, b'=')) if at % 4 >= 2 && text.len() > at / 4 * 4 + 4 => {
            at / 4 * 4 + 4
        }
        Err(Base64Error::InvalidByte(at, _)) => at,
        Err(_) => text.len() - text.len() % 4,
    };
    Err(format!("illegal base64 data at input byte {position}"))
}

fn mismatch(ty: &GoType, name: Option<&str>, value: &Value, place: &Place) -> String {
    let wants_number = matches!(ty, GoType::Int32 | GoType::Int64 | GoType::IntOrString);
    let found = match value {
        Value::Number(number) if wants_number => format!("number {number}"),
        _ => json_name(value).to_owned(),
    };
    let wanted = match ty {
        GoType::Time | GoType::MicroTime => "string".to_owned(),
        ty => match go_union::type_name(place.go_struct, &place.fields) {
            Some(name) => name.to_owned(),
            None => go_name(ty, name),
        },
    };
    if place.go_struct.is_empty() {
        return format!("json: cannot unmarshal {found} into Go value of type {wanted}");
    }
    let of = place.go_struct.rsplit('.').next().unwrap_or_default();
    let fields = &place.fields;
    format!("json: cannot unmarshal {found} into Go struct field {of}.{fields} of type {wanted}")
}

pub(crate) fn json_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

pub(super) fn go_name(ty: &GoType, name: Option<&str>) -> String {
    match ty {
        GoType::Pointer(inner) => format!("*{}", go_name(inner, name)),
        GoType::List(inner) => format!("[]{}", go_name(inner, name)),
        GoType::Map(inner) if **inner == GoType::Quantity => "v1.ResourceList".to_owned(),
        GoType::Map(inner) => format!("map[string]{}", go_name(inner, name)),
        GoType::Struct(of) => {
            let package = of.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
            of[package..].to_owned()
        }
        GoType::Bytes => "[]uint8".to_owned(),
        GoType::Quantity => "resource.Quantity".to_owned(),
        GoType::Time => "v1.Time".to_owned(),
        GoType::MicroTime => "v1.MicroTime".to_owned(),
        _ if name.is_some() => name.unwrap_or_default().to_owned(),
        GoType::Bool => "bool".to_owned(),
        GoType::Int32 | GoType::IntOrString => "int32".to_owned(),
        GoType::Int64 => "int64".to_owned(),
        GoType::Float64 => "float64".to_owned(),
        GoType::String | GoType::Any => "string".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin::find;

    #[test]
    fn unknown_fields_are_named_with_their_place() {
        let pod = json!({
            "kind": "Pod", "colour": 1,
            "spec": { "containers": [{ "imagee": "x" }], "nodeSelector": { "a": "b" } }
        });
        let unknown = decode(find("", "v1", "Pod").unwrap(), &pod).unwrap();
        assert_eq!(unknown, ["colour", "spec.containers[0].imagee"]);
    }

    #[test]
    fn named_types_are_called_by_their_name() {
        let pod = json!({ "spec": { "restartPolicy": 1 } });
        let error = decode(find("", "v1", "Pod").unwrap(), &pod).unwrap_err().to_string();
        assert_eq!(
            error,
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into \
             Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy"
        );
    }
}
