//! How requests reach the handler: in process, or over TLS on loopback.
//!
//! ```text
//!  https ─> listener ─> connection (TLS, HTTP/1.1 or HTTP/2) ─> answer ─> server
//!                            └ client: whether it is still there ┘
//! ```

mod administrator;
mod answer;
mod client;
mod connection;
mod https;
mod in_process;
mod kubeconfig;
mod last_port;
mod listener;
#[cfg(test)]
mod tests;

pub use self::{
    https::{Running, ServeError},
    in_process::InProcess,
};
