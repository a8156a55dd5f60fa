//! Certificates of a Service, signed by an authority of its own: for webhooks, and between the Pods of an operator.
//!
//! ```text
//! Secret of the authority, or none --Authority::kept_or_new--> Authority --secret_data--> Secret
//!                                                                  |
//! Secret of the Service, or none ----------------------------- serving --> ServingCertificate --secret_data--> Secret
//! ServiceNames --------------------------------------------------+
//! ```
//!
//! `rotation` decides how the certificates in one Secret of several processes are renewed while both are in use.
//!
//! Behind the feature `certificates`. Does no I/O but for randomness; the time is passed in. It is no public key
//! infrastructure: nothing is revoked, and nobody but the clients of the Service trusts the authority.
//!
//! Invariant: a certificate that is returned is valid at the time that was passed in, has all the names, and is
//! verified with the certificate of its authority.

mod authority;
mod error;
mod pair;
mod rotation;
mod service_names;
mod serving;
mod validity;

pub use authority::Authority;
pub use error::CertificateError;
pub use pair::TlsData;
pub(crate) use rotation::{Known, Lifetimes, Reason, Rotation, expiry};
pub use service_names::ServiceNames;
pub use serving::ServingCertificate;

#[cfg(test)]
mod tests;
