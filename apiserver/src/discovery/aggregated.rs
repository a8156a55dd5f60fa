//! The aggregated form: all groups with their resources in one document.

use serde_json::{Value, json};

use super::groups::{self, Group};
use crate::resource::Resources;

/// What follows the media type in the header of such an answer.
pub(crate) const MEDIA_PARAMETERS: &str = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// `/api`.
pub(crate) fn aggregated_core() -> Value {
    let items =
        groups::core().into_iter().map(|core| json!({ "metadata": {}, "versions": core.versions }));
    list(items)
}

/// `/apis`.
pub(crate) fn aggregated(resources: &Resources) -> Value {
    let item = |Group { name, versions }: Group| json!({ "metadata": { "name": name }, "versions": versions });
    list(groups::others(resources).into_iter().map(item))
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items.collect::<Vec<_>>(),
    })
}
