//! Connections: how many there may be, whose they are, and which are closed for holding a place
//! for nothing. What is said on them is up to the HTTP library.
//!
//! ```text
//!              enter                      on_connect              busy, until the answer is sent
//! accepted ----------> pool: a place ----> Conversation ---------> Traffic
//!                       | full: the longest idle one goes,          |
//!                       | else a reserved place                     v
//!                       +---------------------------------------> cut_off: closes the socket
//! ```
//!
//! Invariants:
//! - who probes is answered, however many others hold connections, idle or not: an idle connection
//!   makes room for a new one, and where none is idle some places are kept for probes;
//! - what is accepted leaves the pool when its stream is dropped, also before TLS is agreed upon.

mod conversation;
mod frames;
mod pool;
mod traffic;

pub(super) use self::{
    conversation::Conversation,
    pool::Place,
    traffic::{Slots, busy, end, end_when_stalled, place},
};
