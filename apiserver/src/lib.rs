//! An embedded Kubernetes API server for development and tests: in process, or over TLS.
//!
//! Real semantics for what it serves (resource versions, watches, server-side apply, finalizers,
//! garbage collection, namespaces, custom resource definitions), and an honest 501 or 415 that
//! names what is missing for the rest. Nothing is stored after the [`Server`] is dropped, unless it was
//! started with a data directory ([`Builder::start_in`]).
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, api::{ListParams, PostParams}};
//! use operetta_apiserver::Server;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::start();
//! let config_maps: Api<ConfigMap> = Api::default_namespaced(server.client());
//! let mut config_map = ConfigMap::default();
//! config_map.metadata.name = Some("settings".to_owned());
//! config_maps.create(&PostParams::default(), &config_map).await?;
//! assert_eq!(config_maps.list(&ListParams::default()).await?.items.len(), 1);
//!
//! let running = server.serve("127.0.0.1:0".parse()?)?; // for kubectl: see `Running::kubeconfig`
//! assert!(running.kubeconfig().contains("https://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//!  transport (in process | https) ─> rest ─> write ─> log ─> watches, controllers
//!                                      │       │
//!                                      │       ├ admission ─> callout ─> webhooks
//!                                      │       └ apply, schema, builtin, crd: pure rules
//!                                      └ discovery, openapi, table, selector, shard, protobuf
//!  simulation (off by default): workloads that look as if they ran ─> write
//!  faults: a layer for clients of this server or of any other
//! ```
//!
//! Each module is in a layer, and uses only modules of lower layers:
//!
//! ```text
//! 15  faults transport
//! 14  server
//! 13  recovery rest
//! 12  controllers reviews simulation
//! 11  authentication bootstrap initial openapi pods
//! 10  shared write
//!  9  admission
//!  8  account_tokens certificates crd quota
//!  7  cluster
//!  6  credentials discovery published rendered table
//!  5  persistence rbac resource
//!  4  addresses json_patch log protobuf strategic
//!  3  builtin shard
//!  2  cel query
//!  1  apply conversion selector status
//!  0  aside callout clock deep group_resource json_weight private_file quantity requests schema users version_tag
//! ```

mod account_tokens;
mod addresses;
mod admission;
pub mod apply;
mod aside;
mod authentication;
mod bootstrap;
pub mod builtin;
mod callout;
mod cel;
mod certificates;
mod clock;
mod cluster;
mod controllers;
mod conversion;
mod crd;
mod credentials;
mod deep;
mod discovery;
pub mod faults;
mod group_resource;
mod initial;
mod json_patch;
mod json_weight;
mod log;
mod openapi;
mod persistence;
mod pods;
mod private_file;
mod protobuf;
mod published;
mod quantity;
mod query;
mod quota;
mod rbac;
mod recovery;
mod rendered;
mod requests;
mod resource;
mod rest;
mod reviews;
pub mod schema;
pub mod selector;
mod server;
mod shard;
mod shared;
mod simulation;
mod status;
mod strategic;
mod table;
mod transport;
mod users;
mod version_tag;
mod write;

pub use self::{
    cel::SchemaRules,
    credentials::CredentialsError,
    persistence::DataDirectoryError,
    requests::{RequestRecord, WatchRecord},
    rest::Body,
    server::{Backup, Builder, Layer, Next, Server},
    simulation::WorkloadTiming,
    transport::{InProcess, Running, ServeError},
    users::User,
};
