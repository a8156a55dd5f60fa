//! The web endpoint: its views, access and commands.

mod access;
mod activity;
mod commands;
mod explain;
mod forged;
mod kubernetes_events;
mod mcp;
mod secrets;
