//! A request as JSON, for snapshots and records: `{"parent": .., "children": [..], "failures": 0}`.
//! Each object is whole but for `managedFields`, Secrets too.

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{Children, SyncRequest};
use crate::object::Object;

/// As the API server shows it, without `managedFields`.
impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

/// A list, type by type in the order of declaration, each by key.
impl Serialize for Children {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl Serialize for SyncRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { parent, children, failures } = self;
        let mut request = serializer.serialize_struct("SyncRequest", 3)?;
        request.serialize_field("parent", parent)?;
        request.serialize_field("children", children)?;
        request.serialize_field("failures", failures)?;
        request.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::{Value, json};

    use crate::{
        object::K8sType,
        operator::{FinalizeResponse, SyncRequest, SyncResponse},
    };

    #[test]
    fn a_request_is_written_with_whole_objects() {
        let kitchen = K8sType::namespaced("example.dev/v1", "Kitchen", "kitchens");
        let request = SyncRequest::example(&kitchen, json!({"metadata": {"name": "a"}})).unwrap();
        let menu = json!({"metadata": {"name": "menu"}, "data": {"soup": "today"}});
        let request = request.with_child::<ConfigMap>(menu).unwrap();
        let written = serde_json::to_value(&request).unwrap();
        assert_eq!(written["parent"], request.parent.to_value());
        assert_eq!(written["parent"]["kind"], "Kitchen");
        let child = &written["children"][0];
        assert_eq!(
            (&child["apiVersion"], &child["data"]),
            (&json!("v1"), &json!({"soup": "today"}))
        );
        assert_eq!(written["failures"], 0);
    }

    /// The names are those of roperator.
    #[test]
    fn answers_are_written_and_read_again() {
        let answer = SyncResponse::status(json!({"ok": true})).child(json!({"kind": "Odd"}));
        let answer = answer.resync_after(Duration::from_millis(1500));
        let written = serde_json::to_value(&answer).unwrap();
        let resync = json!({"secs": 1, "nanos": 500_000_000});
        let expected =
            json!({"status": {"ok": true}, "children": [{"kind": "Odd"}], "resync": resync});
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<SyncResponse>(written).unwrap(), answer);
        let finalize = FinalizeResponse::retry_after(Duration::from_secs(2));
        let written: Value = serde_json::to_value(&finalize).unwrap();
        assert_eq!(written, json!({"status": null, "retry": {"secs": 2, "nanos": 0}}));
        assert_eq!(serde_json::from_value::<FinalizeResponse>(written).unwrap(), finalize);
        let least: SyncResponse = serde_json::from_value(json!({})).unwrap();
        assert_eq!(least, SyncResponse::new());
    }
}
