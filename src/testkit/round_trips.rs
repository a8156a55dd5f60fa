//! Checks that no version of a type loses what another has.

use std::any::type_name;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::generated::objects;
use crate::{
    object::{K8sType, TypedResource},
    operator::conversion::{FIELDS_OF_VERSIONS, Versions},
};

/// How many values are made for an object that its rules accept, before they count as met by nothing.
const TRIES: u32 = 2000;

/// Converts objects of `A` to `B` and back, and objects of `B` to `A` and back, and checks that each is what it was.
///
/// `count` objects of each version are made from its schema: valid ones, with the defaults that the API server sets, the
/// same in each run. A failing object is reduced to a small one before it is reported.
///
/// A field that a version cannot hold is lost unless [`Hub::keeping`](crate::operator::conversion::Hub::keeping) names it,
/// and this is what the assertion finds. A rule of CEL is met by chance: if too few values are, it says so.
///
/// ```
/// # mod v1 {
/// #     #[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, Clone, Debug, schemars::JsonSchema)]
/// #     #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
/// #     pub struct ShopSpec { pub size: u32 }
/// # }
/// # mod v1alpha1 {
/// #     #[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, Clone, Debug, schemars::JsonSchema)]
/// #     #[kube(group = "example.com", version = "v1alpha1", kind = "Shop", namespaced)]
/// #     pub struct ShopSpec { pub rooms: u32 }
/// # }
/// # impl From<v1alpha1::Shop> for v1::Shop {
/// #     fn from(old: v1alpha1::Shop) -> Self {
/// #         Self { metadata: old.metadata, spec: v1::ShopSpec { size: old.spec.rooms } }
/// #     }
/// # }
/// # impl From<v1::Shop> for v1alpha1::Shop {
/// #     fn from(new: v1::Shop) -> Self {
/// #         Self { metadata: new.metadata, spec: v1alpha1::ShopSpec { rooms: new.spec.size } }
/// #     }
/// # }
/// use operetta::{operator::conversion::Versions, testkit::assert_round_trips};
///
/// let versions = Versions::hub::<v1::Shop>().version::<v1alpha1::Shop>();
/// assert_round_trips::<v1alpha1::Shop, v1::Shop>(&versions, 100);
/// ```
///
/// # Panics
/// An object is another one after both conversions, with the paths of the fields that differ, or cannot be converted.
pub fn assert_round_trips<A, B>(versions: &Versions, count: u32)
where
    A: CustomResourceExt + TypedResource + Serialize + DeserializeOwned,
    B: CustomResourceExt + TypedResource + Serialize + DeserializeOwned,
{
    let (a, b) = (K8sType::of::<A>(), K8sType::of::<B>());
    all::<A>(versions, (&a, &b), count);
    all::<B>(versions, (&b, &a), count);
}

fn all<T>(versions: &Versions, (ty, over): (&K8sType, &K8sType), count: u32)
where
    T: CustomResourceExt + Serialize + DeserializeOwned,
{
    let schema = schema(&T::crd(), ty.version());
    let generated = objects(ty.api_version(), ty.kind(), &schema);
    let config = Config {
        cases: count,
        failure_persistence: None,
        max_local_rejects: count.saturating_mul(TRIES),
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let found = TestRunner::new_with_rng(config, random).run(&generated, |object| {
        round_trip::<T>(versions, &object, over.api_version()).map_err(TestCaseError::fail)
    });
    let (from, to) = (ty.api_version(), over.api_version());
    assert!(
        found.is_ok(),
        "from {from} to {to} and back: {}",
        found.err().map_or_else(String::new, |it| it.to_string())
    );
}

/// What is wrong with an object after both conversions.
fn round_trip<T: Serialize + DeserializeOwned>(
    versions: &Versions,
    object: &Value,
    over: &str,
) -> Result<(), String> {
    let from = object["apiVersion"].as_str().unwrap_or_default();
    let there = versions.convert(object.clone(), over).map_err(|error| error.to_string())?;
    let back = versions.convert(there, from).map_err(|error| error.to_string())?;
    let (before, after) = (normal::<T>(object)?, normal::<T>(&back)?);
    let differing = json_patch::diff(&before, &after).0;
    let paths: Vec<String> = differing.iter().map(|it| it.path().to_string()).collect();
    if paths.is_empty() {
        return Ok(());
    }
    Err(format!("{} differ: name them with `keeping`, or convert them", paths.join(", ")))
}

/// As its Rust type writes it, and its metadata as it is, without the annotation that conversions keep.
fn normal<T: Serialize + DeserializeOwned>(object: &Value) -> Result<Value, String> {
    let misfit = |error: serde_json::Error| format!("{}: {error}", type_name::<T>());
    let typed: T = serde_json::from_value(object.clone()).map_err(misfit)?;
    let mut normal = serde_json::to_value(typed).map_err(misfit)?;
    let mut metadata = object["metadata"].clone();
    let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove(FIELDS_OF_VERSIONS);
    }
    // The API server does not store an empty map either.
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|_, field| field.as_object().is_none_or(|map| !map.is_empty()));
    }
    normal["metadata"] = metadata;
    Ok(normal)
}

/// The schema of a version.
fn schema(crd: &CustomResourceDefinition, version: &str) -> Value {
    let mut versions = crd.spec.versions.iter();
    let found = versions.find(|it| it.name == version).and_then(|it| it.schema.as_ref());
    let schema = found.and_then(|it| it.open_api_v3_schema.as_ref());
    schema.map_or(Value::Null, |schema| serde_json::to_value(schema).unwrap_or_default())
}

#[cfg(test)]
mod tests;
