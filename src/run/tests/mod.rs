//! Machines against an API server in memory: no sockets, no clock, no threads.
//!
//! ```text
//! world, fields, faults   the server, and what goes wrong with its answers
//! caches                  what a machine may look at
//! driver                  performs effects, tells machines what came of them
//! scene, text, scripts    reconciles as text: tests/testdata/run
//! thousand                a thousand reconciles by chance
//! ```

mod caches;
mod driver;
mod faults;
mod fields;
mod scene;
mod scripts;
mod text;
mod thousand;
mod world;
