//! Fields of which a child has only the first value from its operator.

use super::{DesiredChild, FinalizeResponse, SyncResponse};

impl<S> SyncResponse<S> {
    /// The last child has this field only as a start: another manager may change it, and keeps it then. For the replicas
    /// of a workload that a `HorizontalPodAutoscaler` or `kubectl scale` changes.
    ///
    /// `pointer` is a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) to a field outside of
    /// `metadata` and `status`, and not within a list.
    ///
    /// | the child | the field |
    /// |---|---|
    /// | does not exist | has the value that the handler returned, if any |
    /// | exists, and nobody else changed the field | keeps the value that it has, whatever the handler returns |
    /// | another manager changed the field | belongs to that manager, and is not applied any more |
    ///
    /// So a field that was returned without this call keeps its value when the call is added, also if the handler returns
    /// no value for it any more. Applying it never takes it back from a manager that changes it meanwhile: that write
    /// has the version of the child as a precondition.
    ///
    /// The response is refused if the pointer is not valid, and if no child was added before.
    ///
    /// ```
    /// use operetta::prelude::*;
    /// use serde_json::json;
    ///
    /// let deployment = json!({
    ///     "apiVersion": "apps/v1", "kind": "Deployment",
    ///     "metadata": {"name": "web"}, "spec": {"replicas": 3},
    /// });
    /// let response = SyncResponse::new().child(deployment).initial_field("/spec/replicas");
    /// # assert_eq!(response.children[0].initial, ["/spec/replicas"]);
    /// ```
    #[must_use]
    pub fn initial_field(mut self, pointer: &str) -> Self {
        mark(&mut self.children, pointer, &mut self.unserializable);
        self
    }
}

impl FinalizeResponse {
    /// The last child has this field only as a start, see [`SyncResponse::initial_field`].
    #[must_use]
    pub fn initial_field(mut self, pointer: &str) -> Self {
        mark(&mut self.children, pointer, &mut self.unserializable);
        self
    }
}

fn mark(children: &mut [DesiredChild], pointer: &str, unserializable: &mut Option<String>) {
    if let Some(child) = children.last_mut() {
        child.initial.push(pointer.to_owned());
    } else {
        let why = format!("`initial_field` {pointer:?} follows no child: call it after `child`");
        unserializable.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_without_a_child_is_reported() {
        let response = SyncResponse::new().initial_field("/spec/replicas");
        let finalizing = FinalizeResponse::done().initial_field("/spec/replicas");
        let why = r#"`initial_field` "/spec/replicas" follows no child: call it after `child`"#;
        assert_eq!(response.unserializable.as_deref(), Some(why));
        assert_eq!(finalizing.unserializable.as_deref(), Some(why));
    }
}
