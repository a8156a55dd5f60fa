//! Conversion webhooks: custom resources in versions that only their author can translate.
//!
//! ```text
//!  stored form ─ Resource::decode ─ known? ─ yes ──────────────> the other form
//!                                     └ no ─ Converter ─ call ─┘
//! ```
//!
//! A conversion is part of reading an object, deep inside of a request, so that the caller of webhooks is found
//! by thread: [`within`] sets it for the request that the thread answers, and returns what failed. Elsewhere
//! only known forms are found; a watch makes them known before it sends them.
//!
//! **Invariants.** A form is known by uid and version, so that an object is converted once. A request during
//! which a conversion failed is answered with that failure, and stores nothing ([`check`]).

mod converter;
mod known;
mod thread;

pub(crate) use self::{
    converter::Converter,
    thread::{check, within},
};
