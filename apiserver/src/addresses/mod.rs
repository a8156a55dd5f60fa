//! Which addresses and node ports Services occupy.
//!
//! What a Service needs is reserved before it is written, and given back when the write fails. It is released when the
//! Service is deleted or no longer needs it.
//!
//! **Invariant**: nothing is reserved by a dry run.

mod asked;
mod reserve;

use std::{
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

pub(crate) use self::asked::{Asked, Refusal};
use self::{asked::Taken, reserve::Step};
use crate::builtin;

/// The occupied addresses and ports.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<Taken>);

/// What was reserved for a write. It is given back, unless it is kept.
#[derive(Debug, Default)]
pub(crate) struct Reservation<'a> {
    from: Option<&'a Addresses>,
    addresses: Vec<Ipv4Addr>,
    ports: Vec<i64>,
}

impl Addresses {
    /// Reserves what a Service lacks or names.
    pub(crate) fn reserve(
        &self,
        service: &mut Value,
        asked: Asked<'_>,
    ) -> Result<Reservation<'_>, Refusal> {
        let mut step = Step::new(self.lock(), asked);
        let reserved = step.address(service).and_then(|()| step.node_ports(service));
        let reserved = reserved.and_then(|()| step.health_check(service));
        let (addresses, ports) = step.into_reserved();
        let from = (!asked.dry_run).then_some(self);
        let reservation = Reservation { from, addresses, ports };
        // A refusal gives back what came before it.
        reserved.map(|()| reservation)
    }

    /// Occupies what a persisted Service has.
    pub(crate) fn occupy(&self, service: &Value) {
        let mut taken = self.lock();
        taken.addresses.extend(builtin::cluster_ip(service));
        taken.ports.extend(builtin::occupied_ports(service));
    }

    /// Releases what `old` occupied and `new` does not.
    pub(crate) fn release(&self, old: &Value, new: Option<&Value>) {
        let mut taken = self.lock();
        let kept = new.and_then(builtin::cluster_ip);
        if let Some(address) = builtin::cluster_ip(old).filter(|a| Some(*a) != kept) {
            taken.addresses.remove(&address);
        }
        let kept = new.map(builtin::occupied_ports).unwrap_or_default();
        for port in builtin::occupied_ports(old) {
            if !kept.contains(&port) {
                taken.ports.remove(&port);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// The Service is written.
    pub(crate) fn keep(mut self) {
        self.from = None;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let Some(addresses) = self.from else { return };
        let mut taken = addresses.lock();
        for address in &self.addresses {
            taken.addresses.remove(address);
        }
        for port in &self.ports {
            taken.ports.remove(port);
        }
    }
}

#[cfg(test)]
mod tests;
