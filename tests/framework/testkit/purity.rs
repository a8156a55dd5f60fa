//! The check of a handler's determinism, over the forms of handlers.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use anyhow::Error;
use futures::FutureExt;
use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{
    operator::{AnyHandler, ErrorResponse, IntoHandler, Owns},
    prelude::*,
    testkit::assert_pure,
};
use serde_json::json;

use super::support::{secret, sync};

fn request() -> SyncRequest {
    let parent = json!({"metadata": {"name": "a"}, "data": {"meal": "soup"}});
    SyncRequest::example(&K8sType::of::<ConfigMap>(), parent).unwrap()
}

/// The message of the check of a handler that returns what depends on the number of the call.
async fn refused(of_call: fn(usize) -> Result<SyncResponse>) -> String {
    let calls = AtomicUsize::new(0);
    let handler = move |_: &SyncRequest| of_call(calls.fetch_add(1, Ordering::SeqCst));
    let request = request();
    let checked = AssertUnwindSafe(assert_pure(handler, &request)).catch_unwind().await;
    *checked.unwrap_err().downcast::<String>().unwrap()
}

#[tokio::test]
async fn every_form_of_handler_is_checked() -> Result<()> {
    async fn later(request: SyncRequest<ConfigMap>) -> Result<SyncResponse> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        sync(&request)
    }
    fn on_error(_: &SyncRequest<ConfigMap>, _: &Error) -> ErrorResponse {
        ErrorResponse::default()
    }
    async fn check<Form>(handler: impl IntoHandler<Form, Role = Owns>) -> Result<usize> {
        let handler: AnyHandler = handler.into_handler();
        Ok(assert_pure(handler, &request()).await?.children.len())
    }
    assert_eq!(check(sync).await?, 1);
    assert_eq!(check(later).await?, 1);
    assert_eq!(check((sync, on_error)).await?, 1);
    assert_eq!(check((later, on_error)).await?, 1);
    assert_eq!(assert_pure(sync, &request().typed::<ConfigMap>()?).await?.children.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_difference_is_named_without_its_values() {
    let message = refused(|call| {
        Ok(SyncResponse::status(json!({"phase": ["ready", call.to_string()]}))
            .child(secret("a", &format!("hidden{call}")))
            .child(secret(&format!("b-{call}"), "soup"))
            .resync_after(Duration::from_secs(call as u64)))
    });
    let message = message.await;
    for expected in [
        "two calls of the handler with the same request return different things",
        "\n- the status: .phase[1]\n",
        "\n- Secret.v1 default/a: .stringData.meal\n",
        "\n- only the first call returns Secret.v1 default/b-0\n",
        "\n- only the second call returns Secret.v1 default/b-1\n",
        "\n- the time of the resync\n",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    assert!(!message.contains("hidden"), "{message}");
}

#[tokio::test]
async fn errors_are_compared_and_returned() {
    let message =
        refused(|call| if call == 0 { Ok(SyncResponse::new()) } else { Err(Error::msg("hidden")) });
    assert!(message.await.contains("only the second call returns an error"));
    let message = refused(|call| Err(Error::msg(format!("hidden {call}")))).await;
    assert!(message.contains("\n- the text of the error\n"), "{message}");
    assert!(!message.contains("hidden"), "{message}");
    let fails = |_: &SyncRequest| -> Result<SyncResponse> { Err(Error::msg("not now")) };
    assert_eq!(assert_pure(fails, &request()).await.unwrap_err().to_string(), "not now");
}

#[tokio::test]
async fn the_order_of_children_and_the_content_of_an_ensured_one_may_differ() -> Result<()> {
    let calls = AtomicUsize::new(0);
    let handler = move |_: &SyncRequest| -> Result<SyncResponse> {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        let mut children = vec![secret("a", "soup"), secret("b", "cake")];
        children.rotate_left(call % 2);
        Ok(SyncResponse::new().children(children).ensure(secret("c", &call.to_string())))
    };
    assert_eq!(assert_pure(handler, &request()).await?.children.len(), 3);
    Ok(())
}
