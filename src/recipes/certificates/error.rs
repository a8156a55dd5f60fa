//! Why there is no certificate.

/// A certificate cannot be made or read. No key is quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// A Secret has no certificate and key in `tls.crt` and `tls.key`, in PEM.
    #[error("`{0}` is not readable as PEM: delete the Secret to have another one made")]
    Unreadable(&'static str),
    /// The authority signs what its own certificate does not verify.
    #[error(
        "the key and the certificate of the authority do not belong together: delete its Secret to have another one made"
    )]
    Mismatched,
    /// A name is not one that a certificate can have.
    #[error("`{0}` is not the name of a host")]
    InvalidName(String),
    /// The certificate would be over before it has begun.
    #[error(
        "the certificate would not be valid: its life is too short, or its authority has expired"
    )]
    NotValid,
    /// The cryptography failed, such as for lack of randomness.
    #[error("cannot make a certificate: {0}")]
    Failed(String),
}

impl From<rcgen::Error> for CertificateError {
    fn from(error: rcgen::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
