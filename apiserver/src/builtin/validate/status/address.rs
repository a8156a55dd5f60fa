//! The addresses that a load balancer gives to services and ingresses.

use super::super::{
    field::{Errors, Field},
    ip,
};
use crate::schema::name_rule;

/// Only a service that asks for a load balancer is given one.
pub(super) fn of_service(service: &Field, errors: &mut Errors) {
    let list = service.child("status").child("loadBalancer").child("ingress");
    let is_balanced = service.child("spec").string("type").text() == "LoadBalancer";
    if !is_balanced && !list.is_empty() {
        errors.push(list.forbidden("may only be used when `spec.type` is 'LoadBalancer'"));
        return;
    }
    for entry in list.items() {
        let (address, mode) = (entry.string("ip"), entry.child("ipMode"));
        if !address.is_empty() {
            ip::address(&address, errors);
        }
        match (mode.is_given(), !address.is_empty()) {
            (false, true) => errors.push(mode.required("must be specified when `ip` is set")),
            (true, false) => {
                errors.push(mode.forbidden("may not be specified when `ip` is not set"));
            }
            (true, true) => mode.is_one_of(&["Proxy", "VIP"], errors),
            (false, false) => {}
        }
        host(&entry, errors);
    }
}

/// The addresses of an ingress.
pub(super) fn of_ingress(ingress: &Field, errors: &mut Errors) {
    let list = ingress.child("status").child("loadBalancer").child("ingress");
    for entry in list.items() {
        let address = entry.string("ip");
        if !address.is_empty() {
            ip::address(&address, errors);
        }
        host(&entry, errors);
    }
}

fn host(entry: &Field, errors: &mut Errors) {
    let host = entry.string("hostname");
    host.follows_unless_empty(name_rule::dns_subdomain, errors);
    if ip::parse(host.text()).is_some() {
        errors.push(host.invalid("must be a DNS name, not an IP address"));
    }
}
