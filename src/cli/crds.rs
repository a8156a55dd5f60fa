//! `deploy/crds.yaml`: the CRDs of the parent types, in all versions that the program converts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::header::header;
use crate::{
    manifests::{self, ManifestError, WebhookReach, to_yaml},
    operator::{AnyOperator, conversion::Versions},
    supervisor::SupervisorBuilder,
};

/// The port of a Service that the API server calls unless another is named.
const PORT: u16 = 443;

/// What a program says of its types beside its operators.
#[derive(Debug, Default)]
pub(crate) struct Types {
    versions: Vec<Versions>,
    /// The address of its webhooks, where they are not behind a Service.
    url: Option<String>,
}

impl Types {
    pub(super) fn of(supervisor: &SupervisorBuilder) -> Self {
        let url = supervisor.reached_at().map(str::to_owned);
        Self { versions: supervisor.added_versions().to_vec(), url }
    }

    /// The CRDs of these operators; `only` are the names by which they were chosen, and the namespace and the name are of the
    /// Service by which the program is reached.
    pub(super) fn crds(
        &self,
        operators: &[AnyOperator],
        only: &[String],
        (namespace, name): (&str, &str),
    ) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let service = WebhookReach::Service { namespace, name, port: PORT };
        let reach = self.url.clone().map_or(service, WebhookReach::Url);
        let is_chosen = |one: &&Versions| only.is_empty() || has_parents_of(operators, one);
        let configs = operators.iter().map(AnyOperator::config);
        let versions = self.versions.iter().filter(is_chosen);
        manifests::crds_in_versions(configs, versions, Some(&reach))
    }
}

fn has_parents_of(operators: &[AnyOperator], versions: &Versions) -> bool {
    let resource = versions.hub.resource_name();
    operators.iter().any(|one| one.config().parent().resource_name() == resource)
}

/// The CRDs as YAML; `flags` are those with which the operators were chosen.
pub(super) fn yaml(
    crds: &[CustomResourceDefinition],
    flags: &[String],
) -> Result<String, ManifestError> {
    to_yaml(&header("crds", flags), crds)
}
