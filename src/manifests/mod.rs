//! The permissions and CRDs that a program needs, from what its operators declare.
//!
//! ```text
//! OperatorConfig, ... --Permissions--> rules --+
//!                                              +--> Role, ClusterRole, bindings --+
//!                                    Account --+                                  +--to_yaml--> YAML
//! OperatorConfig, ... --crds--> CustomResourceDefinition, ... --------------------+
//! Versions, ... -----------------'      '--crd_changes (with the committed ones)--> CrdChange, ...
//! ```
//!
//! Layer 2. Nothing here does I/O.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::CustomResource;
//! use operetta::{manifests::{self, Account, Permissions}, prelude::*};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
//! #[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
//! struct GreetingSpec {
//!     name: String,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
//! #[serde(default)]
//! struct GreetingStatus {
//!     conditions: Conditions,
//! }
//!
//! let greeter = OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(ChildConfig::apply());
//! let account = Account::new("greeter", "greetings");
//! let objects = Permissions::of([&greeter])?.with_web_endpoint().manifests(&account);
//! let rbac = manifests::to_yaml("Generated: greeter rbac > rbac.yaml", &objects)?;
//! assert!(rbac.starts_with("# Generated: greeter rbac > rbac.yaml\n---\napiVersion: v1\n"));
//! assert!(rbac.contains("- greetings/status"));
//!
//! let crds = manifests::to_yaml("", &manifests::crds([&greeter])?)?;
//! assert!(crds.contains("name: greetings.example.dev"));
//! # Ok::<(), operetta::anyhow::Error>(())
//! ```
//!
//! Invariants:
//! - a rule grants what the framework requests for its operators, and no more: no wildcard, and no
//!   rule for a resource that the operators do not declare;
//! - the same declarations give the same text, whatever their order.

mod account;
#[cfg(feature = "certificates")]
mod ca_bundle;
mod crd;
mod crd_change;
mod endpoint;
mod error;
mod grants;
mod made;
mod manifest;
mod migration_rights;
mod named_rule;
mod permissions;
mod structural;
mod versions;
mod webhook_rights;
mod webhooks;
mod yaml;

pub use account::Account;
#[cfg(feature = "certificates")]
pub(crate) use ca_bundle::{Caller, callers};
pub(crate) use crd::definitions;
pub use crd::{check_crd, crd, crds, crds_in_versions};
pub use crd_change::{CrdChange, Verdict, crd_changes};
pub(crate) use endpoint::SUBRESOURCE;
pub use error::ManifestError;
pub use manifest::Manifest;
pub use permissions::Permissions;
#[cfg(feature = "cli")]
pub(crate) use permissions::of_the_whole_cluster;
pub(crate) use versions::in_namespace;
pub(crate) use webhooks::{SERVICE_PORT, WEBHOOK_MANAGER, configurations, conversion};
pub use webhooks::{WebhookReach, webhook_secret, webhook_service};
pub use yaml::to_yaml;
