//! Tests operators without a cluster: an embedded API server, and waiting for states.
//!
//! Layer 12, behind the feature `testkit`. The server behaves like the real one in what it serves,
//! and returns errors for the rest; it runs in the process and ends with it. On another cluster use
//! `Supervisor::builder().connect_to(..)` and `start()` instead of [`TestCluster::run`];
//! [`eventually`], [`until_ready`] and [`until_synced`] are the same.
//!
//! ```no_run
//! # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
//! # use kube::{Api, Resource, api::PostParams};
//! # use operetta::{prelude::*, testkit::{TestCluster, until_ready}};
//! # use serde::{Serialize, de::DeserializeOwned};
//! # async fn example<P>(
//! #     crd: CustomResourceDefinition, config: OperatorConfig, parent: P,
//! # ) -> Result<()>
//! # where
//! #     P: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
//! #     P: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
//! # {
//! # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
//! let cluster = TestCluster::start();
//! cluster.install(&[crd]).await?;
//! let _operators = cluster.run(|supervisor| supervisor.register(config, sync)).await?;
//! let parents: Api<P> = Api::default_namespaced(cluster.client());
//! parents.create(&PostParams::default(), &parent).await?;
//! let parent = until_ready(&parents, "a").await;
//! # Ok(())
//! # }
//! ```

mod behind;
mod busy;
mod clock;
mod cluster;
mod conditions;
mod events;
mod eventually;
mod generated;
mod idempotent;
#[doc(hidden)]
pub mod internals;
mod metric;
mod objects;
mod purity;
mod ready;
mod round_trips;
mod settled;

pub use clock::Clock;
pub use cluster::TestCluster;
pub use events::RecordedEvent;
pub use eventually::eventually;
pub use idempotent::assert_idempotent_mutation;
pub use metric::metric;
pub use objects::Objects;
pub use purity::assert_pure;
pub use ready::{until_ready, until_synced};
pub use round_trips::assert_round_trips;
pub use settled::Unsettled;
