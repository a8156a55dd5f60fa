//! The names that most operators need, in one import.

pub use anyhow::{Error, Result};

pub use crate::{
    object::{K8sType, Object},
    operator::{
        ChildConfig, Condition, Conditions, ConflictPolicy, ErrorResponse, FinalizeResponse,
        Handler, OperatorConfig, Propagation, SyncRequest, SyncResponse, UpdateStrategy,
    },
    supervisor::{Connect, Supervisor, run_operator, run_operator_with},
};
