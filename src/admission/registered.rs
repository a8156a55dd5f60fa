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
        let admissions = webhooks.into_iter().map(|webhook| (webhook.path(), webhook)).collect();
        let mut conversions = BTreeMap::new();
        for versions in versions {
            versions.check()?;
            let name = versions.hub.resource_name();
            if conversions.insert(versions.path(), versions).is_some() {
                return Err(WebhooksError::SecondHub(name));
            }
        }
        Ok(Self(Arc::new(Inner { admissions, conversions })))
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

    /// In the order of their names.
    pub(crate) fn admissions(&self) -> impl Iterator<Item = &Webhook> {
        self.0.admissions.values()
    }

    pub(crate) fn conversions(&self) -> impl Iterator<Item = &Versions> {
        self.0.conversions.values()
    }
}
