//! A parameter of the query that asks for more work: `?diff`, `?diff=1` and `?diff=true`.

use serde::{Deserialize, Deserializer, de::Error};

/// Whether it is on. Off without the parameter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Switch(pub(super) bool);

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            "" | "1" | "true" => Ok(Self(true)),
            "0" | "false" => Ok(Self(false)),
            other => Err(D::Error::custom(format!("`{other}` is neither `true` nor `false`"))),
        }
    }
}
