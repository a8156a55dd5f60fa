//! Leases.

use super::field::{Errors, Field};

/// The specification of a lease.
pub(super) fn spec(spec: &Field, errors: &mut Errors) {
    if let Some(seconds) = spec.given("leaseDurationSeconds")
        && seconds.number() <= 0
    {
        errors.push(seconds.invalid("must be greater than 0"));
    }
    spec.integer("leaseTransitions").is_not_negative(errors);
    let (strategy, holder) = (spec.child("strategy"), spec.string("preferredHolder"));
    if strategy.is_given() {
        // The real server names the field twice.
        let strategy = strategy.named(strategy.at().child("strategy"));
        if strategy.text().contains('/') {
            strategy.is_qualified(errors);
        } else {
            strategy.is_one_of(&["OldestEmulationVersion"], errors);
        }
    }
    if !holder.is_empty() && strategy.is_empty() {
        errors.push(holder.forbidden("may only be specified if `strategy` is defined"));
    }
}
