//! A child as a handler returns it: the object, and how it is treated where that differs from its
//! type.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::{ChildConfig, Prerequisite};

/// A child that should exist. `Debug` shows no content.
///
/// As JSON a child without options is the object itself; one with options is
/// `{"object": .., "ensure": true, "config": .., "stage": 1, "after": [..], "initial": [..]}`. An object with a field `object` and without
/// `apiVersion` is parsed as the second form.
#[derive(Clone, PartialEq)]
pub struct DesiredChild {
    /// The object, with `apiVersion` and `kind`.
    pub object: Value,
    /// Whether it is created when it is missing, and otherwise left as it is.
    pub ensure: bool,
    /// The options of this object, instead of those of its type.
    pub config: Option<ChildConfig>,
    /// Its stage: it waits for the children of all smaller ones.
    pub stage: usize,
    /// Children that it waits for beside those.
    pub after: Vec<Prerequisite>,
    /// JSON pointers of the fields that have only their first value from the handler, see
    /// [`SyncResponse::initial_field`](super::SyncResponse::initial_field).
    pub initial: Vec<String>,
}

/// The form with options.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithOptions<O> {
    object: O,
    #[serde(default)]
    ensure: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<ChildConfig>,
    #[serde(default, skip_serializing_if = "is_first")]
    stage: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<Prerequisite>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    initial: Vec<String>,
}

/// A child without options.
impl From<Value> for DesiredChild {
    fn from(object: Value) -> Self {
        let (ensure, config, stage, after, initial) = <_>::default();
        Self { object, ensure, config, stage, after, initial }
    }
}

/// Whether the child has this content, and no options.
impl PartialEq<Value> for DesiredChild {
    fn eq(&self, object: &Value) -> bool {
        self.is_plain() && self.object == *object
    }
}

impl DesiredChild {
    fn is_plain(&self) -> bool {
        let Self { object: _, ensure, config, stage, after, initial } = self;
        let is_ordered = !is_first(stage) || !after.is_empty();
        !ensure && config.is_none() && !is_ordered && initial.is_empty()
    }
}

impl Serialize for DesiredChild {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { object, ensure, config, stage, after, initial } = self;
        if self.is_plain() {
            return object.serialize(serializer);
        }
        let (ensure, config, stage) = (*ensure, *config, *stage);
        let (after, initial) = (after.clone(), initial.clone());
        WithOptions { object, ensure, config, stage, after, initial }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DesiredChild {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.get("object").is_none() || value.get("apiVersion").is_some() {
            return Ok(value.into());
        }
        let child = WithOptions::deserialize(value).map_err(de::Error::custom)?;
        let WithOptions { object, ensure, config, stage, after, initial } = child;
        Ok(Self { object, ensure, config, stage, after, initial })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_first(stage: &usize) -> bool {
    *stage == 0
}

/// The object may be a Secret.
impl fmt::Debug for DesiredChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object: _, ensure, config, stage, after, initial } = self;
        let order = format!("stage: {stage}, after: {after:?}");
        write!(
            f,
            "DesiredChild(ensure: {ensure}, config: {config:?}, {order}, initial: {initial:?})"
        )
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
        let after = vec![Prerequisite::new(("v1", "Secret"), "a")];
        let ordered = DesiredChild { stage: 2, after, ..object().into() };
        let initial = vec!["/spec/replicas".to_owned()];
        let with_initial = DesiredChild { initial, ..object().into() };
        for child in [ensured, with_config, ordered, with_initial] {
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
