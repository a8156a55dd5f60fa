//! The configuration of an operator, and of the connection to its cluster.

mod client;
mod credentials;
mod kubeconfig;
mod operator;

pub use client::{CAData, ClientConfig};
pub use credentials::Credentials;
pub use kubeconfig::{KubeConfig, KubeConfigError};
pub use operator::{
    ChildConfig, DEFAULT_OWNERSHIP_LABEL_NAME, DEFAULT_TRACKING_LABEL_NAME, OperatorConfig,
    UpdateStrategy,
};
