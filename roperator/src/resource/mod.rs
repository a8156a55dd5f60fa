//! Kubernetes objects as JSON, and their names. No I/O.

mod ids;
mod json;
mod object;

pub use ids::{K8sTypeRef, ObjectId, ObjectIdRef};
pub use json::ResourceJson;
pub use object::{InvalidResourceError, K8sResource};

/// A JSON object.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
