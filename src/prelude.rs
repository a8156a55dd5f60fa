//! The names that most operators need, in one import: at most 16.

pub use anyhow::Result;

pub use crate::{
    object::K8sType,
    operator::{
        AsyncHandler, ChildConfig, Conditions, FinalizeResponse, Handler, OperatorConfig,
        Permanent, Related, RetryAfter, SyncRequest, SyncResponse, with_finalizer,
    },
    supervisor::{Connect, Supervisor},
};
