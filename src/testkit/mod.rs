//! Testing operators without a cluster: an embedded API server, and waiting for the world.
//!
//! Layer 12, behind the feature `testkit`. The server has the semantics of the real one for what it
//! serves, and says so for what it does not; it lives in the process and ends with it. On another
//! cluster `Supervisor::builder().connect_to(..)` and `start()` do what [`TestCluster::run`] does here,
//! and [`eventually`] and [`until_ready`] are the same.
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

mod cluster;
mod eventually;
#[doc(hidden)]
pub mod internals;
mod ready;

pub use cluster::{TestCluster, TestError};
pub use eventually::eventually;
pub use ready::until_ready;
