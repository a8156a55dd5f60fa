//! Lists the Events about one object from the API server, whoever created them. They are not cached:
//! there are many, they change often, and only users read them.

use serde_json::Value;

use super::{Cluster, api::ApiRequest};
use crate::{
    object::{K8sType, ObjectEvent, ObjectKey, Uid},
    reply::ApiError,
};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventList {
    /// The Events, in no order.
    pub(crate) events: Vec<ObjectEvent>,
    /// Whether the server has more Events than were read.
    pub(crate) is_cut: bool,
}

/// The maximum number of Events that are read of one object.
const LIMIT: u32 = 500;
/// That many Events usually take a tenth of this.
const MAX_ANSWER: usize = 8 << 20;

impl Cluster {
    /// Lists at most 500 Events about an object. Those about cluster-scoped objects are in the namespace
    /// `default`.
    pub(crate) async fn events_about(
        &self,
        key: &ObjectKey,
        uid: &Uid,
    ) -> Result<EventList, ApiError> {
        let ty = K8sType::namespaced("v1", "Event", "events");
        let namespace = key.namespace.as_deref().unwrap_or("default");
        let path = ty.collection_path(Some(namespace));
        let mut request = ApiRequest::get("list", &ty, path)
            .with_query("fieldSelector", format!("involvedObject.uid={}", escaped(uid)))
            .with_query("limit", LIMIT.to_string());
        request.max_answer = MAX_ANSWER;
        let name = request.name();
        let answer = self.send(request).await?;
        read(&answer).map_err(|error| ApiError::Malformed { request: name, why: error.to_string() })
    }
}

/// Parses into a `Value` first, because such an error names a position and never the content.
fn read(answer: &[u8]) -> Result<EventList, serde_json::Error> {
    let list: Value = serde_json::from_slice(answer)?;
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_cut = list["metadata"]["continue"].as_str().is_some_and(|token| !token.is_empty());
    Ok(EventList { events: items.iter().map(ObjectEvent::read).collect(), is_cut })
}

/// Escapes what would end the selector, although servers create no such uids.
fn escaped(uid: &Uid) -> String {
    uid.to_string().replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_with_a_continue_token_is_marked_as_cut() {
        let list = |metadata: Value| {
            let list = json!({"metadata": metadata, "items": [{"reason": "A"}, {"reason": "B"}]});
            read(list.to_string().as_bytes()).unwrap()
        };
        let whole = list(json!({"resourceVersion": "7", "continue": ""}));
        let reasons: Vec<&str> = whole.events.iter().map(|event| event.reason.as_str()).collect();
        assert_eq!((reasons, whole.is_cut), (vec!["A", "B"], false));
        assert!(list(json!({"continue": "x"})).is_cut);
    }

    #[test]
    fn the_error_about_invalid_json_does_not_contain_the_answer() {
        let error = read(b"{\"items\": sentinel").unwrap_err();
        assert!(!error.to_string().contains("sentinel"), "{error}");
    }

    #[test]
    fn a_uid_cannot_end_the_selector() {
        assert_eq!(escaped(&Uid::new("a,b=c\\")), "a\\,b\\=c\\\\");
    }
}
