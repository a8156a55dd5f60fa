//! A `MutexGuard` is held across an `await`: drop it before.

use std::sync::Mutex;

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

static CALLS: Mutex<u32> = Mutex::new(0);

async fn sync(_: SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let mut calls = CALLS.lock().unwrap();
    *calls += 1;
    std::future::ready(()).await;
    Ok(SyncResponse::new())
}

fn main() {
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
