//! `custom` gets a type that is defined elsewhere: write `OperatorConfig::of::<ConfigMap>`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    OperatorConfig::custom::<ConfigMap>("a");
}
