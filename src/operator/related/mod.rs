//! Related objects: what a handler reads and does not own.
//!
//! ```text
//! OperatorConfig::related::<Secret>()      the types, for watches and permissions
//! Handler::related(&parent) --> Related    the objects, from the parent alone
//!                                 |
//!                          Related::asks --> Ask, ...   checked, with the namespace of each
//!                                               |
//! SyncRequest::related::<Secret>() <-- the cached objects that these name
//! ```

mod ask;
mod checked;
mod declared;
mod error;
mod options;
mod rules;

pub(crate) use ask::{Ask, Asks, Selected};
pub use declared::RelatedType;
pub use error::RelatedError;
pub use rules::Related;
