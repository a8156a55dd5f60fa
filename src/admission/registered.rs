//! What a process answers as webhooks, by path.

use std::{collections::BTreeMap, sync::Arc};

use crate::operator::{
    admission::{Webhook, WebhookError, check_all},
    conversion::{Versions, VersionsError},
};

/// The webhooks and conversions of a process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registered(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    admissions: BTreeMap<String, Webhook>,
    /// Their paths in the order in which they were registered: the API server calls mutating ones so.
    order: Vec<String>,
    conversions: BTreeMap<String, Versions>,
}

/// A webhook or a conversion cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhooksError {
    /// A webhook.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// The versions of a type.
    #[error(transparent)]
    Versions(#[from] VersionsError),
    /// A type has one conversion.
    #[error("the versions of {0} are registered twice: name all of them with one hub")]
    SecondHub(String),
}

impl Registered {
    pub(crate) fn new(
        webhooks: Vec<Webhook>,
        versions: Vec<Versions>,
    ) -> Result<Self, WebhooksError> {
        check_all(&webhooks)?;
        let order = webhooks.iter().map(Webhook::path).collect();
        let admissions = webhooks.into_iter().map(|webhook| (webhook.path(), webhook)).collect();
        let mut conversions = BTreeMap::new();
        for versions in versions {
            versions.check()?;
            let name = versions.hub.resource_name();
            if conversions.insert(versions.path(), versions).is_some() {
                return Err(WebhooksError::SecondHub(name));
            }
        }
        Ok(Self(Arc::new(Inner { admissions, order, conversions })))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.admissions.is_empty() && self.0.conversions.is_empty()
    }

    pub(crate) fn admission(&self, path: &str) -> Option<&Webhook> {
        self.0.admissions.get(path)
    }

    pub(crate) fn conversion(&self, path: &str) -> Option<&Versions> {
        self.0.conversions.get(path)
    }

    /// In the order in which they were registered.
    pub(crate) fn admissions(&self) -> impl Iterator<Item = &Webhook> {
        self.0.order.iter().filter_map(|path| self.0.admissions.get(path))
    }

    pub(crate) fn conversions(&self) -> impl Iterator<Item = &Versions> {
        self.0.conversions.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::K8sType,
        operator::admission::{Admission, AdmissionRequest},
    };

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn allow(_: &AdmissionRequest) -> anyhow::Result<Admission> {
        Ok(Admission::allow())
    }

    #[derive(
        kube::CustomResource,
        schemars::JsonSchema,
        serde::Serialize,
        serde::Deserialize,
        Clone,
        Debug,
    )]
    #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
    struct ShopSpec {
        size: u32,
    }

    #[test]
    fn a_type_has_one_hub() {
        let hub = || Versions::from(Versions::hub::<Shop>());
        let twice = Registered::new(Vec::new(), vec![hub(), hub()]).unwrap_err();
        assert_eq!(twice, WebhooksError::SecondHub("shops.example.com".to_owned()));
        assert!(Registered::new(Vec::new(), vec![hub()]).is_ok());
    }

    #[test]
    fn webhooks_stay_in_the_order_in_which_they_were_registered() {
        let pods = || K8sType::namespaced("v1", "Pod", "pods");
        let webhooks = ["z", "a", "m"].map(|name| Webhook::validate_type(name, pods(), allow));
        let registered = Registered::new(webhooks.to_vec(), Vec::new()).unwrap();
        let names: Vec<String> = registered.admissions().map(Webhook::name).collect();
        assert_eq!(names, ["z.pods.core", "a.pods.core", "m.pods.core"]);
        assert!(registered.admission("/webhooks/a.pods.core").is_some());
    }
}
