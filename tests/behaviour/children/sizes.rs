//! Objects that are too large: for a type, for etcd, for a request to etcd, or for the API server.

use serde_json::json;

use crate::{
    recipe::RECIPE,
    world::{CONFIG_MAP, SECRET, World},
};

const MEBIBYTE: usize = 1 << 20;

fn of_size(size: usize) -> String {
    "x".repeat(size)
}

#[operetta_harness::test(server)]
async fn each_size_limit_has_its_own_error() {
    let world = World::new().await;
    let config_map = |size| json!({"data": {"x": of_size(size)}});
    let secret = |size| json!({"stringData": {"x": of_size(size)}});
    let recipe = |size| json!({"spec": {"x": of_size(size)}});
    for (kind, mut body, code, words) in [
        (CONFIG_MAP, config_map(MEBIBYTE), 0, ""),
        (
            CONFIG_MAP,
            config_map(MEBIBYTE + 1),
            422,
            "[]: Too long: may not be more than 1048576 bytes",
        ),
        (SECRET, secret(MEBIBYTE), 0, ""),
        (SECRET, secret(MEBIBYTE + 1), 422, "data: Too long: may not be more than 1048576 bytes"),
        (RECIPE, recipe(1_570_000), 0, ""),
        (RECIPE, recipe(1_575_000), 500, "etcdserver: request is too large"),
        (RECIPE, recipe(2_090_000), 500, "etcdserver: request is too large"),
        (RECIPE, recipe(2_100_000), 500, "trying to send message larger than max"),
        (RECIPE, recipe(3_200_000), 413, "Request entity too large: limit is 3145728"),
    ] {
        body["metadata"] = json!({"generateName": "x-"});
        let answer = match world.try_create(kind, body).await {
            Ok(_) => (0, String::new()),
            Err(kube::Error::Api(status)) => (status.code, status.message),
            Err(error) => panic!("{error}"),
        };
        assert!(answer.0 == code && answer.1.contains(words), "{words}: {answer:?}");
    }
}
