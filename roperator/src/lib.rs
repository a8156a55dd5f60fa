//! The public names of [roperator](https://docs.rs/roperator/0.3) 0.3 over Operetta.
//!
//! A program that was written for roperator compiles with one changed line in its `Cargo.toml`, and is then
//! an operator of Operetta:
//!
//! ```toml
//! roperator = { package = "operetta-roperator", version = "0.1", features = ["failable"] }
//! ```
//!
//! It takes over the children and the finalizers of the same program built with roperator, which must not
//! run at the same time. A new program uses `operetta` itself; `roperator/docs/porting.md` shows how to go
//! on from here, and which test shows each known defect of roperator to be absent.
//!
//! # What is different
//!
//! These defects of roperator are deliberately not imitated:
//!
//! | roperator 0.3 | here |
//! |---|---|
//! | An error that `(sync, on_error)` or a `FailableHandler` answers deletes all children. | All children stay. The error is retried with backoff, also if `on_error` returns no time. |
//! | A `finalize` that is given up lets the parent go. | It is retried until it succeeds. |
//! | `ChildConfig::replace` sends the whole object, and a field that is no longer desired stays. | Server-side apply: fields of others stay, fields that are no longer desired are removed. |
//! | Whatever carries the labels is a child, and is deleted. | A child has an owner reference to its parent. |
//! | Children of other operators, and namesakes, are overwritten. | They are not modified, and the parent reports them. |
//! | Every parent gets a finalizer. | Not if the handler is a function or a pair. A struct opts out by [`Handler::has_finalizer`](handler::Handler::has_finalizer). |
//! | A service account token is read once. | It is read again when it changes. |
//! | In a Pod without a token, the cluster of a kubeconfig is used. | An error. A kubeconfig is used outside of Pods only. |
//! | `raw_bearer_token` encodes the token again, and impersonation is ignored. | Both work. |
//! | `/health` is always 200. | 503 when the process is stuck. |
//! | `Debug` of requests, responses and objects shows everything. | It names the object. `Display` of an object shows its content. |
//!
//! This is what Operetta does beside that:
//!
//! | | |
//! |---|---|
//! | Names | `operator_name` must be a DNS label of at most 63 characters. |
//! | Start | It waits for the types of parent and children, as the API server knows whether these are namespaced. |
//! | Signals | SIGTERM and SIGINT finish what is in flight; `run_operator` then returns [`Stopped`](runner::Stopped). |
//! | Limits | A handler that takes more than 10 minutes has failed. A reconcile that would delete more than half of a parent's children and more than 10 deletes none and asks the user. |
//! | Refused responses | A child with a `status`, or with metadata of the server: the reconcile fails and names it. A child that has nothing but a name is left as it is. |
//! | Refused configurations | `recreate()` for Namespaces, volumes, claims and CRDs. |
//! | Status | Conditions (`Synced`, `Ready`, ...) are added where the CRD allows them. |
//! | Metrics | Those of Operetta, under `/metrics`. |
//! | Port | `ROPERATOR_SERVER_PORT` in the environment overrides `OperatorConfig::server_port`. |
//! | Logs | The target `operetta` of the crate `log`. |
//!
//! # An operator
//!
//! ```no_run
//! use roperator::prelude::*;
//! use roperator::serde_json::json;
//!
//! static PARENT: &K8sType = &K8sType {
//!     api_version: "example.dev/v1",
//!     kind: "Website",
//!     plural_kind: "websites",
//! };
//!
//! fn sync(request: &SyncRequest) -> Result<SyncResponse, Error> {
//!     let page = json!({
//!         "apiVersion": "v1", "kind": "ConfigMap",
//!         "metadata": {"namespace": request.parent.namespace(), "name": request.parent.name()},
//!         "data": {"title": request.parent.pointer("/spec/title")},
//!     });
//!     let pages = request.children().of_type(k8s_types::core::v1::ConfigMap).count();
//!     Ok(SyncResponse { status: json!({"pages": pages}), children: vec![page], resync: None })
//! }
//!
//! let config = OperatorConfig::new("websites", PARENT)
//!     .with_child(k8s_types::core::v1::ConfigMap, ChildConfig::replace());
//! let error = run_operator(config, sync);
//! eprintln!("{}", error);
//! ```

pub mod config;
pub mod handler;
pub mod k8s_types;
pub mod resource;
pub mod runner;

pub use serde;
pub use serde_json;
pub use serde_yaml_ng as serde_yaml;

/// The names that most operators need, in one import.
pub mod prelude {
    pub use anyhow::Error;
    pub use serde::{Deserialize, Serialize};

    pub use crate::{
        config::{ChildConfig, ClientConfig, OperatorConfig, UpdateStrategy},
        handler::{FinalizeResponse, Handler, SyncRequest, SyncResponse},
        k8s_types::{self, K8sType},
        resource::K8sResource,
        runner::run_operator,
    };
}

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/porting.md")]
struct Porting;
