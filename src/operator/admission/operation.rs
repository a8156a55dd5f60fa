//! What is done with an object.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a client asks the API server to do, as in `operations` of a webhook configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object, or a subresource of it, is changed: also by a patch or by server-side apply.
    Update,
    /// The object is deleted; of a collection each object on its own.
    Delete,
    /// A connection to a subresource such as `pods/exec`.
    Connect,
}

impl fmt::Display for Operation {
    /// As the API server writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        })
    }
}
