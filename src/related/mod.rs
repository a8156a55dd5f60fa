//! Related objects: which parents read which objects that they do not own, and what has to be watched for
//! that.
//!
//! Layer 3. No I/O: reconciles ask, an actor watches, and both share these values under locks that are held
//! for look-ups only.
//!
//! ```text
//! reconcile --ask--> Reads (of an operator) --first, last asker--> Source (of a type) --poke--> actor
//!     ^                |                                             |        ^
//!     |                +-- Index: object -> parents                  |        +-- feeds: watches, stores
//!     +------------------------- FoundRelated: objects, waiting, unavailable
//! ```
//!
//! Invariants:
//! - a parent is in the index before it reads, so that every later change wakes it;
//! - a look-up for a change costs the same for ten parents and for ten thousand;
//! - a store holds only what is asked for, and nothing that nobody asks for any more;
//! - what is asked for is known, or fetched by the actor: what it is told to drop has to be fetched again.

mod feeds;
mod index;
mod look;
mod reads;
mod source;

pub(crate) use feeds::{FeedKey, MOST, SourceSpec, wanted};
pub(crate) use look::FeedState;
pub(crate) use reads::{FoundRelated, Reads, ShownRead};
pub(crate) use source::Source;
