//! Nobody approves or signs requests for certificates of a signer that is not entrusted to them: the right to update
//! `certificatesigningrequests/approval` or `/status` is not enough.
//!
//! As the admission plugins `CertificateApproval` and `CertificateSigning` of kube-apiserver decide.

use serde_json::Value;

use super::{
    attributes::{Attributes, ResourceTarget},
    escalation::Writer,
};
use crate::{group_resource::GroupResource, schema::go_value::quote, status::StatusError};

/// What somebody does to a request for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Approve,
    Sign,
}

impl Writer<'_> {
    /// Refuses a change of a request for a certificate by somebody who may not do this for its signer: by name, or
    /// for all of its domain.
    pub(crate) fn check_signing(
        &self,
        what: Signing,
        resource: &GroupResource,
        live: &Value,
    ) -> Result<(), StatusError> {
        let verb = match what {
            Signing::Approve => "approve",
            Signing::Sign => "sign",
        };
        // The signer of the stored object: a change of it is refused elsewhere.
        let signer = live["spec"]["signerName"].as_str().unwrap_or_default();
        let domain = signer.split_once('/').map_or(signer, |(domain, _)| domain);
        if self.may_for(verb, resource, signer)
            || self.may_for(verb, resource, &format!("{domain}/*"))
        {
            return Ok(());
        }
        let why =
            format!("user not permitted to {verb} requests with signerName {}", quote(signer));
        let name = live["metadata"]["name"].as_str().unwrap_or_default();
        Err(StatusError::forbidden(resource, name, &why))
    }

    fn may_for(&self, verb: &str, resource: &GroupResource, signer: &str) -> bool {
        let target = ResourceTarget {
            group: resource.group.clone(),
            resource: "signers".to_owned(),
            name: signer.to_owned(),
            ..ResourceTarget::default()
        };
        self.authorizer.decide(self.log, self.user, &Attributes::resource(verb, target)).allowed
    }
}
