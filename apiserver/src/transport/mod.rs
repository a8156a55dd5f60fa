//! How requests reach the handler: in process, or over TLS on loopback.

mod https;
mod in_process;
mod kubeconfig;
mod last_port;
mod peer;

pub use self::{
    https::{Running, ServeError},
    in_process::InProcess,
};
