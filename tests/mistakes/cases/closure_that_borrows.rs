//! A closure borrows a local variable: write `move`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    let domain = String::from("example.dev");
    let sync = |_: &SyncRequest<ConfigMap>| -> Result<SyncResponse> {
        println!("{domain}");
        Ok(SyncResponse::new())
    };
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
