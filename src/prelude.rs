//! The names that most operators need, in one import.

pub use anyhow::{Error, Result};

pub use crate::{
    election::LeaderElection,
    object::{K8sType, Object},
    operator::{
        AsyncHandler, ChildConfig, ConflictPolicy, ErrorResponse, FinalizeResponse, Handler,
        OperatorConfig, SyncRequest, SyncResponse, with_finalizer,
    },
    supervisor::{Connect, Supervisor, run_operator, run_operator_with},
};
