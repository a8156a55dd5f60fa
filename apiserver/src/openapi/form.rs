//! The versions of documents, and their form as protobuf.

use super::{message, protobuf};

/// A version of `OpenAPI`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One document.
    Two,
    /// A document for each group version.
    Three,
}

impl Version {
    /// The media type of its protobuf.
    pub(crate) fn protobuf(self) -> &'static str {
        match self {
            Self::Two => "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
            Self::Three => "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
        }
    }

    /// A document in protobuf.
    pub(crate) fn encode(self, document: &[u8]) -> Vec<u8> {
        // Down to the single definitions.
        let (table, levels) = match self {
            Self::Two => (message::VERSION_2, 2),
            Self::Three => (message::VERSION_3, 3),
        };
        protobuf::encode(&message::Messages::new(table), document, levels)
    }
}
