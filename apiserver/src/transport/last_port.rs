//! The port of the last time, in the data directory: a kubeconfig stays valid over a restart.

use std::net::{SocketAddr, TcpListener};

use crate::persistence::{DataDirectoryError, Directory};

/// The file of a data directory with the address.
const FILE: &str = "address";

/// The address to listen on: instead of port 0 the last one, if it is free.
pub(super) fn prefer(address: SocketAddr, directory: Option<&Directory>) -> SocketAddr {
    let last = directory.filter(|_| address.port() == 0).and_then(last_address);
    let last = last.filter(|last| last.ip() == address.ip());
    last.filter(|last| TcpListener::bind(last).is_ok()).unwrap_or(address)
}

/// Remembers an address for the next time.
pub(super) fn remember(
    address: SocketAddr,
    directory: Option<&Directory>,
) -> Result<(), DataDirectoryError> {
    match directory {
        Some(directory) if last_address(directory) != Some(address) => {
            directory.write(FILE, &format!("{address}\n"))
        }
        Some(_) | None => Ok(()),
    }
}

fn last_address(directory: &Directory) -> Option<SocketAddr> {
    // It is only a preference: whatever cannot be read is replaced.
    directory.read(FILE).ok().flatten()?.trim().parse().ok()
}
