//! Requests for certificates: what a request may say, who approves it, and the certificate that follows.
//!
//! ```text
//!  POST ─> identify (who asks) ─> validate, restrict ──────> stored
//!                                                            │ step, by the controller
//!  kubectl certificate approve ─> approval ─────────────────>│
//!                      kubelets: approved by the server ─────┴> signer ─> status.certificate
//! ```
//!
//! Without a request: client (a kubeconfig for a user).
//!
//! **Invariants**: only the four signers of Kubernetes sign, and only what was approved; a certificate is never
//! one of an authority.

mod certificate;
mod client;
mod der;
mod pem;
mod request;
mod requester;
mod signers;
mod step;
mod usage;
mod validate;

pub(crate) use self::{
    client::{ClientCertificate, client_certificate},
    requester::{identify, is_signed_anew, is_signing_request, restrict},
    step::Step,
    validate::{prepare_status, validate_create, validate_update},
};

#[cfg(test)]
mod tests;
