//! A closure has an `Rc`: handlers are called on several threads, so write `Arc`.

use std::rc::Rc;

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    let domain = Rc::new(String::from("example.dev"));
    let sync = move |_: &SyncRequest<ConfigMap>| -> Result<SyncResponse> {
        println!("{domain}");
        Ok(SyncResponse::new())
    };
    Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("a"), sync);
}
