//! Lists a few objects of a namespace, which are not cached: only users look at them.

use serde_json::Value;

use super::{Cluster, api::ApiRequest};
use crate::{object::K8sType, reply::ApiError};

/// The most objects of an answer.
const LIMIT: u32 = 100;
const MAX_ANSWER: usize = 8 << 20;

impl Cluster {
    /// At most 100 objects of a type, by a label selector if there is one.
    pub(crate) async fn few(
        &self,
        ty: &K8sType,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Value>, ApiError> {
        let mut request = ApiRequest::get("list", ty, ty.collection_path(namespace))
            .with_query("limit", LIMIT.to_string());
        if let Some(selector) = selector {
            request = request.with_query("labelSelector", selector);
        }
        request.max_answer = MAX_ANSWER;
        let name = request.name();
        let answer = self.send(request).await?;
        let mut list: Value =
            serde_json::from_slice(&answer).map_err(|error| ApiError::malformed(name, &error))?;
        Ok(match list["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        })
    }
}
