//! Shard selectors: the objects of a list or a watch, by the hash of a field.
//!
//! The language is that of kube-apiserver with the feature gate `ShardedListAndWatch`: calls of `shardRange`, joined by
//! `||`. Bounds are texts of 16 digits. The first belongs to the range, the last does not.
//!
//! ```text
//! shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
//! shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')
//! ```

mod bound;
mod error;
mod parse;
mod selector;

pub(crate) use self::selector::ShardSelector;

/// The parameter of requests.
pub(crate) const PARAMETER: &str = "shardSelector";

#[cfg(test)]
mod tests;
