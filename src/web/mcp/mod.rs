//! `/mcp`: the endpoint for AI assistants, by the Model Context Protocol. Its tools answer what the HTTP API answers, as
//! short texts. It is off unless the program switches it on.
//!
//! `rmcp` knows the protocol: its versions, its messages and the rules of its transport. Here are the tools.
//!
//! ```text
//!               transport            protocol              tools
//! POST /mcp --> one message --rmcp--> tools/list --------> the table: names, arguments, hints, permissions
//!                                     tools/call --+----->   |
//!                                                  v         v
//!                         arguments --> perform --+--> lists  --+
//!                    client (may? audit) --^      +--> parent --+--> answers: less than 2 KB --> text
//!                                                 +--> happened +
//!                                                 +--> commands of the HTTP API
//! ```
//!
//! Invariants:
//! - A tool does nothing that its user may not do by the HTTP API: before it reads or commands anything, the permission
//!   for the same request there is checked (`requests`), by the same reviews.
//! - A command is a line of the audit log, with the method and path of that request.
//! - An answer is less than 2 KB. Of what does not fit it says how much there is, and how to ask for it.
//! - It shows values that the HTTP API shows, which are redacted, and nothing else.
//! - Nothing is kept between two messages: there are no sessions, and a connection has no rights.
//! - `rmcp` never gets credentials: of the headers it gets those of the protocol.

mod answers;
mod arguments;
mod client;
mod happened;
mod lists;
mod map;
mod parent;
mod perform;
mod protocol;
mod requests;
mod tools;
mod transport;

pub(super) use transport::ENDPOINTS;

#[cfg(test)]
pub(super) use tools::documented;
