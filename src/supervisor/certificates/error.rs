//! Why there is no certificate of webhooks, or nobody trusts it.

use crate::{
    object::ObjectKey,
    recipes::CertificateError,
    reply::{ApiError, ErrorClass},
    web::TlsError,
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error("the Secret {secret} with the certificates of the webhooks cannot be read: {}{}", .why.said(), advice(.why, "get, watch, create and update", "secrets"))]
    Read { secret: ObjectKey, why: ApiError },
    #[error("the Secret {secret} with the certificates of the webhooks cannot be written: {}{}", .why.said(), advice(.why, "get, watch, create and update", "secrets"))]
    Write { secret: ObjectKey, why: ApiError },
    #[error(
        "the Secret {0} with the certificates of the webhooks changes all the time: make sure that no other program writes it"
    )]
    Contended(ObjectKey),
    #[error(
        "the Secret {secret} has no `data` that can be read: delete it to have another one made"
    )]
    NoData { secret: ObjectKey },
    #[error("no certificate for the webhooks can be made: {0}")]
    Make(#[from] CertificateError),
    #[error("the certificate in the Secret {secret} cannot be served: {why}")]
    Serve { secret: ObjectKey, why: TlsError },
}

/// Why the API server does not call a webhook, or does not trust this process.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    #[error(
        "{kind} {name} does not exist, so that the API server does not call the webhooks: apply it with the manifests of the \
         program"
    )]
    Missing { kind: String, name: String },
    #[error("{kind} {name} has no {}, so that the API server does not call it: apply it with the manifests of the program", absent.join(", "))]
    Incomplete { kind: String, name: String, absent: Vec<String> },
    #[error("the caBundle of {kind} {name} cannot be set, so that the API server may not trust the webhooks: {}{}", .why.said(), advice(.why, "get, watch and patch", .plural))]
    Refused { kind: String, name: String, plural: String, why: ApiError },
}

impl PublishError {
    /// Whether the rest of the object has the bundle, and nobody calls what is absent.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Incomplete { .. })
    }
}

fn advice(why: &ApiError, verbs: &str, plural: &str) -> String {
    match why.class() {
        ErrorClass::Forbidden => format!(": grant {verbs} of {plural}"),
        _ => String::new(),
    }
}
