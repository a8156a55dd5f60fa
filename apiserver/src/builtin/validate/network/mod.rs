//! Services and what leads to them: addresses, endpoints, ingresses, policies.
//!
//! ```text
//! service --> ports, cluster_ip, load_balancer
//! ingress, ingress_class, policy, endpoints, endpoint_slice, ip_address, service_cidr
//! ```
//!
//! **Invariants**: whether an address is free is not asked here (see `addresses`).

pub(super) mod cluster_ip;
pub(super) mod endpoint_slice;
pub(super) mod endpoints;
pub(super) mod ingress;
pub(super) mod ingress_class;
mod load_balancer;
pub(super) mod policy;
pub(super) mod range;
pub(super) mod service;
mod service_port;
