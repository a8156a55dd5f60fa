//! An option of decorators is set for an operator that owns its parents: make the configuration with `decorates`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    OperatorConfig::of::<ConfigMap>("a").with_conditions();
}
