//! A child as a handler returns it: the object, and how it is treated where that differs from its
//! type.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeStruct};
use serde_json::Value;

use super::ChildConfig;

/// A child that should exist. `Debug` shows no content.
///
/// As JSON a child without options is the object itself; one with options is
/// `{"object": .., "ensure": true, "config": ..}`. An object with a field `object` and without
/// `apiVersion` is parsed as the second form.
#[derive(Clone, PartialEq)]
pub struct DesiredChild {
    /// The object, with `apiVersion` and `kind`.
    pub object: Value,
    /// Whether it is created when it is missing, and otherwise left as it is.
    pub ensure: bool,
    /// The options of this object, instead of those of its type.
    pub config: Option<ChildConfig>,
}

/// The form with options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithOptions {
    object: Value,
    #[serde(default)]
    ensure: bool,
    #[serde(default)]
    config: Option<ChildConfig>,
}

/// A child without options.
impl From<Value> for DesiredChild {
    fn from(object: Value) -> Self {
        Self { object, ensure: false, config: None }
    }
}

/// Whether the child has this content, and no options.
impl PartialEq<Value> for DesiredChild {
    fn eq(&self, object: &Value) -> bool {
        !self.ensure && self.config.is_none() && self.object == *object
    }
}

impl Serialize for DesiredChild {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { object, ensure, config } = self;
        if !ensure && config.is_none() {
            return object.serialize(serializer);
        }
        let mut fields = serializer.serialize_struct("DesiredChild", 3)?;
        fields.serialize_field("object", object)?;
        fields.serialize_field("ensure", ensure)?;
        if let Some(config) = config {
            fields.serialize_field("config", config)?;
        }
        fields.end()
    }
}

impl<'de> Deserialize<'de> for DesiredChild {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.get("object").is_none() || value.get("apiVersion").is_some() {
            return Ok(value.into());
        }
        let child = WithOptions::deserialize(value).map_err(de::Error::custom)?;
        let WithOptions { object, ensure, config } = child;
        Ok(Self { object, ensure, config })
    }
}

/// The object may be a Secret.
impl fmt::Debug for DesiredChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object: _, ensure, config } = self;
        write!(f, "DesiredChild(ensure: {ensure}, config: {config:?})")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s3cret"}})
    }

    #[test]
    fn a_child_without_options_is_its_object_in_json() {
        let child = DesiredChild::from(object());
        assert_eq!(serde_json::to_value(&child).unwrap(), object());
        assert_eq!(serde_json::from_value::<DesiredChild>(object()).unwrap(), child);
        assert_eq!(child, object());
        let mut with_a_field = object();
        with_a_field["object"] = json!({});
        let child: DesiredChild = serde_json::from_value(with_a_field.clone()).unwrap();
        assert_eq!(child, with_a_field, "a field of a custom resource");
    }

    #[test]
    fn a_child_with_options_survives_a_round_trip_through_json() {
        let ensured = DesiredChild { ensure: true, ..object().into() };
        let json = json!({"object": object(), "ensure": true});
        assert_eq!(serde_json::to_value(&ensured).unwrap(), json);
        let config = Some(ChildConfig::apply().adopting());
        let with_config = DesiredChild { config, ..object().into() };
        for child in [ensured, with_config] {
            let json = serde_json::to_value(&child).unwrap();
            assert_eq!(serde_json::from_value::<DesiredChild>(json).unwrap(), child);
            assert_ne!(child, object());
            assert!(!format!("{child:?}").contains("s3cret"), "{child:?}");
        }
    }

    #[test]
    fn an_option_that_is_not_given_has_its_default_and_an_unknown_one_is_refused() {
        let json = json!({"object": object(), "config": {"adopt": true}});
        let child: DesiredChild = serde_json::from_value(json).unwrap();
        assert_eq!(child.config, Some(ChildConfig::apply().adopting()));
        for json in [
            json!({"object": object(), "ensured": true}),
            json!({"object": object(), "config": {"adoptt": true}}),
        ] {
            let error = serde_json::from_value::<DesiredChild>(json).unwrap_err().to_string();
            assert!(error.contains("unknown field") && !error.contains("s3cret"), "{error}");
        }
    }
}
