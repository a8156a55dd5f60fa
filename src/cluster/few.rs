//! Lists a few objects of a namespace, which are not cached: only users look at them.

use serde_json::Value;

use super::{Cluster, api::ApiRequest};
use crate::{object::K8sType, reply::ApiError};

/// The most objects of an answer.
const LIMIT: u32 = 100;
const MAX_ANSWER: usize = 8 << 20;

/// Which objects of a type and namespace are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which<'a> {
    All,
    /// By a label selector.
    Labelled(&'a str),
    /// By name: who may list a type may not always get an object of it.
    Named(&'a str),
}

impl Cluster {
    /// At most 100 objects of a type.
    pub(crate) async fn few(
        &self,
        ty: &K8sType,
        namespace: Option<&str>,
        which: Which<'_>,
    ) -> Result<Vec<Value>, ApiError> {
        let request = ApiRequest::get("list", ty, ty.collection_path(namespace))
            .with_query("limit", LIMIT.to_string());
        let mut request = match which {
            Which::All => request,
            Which::Labelled(selector) => request.with_query("labelSelector", selector),
            Which::Named(name) => {
                request.with_query("fieldSelector", format!("metadata.name={name}"))
            }
        };
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
