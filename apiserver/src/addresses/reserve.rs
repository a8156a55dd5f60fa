//! The steps of one reservation: address, node ports, the port of health checks.

use std::{net::Ipv4Addr, sync::MutexGuard};

use serde_json::{Value, json};

use super::asked::{Asked, Refusal, Taken};
use crate::{
    builtin,
    schema::{FieldError, FieldPath},
};

/// The address that a dry run shows.
const DRY_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
/// The port before the first that a dry run shows.
const DRY_PORT: i64 = 32_768;

pub(super) struct Step<'a> {
    taken: MutexGuard<'a, Taken>,
    asked: Asked<'a>,
    addresses: Vec<Ipv4Addr>,
    ports: Vec<i64>,
}

impl<'a> Step<'a> {
    pub(super) fn new(taken: MutexGuard<'a, Taken>, asked: Asked<'a>) -> Self {
        Self { taken, asked, addresses: Vec::new(), ports: Vec::new() }
    }

    pub(super) fn into_reserved(self) -> (Vec<Ipv4Addr>, Vec<i64>) {
        (self.addresses, self.ports)
    }

    /// An address is given once, when a Service is created or gets a type that has one.
    pub(super) fn address(&mut self, service: &mut Value) -> Result<(), Refusal> {
        let had_none = self.asked.live.is_none_or(|live| !builtin::has_cluster_ip(live));
        if !had_none || !builtin::has_cluster_ip(service) {
            return Ok(());
        }
        if builtin::needs_cluster_ip(service) {
            let address = self.free_address(service)?;
            builtin::set_cluster_ip(service, address);
            return Ok(());
        }
        let Some(address) = builtin::cluster_ip(service) else { return Ok(()) };
        self.refuse_address(address).map_or(Ok(()), |why| {
            let detail = format!("failed to allocate IP {address}: {why}");
            let (path, value) = (FieldPath::new("spec.clusterIPs"), &service["spec"]["clusterIPs"]);
            Err(Refusal::Invalid(FieldError::invalid(&path, value, detail)))
        })?;
        if !self.asked.dry_run {
            self.taken.addresses.insert(address);
            self.addresses.push(address);
        }
        Ok(())
    }

    /// Ports on every node. Ports of one number share theirs in a new Service.
    pub(super) fn node_ports(&mut self, service: &mut Value) -> Result<(), Refusal> {
        if !builtin::has_node_ports(service) {
            return Ok(());
        }
        match self.asked.live {
            None => self.new_node_ports(service),
            Some(live) => self.changed_node_ports(service, &builtin::node_ports(live)),
        }
    }

    /// The port at which load balancers ask a node whether it has the Service.
    pub(super) fn health_check(&mut self, service: &mut Value) -> Result<(), Refusal> {
        let had_one = self.asked.live.is_some_and(builtin::has_health_check);
        if had_one || !builtin::has_health_check(service) {
            return Ok(());
        }
        let wanted = service["spec"]["healthCheckNodePort"].as_i64().unwrap_or_default();
        let port = match wanted {
            0 => self.next_port().map_err(|why| {
                Refusal::Internal(format!("failed to allocate a HealthCheck NodePort 0: {why}"))
            })?,
            wanted => {
                let refused = |why| {
                    let what =
                        format!("failed to allocate requested HealthCheck NodePort {wanted}");
                    Refusal::Internal(format!("{what}: {why}"))
                };
                self.port(wanted).map_err(refused)?;
                wanted
            }
        };
        service["spec"]["healthCheckNodePort"] = json!(port);
        Ok(())
    }

    fn free_address(&mut self, service: &Value) -> Result<Ipv4Addr, Refusal> {
        if self.asked.dry_run {
            return Ok(DRY_ADDRESS);
        }
        self.taken.hint = self.taken.hint.wrapping_add(1);
        let free = builtin::free_address(&self.taken.addresses, self.taken.hint);
        let Some(address) = free else {
            let name = service["metadata"]["name"].as_str().unwrap_or_default();
            let why =
                format!("failed to allocate a serviceIP for Service \"{name}\": range is full");
            return Err(Refusal::Internal(why));
        };
        self.taken.addresses.insert(address);
        self.addresses.push(address);
        Ok(address)
    }

    fn refuse_address(&self, address: Ipv4Addr) -> Option<String> {
        let is_served = builtin::is_in_range(address, self.asked.ranges);
        if self.asked.dry_run {
            let range = builtin::ADDRESS_RANGE;
            return (!is_served).then(|| {
                format!(
                    "the provided IP ({address}) is not in the valid range. \
                     The range of valid IPs is {range}"
                )
            });
        }
        if !is_served {
            return Some("the provided network does not match the current range".to_owned());
        }
        let is_taken = self.taken.addresses.contains(&address);
        is_taken.then(|| "provided IP is already allocated".to_owned())
    }

    fn new_node_ports(&mut self, service: &mut Value) -> Result<(), Refusal> {
        let allocates = builtin::allocates_node_ports(service);
        let numbers = builtin::port_numbers(service);
        let mut shared: Vec<(i64, i64)> = Vec::new();
        for (at, (port, given)) in numbers.iter().copied().enumerate() {
            if given == 0 && !allocates {
                continue;
            }
            let of_port = shared.iter().find(|(other, _)| *other == port).map(|(_, node)| *node);
            let node = match of_port {
                Some(node) if given == 0 || given == node => node,
                Some(_) => self.named_port(at, given)?,
                None => {
                    let mut later =
                        numbers.iter().filter(|(other, node)| *other == port && *node != 0);
                    let node = match later.next() {
                        Some((_, node)) => self.named_port(at, *node)?,
                        None => self.next_node_port()?,
                    };
                    shared.push((port, node));
                    node
                }
            };
            builtin::set_node_port(service, at, node);
        }
        Ok(())
    }

    fn changed_node_ports(&mut self, service: &mut Value, before: &[i64]) -> Result<(), Refusal> {
        let allocates = builtin::allocates_node_ports(service);
        let mut seen = Vec::new();
        for (at, (_, given)) in builtin::port_numbers(service).into_iter().enumerate() {
            if given == 0 && !allocates {
                continue;
            }
            let node = match given {
                0 => self.next_node_port()?,
                given if before.contains(&given) || self.ports.contains(&given) => given,
                given => self.named_port(at, given)?,
            };
            builtin::set_node_port(service, at, node);
            let protocol = service["spec"]["ports"][at]["protocol"].as_str().unwrap_or_default();
            let pair = (protocol.to_owned(), node);
            if seen.contains(&pair) {
                let (protocol, node) = pair;
                return Err(Refusal::Twice(format!("duplicate nodePort: {{{protocol} {node}}}")));
            }
            seen.push(pair);
        }
        Ok(())
    }

    fn next_node_port(&mut self) -> Result<i64, Refusal> {
        let refused = |why| Refusal::Internal(format!("failed to allocate a nodePort: {why}"));
        self.next_port().map_err(refused)
    }

    fn named_port(&mut self, at: usize, port: i64) -> Result<i64, Refusal> {
        self.port(port).map(|()| port).map_err(|why| {
            let path = FieldPath::new("spec.ports").index(at).child("nodePort");
            Refusal::Invalid(FieldError::invalid(&path, &json!(port), why))
        })
    }

    /// A port that is asked for. A dry run does not look at the range.
    fn port(&mut self, port: i64) -> Result<(), String> {
        let range = builtin::NODE_PORTS;
        if !self.asked.dry_run && !range.contains(&port) {
            let (first, last) = (range.start(), range.end());
            return Err(format!(
                "provided port is not in the valid range. \
                 The range of valid ports is {first}-{last}"
            ));
        }
        if self.taken.ports.contains(&port) || self.ports.contains(&port) {
            return Err("provided port is already allocated".to_owned());
        }
        self.occupy(port);
        Ok(())
    }

    fn next_port(&mut self) -> Result<i64, &'static str> {
        let port = if self.asked.dry_run {
            self.ports.iter().max().copied().unwrap_or(DRY_PORT) + 1
        } else {
            builtin::free_node_port(&self.taken.ports).ok_or("range is full")?
        };
        self.occupy(port);
        Ok(port)
    }

    fn occupy(&mut self, port: i64) {
        self.ports.push(port);
        if !self.asked.dry_run {
            self.taken.ports.insert(port);
        }
    }
}
