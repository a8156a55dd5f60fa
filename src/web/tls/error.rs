//! Why a certificate cannot be used.

use std::{io, path::PathBuf};

use rustls::Error;

/// A certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read.
    #[error("cannot read {path}: {why}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why; not a `source`, because the message contains it.
        why: io::Error,
    },
    /// The file is not a certificate.
    #[error("{0} contains no certificate in PEM")]
    NoCertificate(String),
    /// The file is not a key.
    #[error("{0} contains no private key in PEM")]
    NoKey(String),
    /// They do not match, or their kind is not supported.
    #[error("the certificate and the key cannot be used together: {0}")]
    Unusable(Error),
}
