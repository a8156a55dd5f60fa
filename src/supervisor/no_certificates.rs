//! Without the feature `certificates` nobody makes certificates of webhooks.

use std::convert::Infallible;

use tokio::runtime::Handle;

use crate::{admission::Registered, cluster::Cluster, web::Certificates};

/// There are none.
#[derive(Debug)]
pub(super) struct SharedCertificates(Infallible);

#[derive(Debug, Default)]
pub(super) struct RotationSettings;

pub(super) struct Keeper(Infallible);

pub(super) struct Kept;

impl SharedCertificates {
    pub(super) fn certificates(&self) -> Certificates {
        match self.0 {}
    }
}

impl Keeper {
    #[expect(clippy::unused_async, reason = "as where there are certificates")]
    pub(super) async fn begin(shared: SharedCertificates, _: &Cluster) -> Result<Self, Infallible> {
        Ok(Self(shared.0))
    }

    pub(super) fn follow(self, _: &Handle) -> Kept {
        match self.0 {}
    }
}

/// None can be made.
pub(super) fn shared(
    _: &str,
    _: Option<String>,
    _: &Registered,
    _: RotationSettings,
) -> Option<SharedCertificates> {
    None
}
