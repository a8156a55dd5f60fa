//! What cannot work is refused at once, and changes nothing.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use operetta::{
    operator::ConfigError,
    supervisor::{OnRemoval, RegistrationError},
};

use super::*;

#[operetta_harness::test]
async fn what_cannot_work_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    let registrar = operators.running().registrar();
    let (config, handler) = echo_server();
    let refused = registrar.register(config, handler).await.unwrap_err();
    assert!(matches!(refused, RegistrationError::Config(ConfigError::Duplicate(_))), "{refused}");
    let refused = registrar.register(recipe::config("No Name"), recipe::handler()).await;
    assert!(matches!(refused, Err(RegistrationError::Config(ConfigError::Name(_)))));
    let refused = registrar.deregister("cook", OnRemoval::Leave).await.unwrap_err();
    assert_eq!(refused.to_string(), "no operator `cook` is registered");
    assert!(!operators.http("/metrics").await.1.contains("recipes"));
    let unknown = registrar.reconfigure(recipe::config("baker")).await.unwrap_err();
    assert!(matches!(unknown, RegistrationError::Unknown(_)), "{unknown}");
    register_cook(&operators).await;
    // Of an operator that runs.
    let refused = registrar.reconfigure(OperatorConfig::of::<Secret>("cook")).await.unwrap_err();
    assert!(matches!(refused, RegistrationError::Fixed { .. }), "{refused}");
    let text = "operator `cook`: its parent type cannot be changed while it runs: deregister it";
    assert!(refused.to_string().starts_with(text), "{refused}");
    let invalid = recipe::config("cook").with_parent_selector("a=b=c");
    let invalid = registrar.reconfigure(invalid).await;
    assert!(matches!(invalid, Err(RegistrationError::Config(_))));
    cooked(&world, "r").await;
    // It has no finalizer, and goes at once.
    let within = Duration::from_mins(1);
    registrar.deregister("cook", OnRemoval::Finalize { within }).await.unwrap();
    assert_eq!(world.get(CONFIG_MAP, "r").await["data"]["a"], "b");
    operators.stop().await;
    let ended = registrar.deregister("cook", OnRemoval::Leave).await;
    assert!(matches!(ended, Err(RegistrationError::Stopped)));
}
