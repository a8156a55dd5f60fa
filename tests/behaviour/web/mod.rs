//! What the web endpoint shows, to whom, and what it can be told to do.

mod access;
mod commands;
mod explain;
mod kubernetes_events;
mod secrets;
