//! `/version` and `/debug/config`.

use std::time::Duration;

use serde_json::json;

use super::{get, world::World};
use crate::cluster::Timeouts;

#[actix_web::test]
async fn the_version_names_the_framework_and_the_program_if_it_has_a_name() {
    let mut state = World::running().state;
    let version = get(&state, "/version").await.json();
    assert_eq!(version["gitVersion"], concat!("v", env!("CARGO_PKG_VERSION")));
    assert!(version["platform"].as_str().unwrap().contains('/'), "{version}");
    assert_eq!(version.get("program"), None);
    state.program.name = Some(("operators".to_owned(), "1.2.3".to_owned()));
    let version = get(&state, "/version").await.json();
    assert_eq!(version["program"], json!({"name": "operators", "version": "1.2.3"}));
}

#[actix_web::test]
async fn what_the_process_was_started_with_is_shown() {
    let mut state = World::running().state;
    state.program.timeouts =
        Timeouts { request: Duration::from_secs(7), silence: Duration::from_secs(70) };
    let config = get(&state, "/debug/config").await.json();
    assert_eq!(config["timeouts"], json!({"requestSeconds": 7.0, "silenceSeconds": 70.0}));
    let operator = &config["operators"][0];
    assert_eq!([&operator["name"], &operator["parent"]["kind"]], ["echo-server", "EchoServer"]);
    assert_eq!(operator["labels"]["managedBy"], "app.kubernetes.io/managed-by");
    assert_eq!(operator["limits"]["debounceSeconds"], 0.0);
    assert_eq!([&config["web"]["logLevel"], &config["web"]["ownRoutes"]], [false, false]);
}
