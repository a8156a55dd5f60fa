//! What cannot work is refused at once, and changes nothing.

use operetta::{
    operator::ConfigError,
    supervisor::{OnRemoval, RegistrationError},
};

use super::*;

#[operetta_harness::test]
async fn an_invalid_or_duplicate_operator_is_refused() {
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
    register_cook(&operators).await;
    cooked(&world, "r").await;
    operators.stop().await;
    let ended = registrar.deregister("cook", OnRemoval::Leave).await;
    assert!(matches!(ended, Err(RegistrationError::Stopped)));
}
