//! Data directories: what survives a restart and a crash, and what is refused.

mod crash;
mod folder;
mod refusals;
mod restart;
