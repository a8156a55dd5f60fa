//! Which addresses and node ports Services occupy.
//!
//! An address is taken before the Service is written, and given back when the write fails or the
//! Service ends.

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use crate::builtin;

/// The addresses and ports that are taken.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    node_ports: BTreeSet<u16>,
    hint: u32,
}

/// Nothing is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Addresses {
    /// Gives a Service what it lacks, and takes what it names.
    pub(crate) fn allocate(&self, service: &mut Value) -> Result<(), Exhausted> {
        let mut taken = self.lock();
        if builtin::needs_cluster_ip(service) {
            taken.hint = taken.hint.wrapping_add(1);
            let address = builtin::free_address(&taken.addresses, taken.hint).ok_or(Exhausted)?;
            builtin::set_cluster_ip(service, address);
        }
        let wanted = builtin::needs_node_ports(service);
        if wanted > 0 {
            let ports = builtin::free_node_ports(&taken.node_ports, wanted).ok_or(Exhausted)?;
            builtin::set_node_ports(service, &ports);
        }
        taken.addresses.extend(builtin::cluster_ip(service));
        taken.node_ports.extend(builtin::node_ports(service));
        Ok(())
    }

    /// Takes back what `old` occupied and `new` does not.
    pub(crate) fn release(&self, old: &Value, new: Option<&Value>) {
        let mut taken = self.lock();
        let kept = new.and_then(builtin::cluster_ip);
        if let Some(address) = builtin::cluster_ip(old).filter(|a| Some(*a) != kept) {
            taken.addresses.remove(&address);
        }
        let kept = new.map(builtin::node_ports).unwrap_or_default();
        for port in builtin::node_ports(old) {
            if !kept.contains(&port) {
                taken.node_ports.remove(&port);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
