//! `deploy/crds.yaml`: the CRDs of the parent types, in all versions that the program converts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{
    header::header,
    only::{ChoiceError, left_out, only},
};
use crate::{
    manifests::{
        self, ManifestError, Permissions, SERVICE_PORT, WebhookReach, to_yaml, webhook_service,
    },
    operator::{AnyOperator, admission::Webhook, conversion::Versions},
    supervisor::SupervisorBuilder,
};

/// What a program says of its types beside its operators.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    /// The name of the program.
    pub(super) program: String,
    pub(super) webhooks: Vec<Webhook>,
    pub(super) versions: Vec<Versions>,
    /// The port at which it answers webhooks.
    port: Option<u16>,
    /// The address of its webhooks, where they are not behind a Service.
    url: Option<String>,
}

impl Types {
    pub(super) fn of(supervisor: &SupervisorBuilder) -> Self {
        let url = supervisor.reached_at().map(str::to_owned);
        Self {
            program: supervisor.named().map(|(name, _)| name).unwrap_or_default(),
            webhooks: supervisor.added_webhooks().to_vec(),
            versions: supervisor.added_versions().to_vec(),
            port: supervisor.webhook_port(),
            url,
        }
    }

    /// The chosen operators of a program, all of them without names, and what it says of their types and of those that no
    /// operator has.
    pub(super) fn chosen(
        supervisor: &mut SupervisorBuilder,
        names: &[String],
    ) -> Result<(Self, Vec<AnyOperator>), ChoiceError> {
        let (mut types, operators) = (Self::of(supervisor), supervisor.take_operators());
        let left_out = left_out(&operators, names);
        types.webhooks.retain(|one| !left_out.contains(&one.ty.resource_name()));
        types.versions.retain(|one| !left_out.contains(&one.hub.resource_name()));
        Ok((types, only(operators, names)?))
    }

    /// The same of a program that is restricted to namespaces: configurations of webhooks and what those read are of the whole
    /// cluster.
    pub(super) fn within_namespaces(&self) -> Self {
        Self { webhooks: Vec::new(), ..self.clone() }
    }

    /// The port of a Pod that the API server calls by a Service.
    pub(super) fn called_port(&self) -> Option<u16> {
        let has_some = !self.webhooks.is_empty() || !self.versions.is_empty();
        self.port.filter(|_| has_some && self.url.is_none())
    }

    /// How the API server reaches the webhooks of a program that is deployed under this name.
    pub(super) fn reach(&self, namespace: &str, name: &str) -> WebhookReach {
        let (namespace, name) = (namespace.to_owned(), webhook_service(name));
        let service = WebhookReach::Service { namespace, name, port: SERVICE_PORT };
        self.url.clone().map_or(service, WebhookReach::Url)
    }

    /// The permissions with those of the webhooks.
    pub(super) fn permit(&self, permissions: Permissions) -> Permissions {
        match self.called_port() {
            Some(_) => permissions.with_webhooks(&self.program, &self.webhooks, &self.versions),
            None => permissions,
        }
    }

    /// The CRDs of these operators; the namespace and the name are those with which the program is deployed.
    pub(super) fn crds(
        &self,
        operators: &[AnyOperator],
        (namespace, name): (&str, &str),
    ) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
        let reach = self.reach(namespace, name);
        let configs = operators.iter().map(AnyOperator::config);
        manifests::crds_in_versions(configs, &self.versions, Some(&reach))
    }
}

/// The CRDs as YAML; `flags` are those with which the operators were chosen.
pub(super) fn yaml(
    crds: &[CustomResourceDefinition],
    flags: &[String],
) -> Result<String, ManifestError> {
    to_yaml(&header("crds", flags), crds)
}
