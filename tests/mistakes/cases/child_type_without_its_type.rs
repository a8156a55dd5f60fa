//! A child type is declared without the type: write `child::<ConfigMap>(ChildConfig::apply())`.

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::prelude::*;

fn main() {
    OperatorConfig::of::<ConfigMap>("a").child(ChildConfig::apply());
}
