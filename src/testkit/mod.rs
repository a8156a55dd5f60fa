//! Testing operators without a cluster: an embedded API server, and waiting for the world.
//!
//! Layer 8, behind the feature `testkit`. The server has the semantics of the real one for what it
//! serves, and says so for what it does not; it lives in the process and ends with it.
//!
//! ```no_run
//! # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
//! # use operetta::{prelude::*, testkit::{TestCluster, eventually}};
//! # async fn example(crd: CustomResourceDefinition, config: OperatorConfig) -> Result<()> {
//! # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
//! let cluster = TestCluster::start();
//! cluster.install(&[crd]).await?;
//! let operators = cluster.run(|supervisor| supervisor.register(config, sync)).await?;
//! // Create a parent with `cluster.client()`, then wait for what should become of it:
//! let parents = || async { operators.board().operators()[0].parents.clone() };
//! eventually("one parent", parents, |parents| parents.values().sum::<usize>() == 1).await;
//! # Ok(())
//! # }
//! ```

mod cluster;
mod eventually;

pub use cluster::{TestCluster, TestError};
pub use eventually::eventually;
