//! Machines against an API server in memory: no sockets, no clock, no threads.
//!
//! ```text
//! world, fields           the server
//! faults, refusals        the faults of its answers
//! caches                  the snapshot of a machine
//! driver                  performs effects, delivers their events
//! scripts                 reconciles as text: tests/testdata/run
//! table                   the table of `machine` against what the scripts reach
//! options, child_options, changes   its commands
//! script, text, shown     its handler, and its output
//! thousand                a thousand random reconciles
//! simulation              ten thousand processes with children of several types, a random step at a time
//! ```

mod caches;
mod changes;
mod child_options;
mod driver;
mod faults;
mod fields;
mod options;
mod refusals;
mod script;
mod scripts;
mod shown;
mod simulation;
mod table;
mod text;
mod thousand;
mod world;
