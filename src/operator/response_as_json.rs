//! Parses responses from JSON, for handlers in other processes and recorded tests. All parts are fields of one
//! object; `children` is required, as unlisted children are deleted.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::{Decoration, DecoratorResponse, DesiredChild, HandlerEvent, Stage, SyncResponse};

#[derive(Deserialize)]
struct Wire<S> {
    status: Option<S>,
    children: Vec<DesiredChild>,
    resync: Option<Duration>,
    #[serde(default)]
    events: Vec<HandlerEvent>,
    #[serde(default)]
    stages: Vec<Stage>,
    #[serde(flatten)]
    decoration: Decoration,
    unserializable: Option<String>,
}

impl<S> From<Wire<S>> for DecoratorResponse<S> {
    fn from(wire: Wire<S>) -> Self {
        let Wire { status, children, resync, events, stages, decoration, unserializable } = wire;
        let response = SyncResponse { status, children, resync, events, stages, unserializable };
        response.decorating(decoration)
    }
}

impl<'de, S: Deserialize<'de>> Deserialize<'de> for DecoratorResponse<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Wire::deserialize(deserializer)?.into())
    }
}

/// Refuses what only a [`DecoratorResponse`] has: it would get lost.
impl<'de, S: Deserialize<'de>> Deserialize<'de> for SyncResponse<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let DecoratorResponse { response, decoration } =
            DecoratorResponse::deserialize(deserializer)?;
        if decoration != Decoration::default() {
            return Err(D::Error::custom(
                "only a decorator returns `labels`, `annotations` or `replicas`: parse a `DecoratorResponse`",
            ));
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn the_response_of_a_decorator_is_one_flat_object() {
        let decoration = Decoration::new().label("l", "1").annotation("a", "2").hold_replicas(0);
        let response = SyncResponse::status(json!({"a": 1})).then().decorating(decoration);
        let json = json!({
            "status": {"a": 1}, "children": [], "resync": null, "stages": to_value(&response.response.stages).unwrap(),
            "labels": {"l": "1"}, "annotations": {"a": "2"}, "replicas": 0,
        });
        assert_eq!(to_value(&response).unwrap(), json);
        assert_eq!(from_value::<DecoratorResponse>(json).unwrap(), response);
        let plain = json!({"status": null, "children": [], "resync": null});
        assert_eq!(to_value(DecoratorResponse::from(SyncResponse::new())).unwrap(), plain);
    }

    #[test]
    fn a_label_is_not_lost_when_the_response_of_an_owner_is_parsed() {
        for part in [
            json!({"labels": {"a": "1"}}),
            json!({"annotations": {"a": "1"}}),
            json!({"replicas": 1}),
        ] {
            let mut json = part;
            json["children"] = json!([]);
            let error = from_value::<SyncResponse>(json).unwrap_err().to_string();
            assert!(error.contains("parse a `DecoratorResponse`"), "{error}");
        }
    }
}
