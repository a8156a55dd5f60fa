//! Why there are no credentials.

use rustls::pki_types::pem;

use crate::persistence::DataDirectoryError;

/// Credentials could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The certificate.
    #[error("the certificate cannot be made")]
    Certificate(#[from] rcgen::Error),
    /// The authority.
    #[error("the certificate authority cannot be used: {0}")]
    Authority(String),
    /// The TLS settings.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// A certificate or key that cannot be read.
    #[error("a certificate or key cannot be read: {0}")]
    Pem(#[from] pem::Error),
    /// The key that signs tokens.
    #[error("the key of tokens cannot be used: {0}")]
    TokenKey(String),
    /// The data directory.
    #[error(transparent)]
    DataDirectory(#[from] DataDirectoryError),
    /// The token.
    #[error("the operating system gives no random bytes: {0}")]
    Random(getrandom::Error),
}
