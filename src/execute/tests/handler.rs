//! The handler of a scripted operator.

use std::sync::{Mutex, PoisonError, mpsc};

use serde_json::Value;

use super::*;
use crate::operator::{FinalizeResponse, Permanent};

pub(super) type Meanwhile = Box<dyn Fn(&SyncRequest) + Send + Sync>;

/// Returns the same each time.
pub(super) struct ScriptedHandler {
    pub(super) desired: Result<Vec<Value>, Permanent>,
    pub(super) status: Option<Value>,
    pub(super) release: Option<Mutex<mpsc::Receiver<()>>>,
    pub(super) finalize_error: Option<&'static str>,
    pub(super) meanwhile: Option<Meanwhile>,
}

impl Handler for ScriptedHandler {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse> {
        if let Some(release) = &self.release {
            release.lock().unwrap_or_else(PoisonError::into_inner).recv()?;
        }
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile(request);
        }
        let answer = SyncResponse { status: self.status.clone(), ..SyncResponse::new() };
        Ok(self.desired.clone()?.into_iter().fold(answer, SyncResponse::child))
    }

    fn has_finalizer(&self) -> bool {
        self.finalize_error.is_some()
    }

    fn finalize(&self, _: &SyncRequest) -> anyhow::Result<FinalizeResponse> {
        Err(anyhow::anyhow!(self.finalize_error.unwrap_or_default()))
    }
}
