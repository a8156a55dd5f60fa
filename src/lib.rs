//! Runs many Kubernetes operators in one process.
//!
//! A handler computes the desired state of a parent; the framework watches, plans, writes, retries,
//! explains and measures:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use operetta::prelude::*;
//! use serde_json::json;
//!
//! fn sync(request: &SyncRequest) -> Result<SyncResponse> {
//!     let parent = &request.parent;
//!     let greeting = json!({
//!         "apiVersion": "v1", "kind": "ConfigMap",
//!         "metadata": {"name": parent.name()},
//!         "data": {"greeting": parent.field("spec").unwrap_or_default()["greeting"]},
//!     });
//!     let ready = request.children::<ConfigMap>().len();
//!     Ok(SyncResponse::status(json!({"greetings": ready})).child(greeting))
//! }
//!
//! fn main() -> Result<()> {
//!     let greeter = K8sType::namespaced("example.dev/v1", "Greeter", "greeters");
//!     Supervisor::builder()
//!         .register(
//!             OperatorConfig::new("greeter", greeter).child::<ConfigMap>(ChildConfig::apply()),
//!             sync,
//!         )
//!         .serve("127.0.0.1:8080")
//!         .run_blocking()?;
//!     Ok(())
//! }
//! ```
//!
//! ```text
//!    API server (real, or embedded)
//!      | watch                                             ^ apply / delete / status
//!      v                                                   |
//!  [watch loop per scope of a type] -- writes --> Store (readers everywhere)
//!      | WatchNote                                         |
//!      v                                                   |
//!  [Reflector per type, shared by all operators]           |
//!      | Observed{changes}                                 |
//!      v                                                   |
//!  [OperatorActor per operator]  change -> parent(s)       |
//!      | Touched{cause}                                    |
//!      v                                                   |
//!  [Reconciler per parent]  Schedule::step, then a reconcile +
//! ```
//!
//! The modules are layers: each names only those of lower numbers.
//!
//! | layer | modules |
//! |---|---|
//! | 0 | `object` |
//! | 1 | `operator`, `election`, `reply`, `schedule` |
//! | 2 | `store`, `diff`, `manifests`, `admission` |
//! | 3 | `plan`, `history`, `related`, `recipes` |
//! | 4 | `journal` |
//! | 5 | `report` |
//! | 6 | `run` |
//! | 7 | `metrics`, `board` |
//! | 8 | `cluster` |
//! | 9 | `execute` |
//! | 10 | `actors`, `web` |
//! | 11 | `supervisor` |
//! | 12 | `cli`, behind the feature of that name |
//! | 13 | `testkit`, behind the feature of that name |
//!
//! The feature `dashboard`, on by default, is the page for browsers with its login. `web::Auth` and the rest of
//! the API are the same without it. The features `cron` and `certificates` add to [`recipes`] what needs further crates.
//! The feature `crd` is the macro `crd!`.
//!
//! `kube`, `k8s_openapi` and `anyhow` are re-exported in the versions that appear in this API. A program chooses the
//! Kubernetes version of the `k8s-openapi` types by a feature of that crate, which it therefore depends on.

#![cfg_attr(
    not(feature = "testkit"),
    allow(unreachable_pub, reason = "`testkit::internals` exports what tests look at")
)]

/// The errors of handlers, which are those of this crate.
pub use anyhow;
/// The types of Kubernetes' own objects, in the version that the framework uses.
pub use k8s_openapi;
/// Custom resources and clients, in the version that the framework uses.
pub use kube;
#[cfg(feature = "crd")]
pub use operetta_crd::crd;

pub(crate) mod actors;
pub(crate) mod admission;
pub(crate) mod board;
#[cfg(feature = "cli")]
pub mod cli;
pub(crate) mod cluster;
pub(crate) mod diff;
pub mod election;
pub(crate) mod execute;
pub(crate) mod history;
pub(crate) mod journal;
pub mod manifests;
pub(crate) mod metrics;
pub mod object;
pub mod operator;
pub(crate) mod plan;
pub mod prelude;
pub mod recipes;
pub(crate) mod related;
pub(crate) mod reply;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod store;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod web;

/// What the code of `crd!` names beside the crates above. No part of the API.
#[cfg(feature = "crd")]
#[doc(hidden)]
pub mod crd_support {
    pub use serde;
    pub use serde_json;
}

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/decorators.md")]
struct Decorators;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/handlers.md")]
struct Handlers;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/leader-election.md")]
struct LeaderElections;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/order.md")]
struct Order;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/plan-mode.md")]
struct PlanMode;

/// Runs the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/registration.md")]
struct Registration;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/related.md")]
struct Related;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/scheduling.md")]
struct Scheduling;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/status.md")]
struct Status;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/your-own-program.md")]
struct YourOwnProgram;

/// Compiles the example of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/webhooks.md")]
struct Webhooks;

/// Runs the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/testing.md")]
struct Testing;
