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
    /// Whether its leader migrates objects from old versions.
    migrates: bool,
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
            migrates: supervisor.migrates(),
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

    /// The same of a program that is restricted to namespaces: configurations of webhooks, what those read, and migrations are
    /// of the whole cluster.
    pub(super) fn within_namespaces(&self) -> Self {
        Self { webhooks: Vec::new(), migrates: false, ..self.clone() }
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

    /// The permissions with those of the webhooks and of migrations.
    pub(super) fn permit(&self, permissions: Permissions) -> Permissions {
        let migrated = self.versions.iter().filter(|_| self.migrates);
        let permissions = permissions.with_migration(migrated);
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

#[cfg(test)]
mod tests {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        manifests::{Account, Manifest},
        supervisor::{Migration, Supervisor},
    };

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
    struct ShopSpec {
        size: u32,
    }

    /// The rules of the cluster role for migrations.
    fn rules(supervisor: &SupervisorBuilder) -> Option<Value> {
        let permissions = Types::of(supervisor).permit(Permissions::default());
        let mut manifests = permissions.manifests(&Account::new("shop", "ns")).into_iter();
        manifests.find_map(|manifest| match manifest {
            Manifest::ClusterRole(role)
                if role.metadata.name.as_deref() == Some("shop-migration") =>
            {
                serde_json::to_value(role.rules).ok()
            }
            _ => None,
        })
    }

    #[test]
    fn a_leader_may_migrate_its_types_by_name_unless_that_is_left_to_users() {
        let without = || Supervisor::builder().program("shop", "1");
        let with = || without().versions(Versions::hub::<Shop>());
        let (group, names) = (["apiextensions.k8s.io"], ["shops.example.com"]);
        let expected = json!([
            {"apiGroups": group, "resources": ["customresourcedefinitions"], "resourceNames": names,
                "verbs": ["get", "watch"]},
            {"apiGroups": group, "resources": ["customresourcedefinitions/status"],
                "resourceNames": names, "verbs": ["patch"]},
            {"apiGroups": ["example.com"], "resources": ["shops"], "verbs": ["list", "update"]},
        ]);
        assert_eq!(rules(&with()), Some(expected));
        assert_eq!(rules(&with().migration(Migration::ByHand)), None);
        assert_eq!(rules(&without()), None);
    }
}
