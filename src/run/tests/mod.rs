//! Machines against an API server in memory: no sockets, no clock, no threads.
//!
//! ```text
//! world, fields, faults   the server, and the faults of its answers
//! caches                  the snapshot of a machine
//! driver                  performs effects, delivers their events
//! script, text, scripts   reconciles as text: tests/testdata/run
//! thousand                a thousand random reconciles
//! ```

mod caches;
mod driver;
mod faults;
mod fields;
mod script;
mod scripts;
mod text;
mod thousand;
mod world;
