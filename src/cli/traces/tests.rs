//! Where traces are sent. `operators/tests/it/process` receives them.

use super::*;

#[test]
fn the_path_of_traces_is_added_to_an_address_alone() {
    let of = |endpoint: &str| traces_of(&endpoint.parse().unwrap());
    assert_eq!(of("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
    assert_eq!(of("http://127.0.0.1:4318/"), "http://127.0.0.1:4318/v1/traces");
    assert_eq!(
        of("https://collector.example/otlp/v1/traces"),
        "https://collector.example/otlp/v1/traces"
    );
}
