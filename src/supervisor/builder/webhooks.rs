//! The options of webhooks.

#[cfg(feature = "testkit")]
use std::time::Duration;

use super::SupervisorBuilder;
use crate::supervisor::Migration;
#[cfg(feature = "testkit")]
use crate::supervisor::certificates::RotationSettings;
use crate::{
    operator::{admission::Webhook, conversion::Versions},
    web::Tls,
};

impl SupervisorBuilder {
    /// Adds a handler that the API server asks before it stores an object.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operetta::{operator::admission::{Admission, AdmissionRequest, Webhook}, prelude::*, web::Tls};
    ///
    /// fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    ///     Ok(Admission::allow())
    /// }
    ///
    /// let supervisor = Supervisor::builder()
    ///     .webhook(Webhook::validate("no-salt", no_salt))
    ///     .webhooks("0.0.0.0:9443")
    ///     .webhook_tls(Tls::from_files("tls.crt", "tls.key"));
    /// ```
    pub fn webhook(mut self, webhook: Webhook) -> Self {
        self.webhooks.webhooks.push(webhook);
        self
    }

    /// Adds the versions of a type, which the API server lets this process convert. Its CRD has all of them: see
    /// [`manifests::crds_in_versions`](crate::manifests::crds_in_versions).
    pub fn versions(mut self, versions: impl Into<Versions>) -> Self {
        self.webhooks.versions.push(versions.into());
        self
    }

    /// Sets who migrates the objects that are stored in an old version of their type, and how fast. Default is the leader,
    /// with at most 20 writes in a second.
    ///
    /// When the CRD of a type with [`versions`](Self::versions) stores another version than before, it writes each object
    /// again, and then removes the old version from `status.storedVersions` of the CRD. It does so only behind the fence of
    /// the operator whose parents have this type, or of that of the process.
    pub fn migration(mut self, migration: Migration) -> Self {
        self.migration = migration;
        self
    }

    /// Serves the webhooks on this address, for example `0.0.0.0:9443`, always over TLS. Every replica answers, also a
    /// standby.
    ///
    /// On an embedded API server nothing else is needed: the process makes a certificate, and lets the API server call it.
    /// In a cluster the replicas share certificates that they make and renew, in the Secret
    /// `PROGRAM-webhook-certificates`: see [`webhook_service`](Self::webhook_service). It needs the feature `certificates`;
    /// without it see [`webhook_tls`](Self::webhook_tls).
    pub fn webhooks(mut self, address: &str) -> Self {
        self.webhooks.address = Some(address.to_owned());
        self
    }

    /// Names the Service by which the API server calls the webhooks, in the namespace of the program. Default is the name
    /// of the program with `-webhooks`, where it runs in a cluster.
    ///
    /// All replicas serve with the certificates of one Secret, `PROGRAM-webhook-certificates` in that namespace. Whoever is
    /// first makes it, with an authority that signs the serving certificate. Both are renewed when two thirds of their life
    /// are over, without a restart: old and new authority are trusted meanwhile. The process keeps `caBundle` right in the
    /// webhook configurations with the name of the program and in the CRDs of its versions, as the field manager
    /// `operetta-webhooks`. Who deploys the program applies all else of them. It needs the feature `certificates`.
    pub fn webhook_service(mut self, name: &str) -> Self {
        self.webhooks.service = Some(name.to_owned());
        self
    }

    /// Certificates of webhooks that live for so short a time: of the authority, of serving, and the overlap of two
    /// authorities. They have these names beside those of the Service. For the tests of this repository.
    #[cfg(feature = "testkit")]
    #[doc(hidden)]
    pub fn webhook_lifetimes(mut self, lifetimes: [Duration; 3], names: &[&str]) -> Self {
        self.webhooks.rotation = RotationSettings::short(lifetimes, names);
        self
    }

    /// Sets the certificate of the webhooks. The API server checks it against the `caBundle` of the configuration, for the
    /// name `SERVICE.NAMESPACE.svc`. Who deploys the program applies the configurations.
    pub fn webhook_tls(mut self, tls: Tls) -> Self {
        self.webhooks.tls = Some(tls);
        self
    }

    /// Answers webhooks only to clients with a certificate of this authority, in PEM. An API server presents one if the
    /// kubeconfig of its `--admission-control-config-file` names it. By default whoever reaches the port is answered: an
    /// answer changes nothing, and says what the handler thinks of an object that the client has sent.
    pub fn webhook_client_ca(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.webhooks.client_ca = Some(pem.into());
        self
    }

    /// Lets the API server call the webhooks at this address, such as `https://laptop.example:9443`, for a program that runs
    /// outside of its cluster. The process makes a certificate, and applies its configurations and the conversions of its
    /// CRDs as the field manager `operetta-webhooks`. It needs the feature `certificates`.
    pub fn webhook_url(mut self, url: &str) -> Self {
        self.webhooks.url = Some(url.to_owned());
        self
    }

    /// The API server runs in this process.
    #[cfg(feature = "testkit")]
    pub(crate) fn beside_its_api_server(mut self) -> Self {
        self.webhooks.is_local = true;
        self
    }
}
