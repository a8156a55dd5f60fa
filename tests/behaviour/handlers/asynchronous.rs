//! Asynchronous handlers: dropped at their deadline, and not called for previews.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use operetta::prelude::*;
use serde_json::{Value, json};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition},
};

/// Waits for a system that never answers where the spec says `hang`.
async fn sync_with(address: std::net::SocketAddr, request: SyncRequest) -> Result<SyncResponse> {
    if request.parent.field("spec").unwrap_or_default()["act"] == "hang" {
        TcpStream::connect(address).await?.read_u8().await?;
    }
    recipe::sync(&request)
}

#[operetta_harness::test]
async fn a_handler_past_its_deadline_is_dropped_with_its_connection_and_called_again() {
    let world = World::new().await;
    let system = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = system.local_addr().unwrap();
    let config = recipe::config("cook")
        .with_max_concurrent_reconciles(1)
        .with_handler_deadline(Duration::from_millis(300));
    let sync = move |request| sync_with(address, request);
    let operators = world.start(|builder| builder.register(config, sync)).await;
    world.apply(RECIPE, acting("r", "hang")).await;
    for _ in 0..2 {
        let (mut connection, _) = system.accept().await.unwrap();
        assert_eq!(connection.read(&mut [0]).await.unwrap(), 0, "the handler was dropped");
    }
    let is_reported = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerTimeout";
    world.until(RECIPE, "r", "the missed deadline", is_reported).await;
    // It gave its permit, of which there is one.
    world.apply(RECIPE, recipe("other", &[config_map("d", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
    let (_, metrics) = operators.http("/metrics").await;
    assert!(metrics.contains("operetta_handlers_overdue{operator=\"cook\"} 0\n"), "{metrics}");
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "much");
    operators.stop().await;
}

async fn preview(world: &World, operators: &Operators) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    operators.shown(&path).await;
    // Asked for once, since calls are counted.
    let (code, body) = operators.http(&format!("{path}?diff=1")).await;
    assert_eq!(code, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

#[operetta_harness::test]
async fn a_preview_calls_no_asynchronous_handler_unless_that_is_allowed() {
    for is_allowed in [false, true] {
        let world = World::new().await;
        let previews = Arc::new(AtomicUsize::new(0));
        let counted = previews.clone();
        let sync = move |request: SyncRequest| {
            counted.fetch_add(usize::from(request.is_preview()), Ordering::Relaxed);
            recipe::sync_async(request)
        };
        let previews = || previews.load(Ordering::Relaxed);
        let asked = recipe::config("cook");
        let config = if is_allowed { asked.with_preview(true) } else { asked };
        let operators = world.start(|builder| builder.register(config, sync)).await;
        world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
        world.until_ready(RECIPE, "r").await;
        operators.until_synced("cook", &world.namespace, "r").await;
        assert_eq!(previews(), 0, "reconciles are no previews");
        let error = preview(&world, &operators).await["previewError"].clone();
        assert_eq!((error.is_null(), previews()), (is_allowed, usize::from(is_allowed)));
        if !is_allowed {
            let error = error.as_str().unwrap();
            assert!(error.contains("`OperatorConfig::with_preview(true)` allows it"), "{error}");
        }
        operators.stop().await;
    }
}

#[operetta_harness::test]
async fn a_blocking_handler_is_not_called_for_previews_where_that_is_forbidden() {
    let world = World::new().await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let sync = move |request: &SyncRequest| {
        counted.fetch_add(usize::from(request.is_preview()), Ordering::Relaxed);
        recipe::sync(request)
    };
    let config = recipe::config("cook").with_preview(false);
    let operators = world.start(|builder| builder.register(config, sync)).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    operators.until_synced("cook", &world.namespace, "r").await;
    let error = preview(&world, &operators).await["previewError"].clone();
    assert!(error.as_str().unwrap().contains("is not called for previews"), "{error}");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    operators.stop().await;
}
