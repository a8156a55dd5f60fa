//! The handler of a scripted operator.

use std::sync::{Mutex, PoisonError, mpsc};

use serde_json::Value;

use super::*;
use crate::{
    operator::{FinalizeResponse, Permanent},
    store::Store,
};

pub(super) type Meanwhile = Box<dyn Fn(&SyncRequest) + Send + Sync>;

/// Wants the same each time.
pub(super) struct Cook {
    pub(super) desired: Result<Vec<Value>, Permanent>,
    pub(super) status: Option<Value>,
    pub(super) awaited: Option<Mutex<mpsc::Receiver<()>>>,
    pub(super) farewell: Option<&'static str>,
    pub(super) meanwhile: Option<Meanwhile>,
    /// What its parent becomes while it is called, and where that is cached.
    pub(super) becoming: Option<(Store, Object)>,
}

impl Handler for Cook {
    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse> {
        if let Some(awaited) = &self.awaited {
            awaited.lock().unwrap_or_else(PoisonError::into_inner).recv()?;
        }
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile(request);
        }
        if let Some((parents, parent)) = &self.becoming {
            parents.overlay(parent.clone());
        }
        let answer = SyncResponse { status: self.status.clone(), ..SyncResponse::new() };
        Ok(self.desired.clone()?.into_iter().fold(answer, SyncResponse::child))
    }

    fn has_finalizer(&self) -> bool {
        self.farewell.is_some()
    }

    fn finalize(&self, _: &SyncRequest) -> anyhow::Result<FinalizeResponse> {
        Err(anyhow::anyhow!(self.farewell.unwrap_or_default()))
    }
}
