//! Connections: how they begin and end, what they may carry, and what ends with them.

mod endings;
mod large;
mod raw;

use operetta_apiserver::{ServeError, Server};

#[operetta_harness::test]
async fn an_address_in_use_is_an_error() {
    let running = Server::start().serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let refused = Server::start().serve(running.address());
    assert!(matches!(refused, Err(ServeError::Listen { .. })));
}
