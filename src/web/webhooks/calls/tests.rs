//! What becomes of handlers and conversions that fail.

use std::sync::Barrier;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::{
    object::{K8sType, ObjectKey},
    operator::admission::Admission,
};

fn webhook(act: &'static str) -> Webhook {
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    Webhook::validate_type("test", ty, move |_: &AdmissionRequest| match act {
        "panic" => panic!("the kitchen burns"),
        "fail" => Err(anyhow::anyhow!("no oven").context("cannot cook")),
        _ => Ok(Admission::allow()),
    })
}

fn hanging() -> Webhook {
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    Webhook::validate_type("test", ty, async |_: AdmissionRequest| {
        std::future::pending::<()>().await;
        Ok(Admission::allow())
    })
}

async fn admit(webhook: &Webhook) -> Result<bool, Failed> {
    let calls = Calls::on(Handle::current());
    let request = AdmissionRequest::create(ObjectKey::namespaced("ns", "a"), Value::Null);
    let answered = calls.admit(webhook, request, Duration::from_secs(30)).await;
    assert_eq!(calls.permits.available_permits(), AT_ONCE, "the permit is back");
    answered.map(|answered| answered.admission.is_allowed())
}

#[tokio::test]
async fn an_error_and_a_panic_of_a_handler_are_values() {
    assert_eq!(admit(&webhook("allow")).await, Ok(true));
    assert_eq!(
        admit(&webhook("fail")).await,
        Err(Failed::Error("cannot cook: no oven".to_owned()))
    );
    let Err(Failed::Panicked(text)) = admit(&webhook("panic")).await else { panic!() };
    assert!(text.starts_with("the kitchen burns"), "{text}");
}

#[tokio::test]
async fn a_handler_that_does_not_return_is_dropped_in_time() {
    let calls = Calls::on(Handle::current());
    let request = AdmissionRequest::create(ObjectKey::namespaced("ns", "a"), Value::Null);
    let within = Duration::from_millis(20);
    let answered = calls.admit(&hanging(), request, within).await;
    assert_eq!(answered.err(), Some(Failed::TimedOut(within)));
}

#[tokio::test]
async fn a_call_above_the_limit_waits_for_a_permit_and_is_refused_when_none_comes_in_time() {
    let calls = Calls::on(Handle::current());
    let request = || AdmissionRequest::create(ObjectKey::namespaced("ns", "a"), Value::Null);
    let all = u32::try_from(AT_ONCE).unwrap();
    let held = calls.permits.clone().acquire_many_owned(all).await.unwrap();
    let refused = calls.admit(&webhook("allow"), request(), Duration::from_millis(20)).await;
    assert_eq!(refused.err(), Some(Failed::Busy));
    let open = webhook("allow");
    let waiting = calls.admit(&open, request(), Duration::from_secs(30));
    let (answered, ()) = tokio::join!(waiting, async { drop(held) });
    assert!(answered.unwrap().admission.is_allowed());
}

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
    pub(super) struct ShopSpec {
        pub(super) act: String,
    }
}

mod v2 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v2", kind = "Shop", namespaced)]
    pub(super) struct ShopSpec {
        pub(super) act: String,
    }
}

/// A conversion that hangs ends when a test lets it.
static CONVERTING: Barrier = Barrier::new(2);

impl TryFrom<v1::Shop> for v2::Shop {
    type Error = String;

    fn try_from(old: v1::Shop) -> Result<Self, String> {
        match old.spec.act.as_str() {
            "panic" => panic!("the kitchen burns"),
            "fail" => return Err("no oven".to_owned()),
            "hang" => {
                CONVERTING.wait();
            }
            _ => {}
        }
        Ok(Self { metadata: old.metadata, spec: v2::ShopSpec { act: old.spec.act } })
    }
}

impl From<v2::Shop> for v1::Shop {
    fn from(new: v2::Shop) -> Self {
        Self { metadata: new.metadata, spec: v1::ShopSpec { act: new.spec.act } }
    }
}

/// The names of what becomes of objects with these acts.
async fn convert(acts: &[&str], within: Duration) -> Result<Vec<Value>, Failed> {
    let versions: Versions = Versions::hub::<v1::Shop>().version::<v2::Shop>().into();
    let shop = |act: &&str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": act},
            "spec": {"act": act},
        })
    };
    let objects = acts.iter().map(shop).collect();
    let (uid, desired) = ("u".to_owned(), "example.com/v2".to_owned());
    let calls = Calls::on(Handle::current());
    calls.convert(&versions, Conversion { uid, desired, objects }, within).await
}

#[tokio::test]
async fn a_list_is_converted_as_a_whole_or_not_at_all() {
    let within = Duration::from_secs(30);
    let converted = convert(&["a", "b"], within).await.unwrap();
    let names: Vec<&Value> = converted.iter().map(|it| &it["metadata"]["name"]).collect();
    assert_eq!(names, ["a", "b"]);
    let failed = convert(&["a", "fail"], within).await;
    let why = "Shop fail cannot be converted from example.com/v1 to example.com/v2: no oven";
    assert_eq!(failed, Err(Failed::Error(why.to_owned())));
    let Err(Failed::Panicked(text)) = convert(&["a", "panic"], within).await else { panic!() };
    assert!(text.starts_with("the kitchen burns"), "{text}");
}

#[tokio::test]
async fn a_conversion_that_does_not_return_is_not_waited_for() {
    let within = Duration::from_millis(20);
    let converted = convert(&["hang"], within).await;
    CONVERTING.wait();
    assert_eq!(converted, Err(Failed::TimedOut(within)));
}
