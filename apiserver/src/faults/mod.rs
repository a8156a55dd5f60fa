//! Faults between a client and any API server, embedded or real.
//!
//! A [`FaultPlan`] holds rules; a [`FaultLayer`] puts it before a client's service. Each [`Rule`]
//! selects requests, how often it strikes, and the [`Fault`]. Every decision is recorded. Random
//! decisions follow from the plan's seed, which is printed with the injected faults when a test fails.
//! Nothing sleeps: a held request waits until the test releases it.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client, api::ListParams};
//! use operetta_apiserver::{Server, faults::{Fault, FaultLayer, FaultPlan, Rule}};
//! use tower::Layer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (server, plan) = (Server::start(), FaultPlan::new());
//! let service = FaultLayer::new(&plan).layer(server.service_as("my-operator"));
//! let config_maps: Api<ConfigMap> = Api::default_namespaced(Client::new(service, "default"));
//!
//! let busy = plan.add(Rule::new(Fault::busy(1)).verb("list").resource("configmaps").times(1));
//! assert!(config_maps.list(&ListParams::default()).await.is_err());
//! assert!(config_maps.list(&ListParams::default()).await.is_ok());
//! assert_eq!(busy.hits(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! Before a real cluster: `kube::client::ClientBuilder::try_from(config)?.with_layer(&layer)`.
//! The layer reads whole answers where it changes them and lines of watches where there are rules,
//! so it belongs where bodies are no longer compressed.

mod decision;
mod fault;
mod frames;
mod layer;
mod plan;
mod refusal;
mod reply;
mod rule;
mod stale;
mod target;

pub use self::{
    decision::Decision,
    fault::{Fault, Rewrite},
    layer::{FaultLayer, Faulty},
    plan::{Armed, FaultPlan},
    refusal::Refusal,
    reply::FaultyBody,
    rule::Rule,
    target::Target,
};

#[cfg(test)]
mod tests;
