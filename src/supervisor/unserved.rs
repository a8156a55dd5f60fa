//! Names the webhooks and conversions of types that the API server does not serve: it never calls them, and would say
//! nothing.

use crate::{
    admission::Registered,
    cluster::Cluster,
    object::{K8sType, OneLine},
};

/// The types that a process answers about, and what it answers of each.
#[derive(Debug, Default)]
pub(super) struct Answered(Vec<(K8sType, String)>);

impl Answered {
    pub(super) fn of(registered: &Registered) -> Self {
        let admissions = registered
            .admissions()
            .map(|webhook| (webhook.ty.clone(), format!("the webhook {}", webhook.name())));
        let conversions = registered.conversions().map(|versions| {
            let ty = versions.hub.clone();
            let conversion = format!("the conversion of {}", ty.resource_name());
            (ty, conversion)
        });
        Self(admissions.chain(conversions).collect())
    }

    /// Logs those that are not served now. A CRD may come later.
    pub(super) async fn warn_of_unserved(self, cluster: Cluster) {
        for (ty, answered) in self.0 {
            match cluster.serves(&ty).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!(%ty, "no CRD serves this type: {answered} is not called until one does");
                }
                Err(error) => {
                    tracing::debug!(%ty, error = %OneLine(&error), "whether it is served is unknown");
                }
            }
        }
    }
}
