//! Which addresses and node ports Services occupy.
//!
//! An address is allocated before the Service is written, and released when the write fails or the
//! Service is deleted.

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use crate::builtin;

/// The allocated addresses and ports.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    node_ports: BTreeSet<u16>,
    hint: u32,
}

/// A Service cannot have an address or port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// None is free.
    Exhausted,
    /// Another Service has the address.
    AddressTaken(Ipv4Addr),
    /// Another Service has the port.
    PortTaken(u16),
}

impl Addresses {
    /// Allocates what a Service lacks or names; `live` is its state before.
    pub(crate) fn allocate(
        &self,
        service: &mut Value,
        live: Option<&Value>,
    ) -> Result<(), Refusal> {
        let mut taken = self.lock();
        taken.check(service, live)?;
        if builtin::needs_cluster_ip(service) {
            taken.hint = taken.hint.wrapping_add(1);
            let address =
                builtin::free_address(&taken.addresses, taken.hint).ok_or(Refusal::Exhausted)?;
            builtin::set_cluster_ip(service, address);
        }
        let wanted = builtin::needs_node_ports(service);
        if wanted > 0 {
            let ports =
                builtin::free_node_ports(&taken.node_ports, wanted).ok_or(Refusal::Exhausted)?;
            builtin::set_node_ports(service, &ports);
        }
        taken.addresses.extend(builtin::cluster_ip(service));
        taken.node_ports.extend(builtin::node_ports(service));
        Ok(())
    }

    /// Occupies what a persisted Service has.
    pub(crate) fn occupy(&self, service: &Value) {
        let mut taken = self.lock();
        taken.addresses.extend(builtin::cluster_ip(service));
        taken.node_ports.extend(builtin::node_ports(service));
    }

    /// Releases what `old` occupied and `new` does not.
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

impl Taken {
    /// Whether all that the Service names is free.
    fn check(&self, service: &Value, live: Option<&Value>) -> Result<(), Refusal> {
        let mine = live.and_then(builtin::cluster_ip);
        let address = builtin::cluster_ip(service).filter(|address| Some(*address) != mine);
        if let Some(address) = address.filter(|address| self.addresses.contains(address)) {
            return Err(Refusal::AddressTaken(address));
        }
        let mine = live.map(builtin::node_ports).unwrap_or_default();
        let ports = builtin::node_ports(service).into_iter().filter(|port| *port != 0);
        let mut others = ports.filter(|port| !mine.contains(port));
        match others.find(|port| self.node_ports.contains(port)) {
            Some(port) => Err(Refusal::PortTaken(port)),
            None => Ok(()),
        }
    }
}
