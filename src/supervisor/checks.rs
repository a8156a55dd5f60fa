//! What is refused before anything is started.

use std::{collections::BTreeSet, net::ToSocketAddrs};

use super::{RunError, external::ExternalChanges};
use crate::operator::{AnyOperator, ConfigError};

/// Refuses operators that cannot work, alone or together.
pub(super) fn check(operators: &[AnyOperator]) -> Result<(), RunError> {
    let mut names = BTreeSet::new();
    for (index, AnyOperator { config, handler }) in operators.iter().enumerate() {
        config.validate()?;
        config.validate_handler(handler)?;
        if !names.insert(&config.name) {
            return Err(ConfigError::Duplicate(config.name.clone()).into());
        }
        for earlier in &operators[..index] {
            config.validate_beside(&earlier.config)?;
        }
    }
    Ok(())
}

/// Refuses changes for operators that never exist.
pub(super) fn check_external(
    external: &[ExternalChanges],
    operators: &[AnyOperator],
) -> Result<(), RunError> {
    let is_known = |name: &str| operators.iter().any(|it| it.config.name == name);
    match external.iter().find(|changes| !is_known(&changes.operator)) {
        Some(changes) => Err(RunError::ExternalOperator(changes.operator.clone())),
        None => Ok(()),
    }
}

/// Called before the port is bound, which would open it.
pub(super) fn refuse_exposure(address: &str) -> Result<(), RunError> {
    // An invalid address is an error of `web::listen`.
    let mut addresses = address.to_socket_addrs().into_iter().flatten();
    match addresses.find(|address| !address.ip().is_loopback()) {
        Some(exposed) => Err(RunError::Exposed(exposed)),
        None => Ok(()),
    }
}
