//! Limits connections, per client and in total, and closes those that are idle or stuck. The HTTP
//! library handles what is sent on them.
//!
//! ```text
//!              enter                      on_connect              busy, until the answer is sent
//! accepted ----------> pool: a slot -----> Connection ----------> Traffic
//!                       | full: the longest idle one is closed,    |
//!                       | else a reserved slot                     v
//!                       +--------------------------------------> close_idle: closes the socket
//! ```
//!
//! Invariants:
//! - Probes are answered, however many connections are open: a new connection replaces an idle one,
//!   and some slots are reserved for probes.
//! - A connection leaves the pool when its stream is dropped, also before the TLS handshake.

mod frames;
mod pool;
mod stream;
mod traffic;

pub(super) use self::{
    pool::SlotKind,
    stream::Connection,
    traffic::{Slots, busy, end, end_when_stalled, slot_kind},
};
