//! Lists and watches of shards: the embedded server and the real one answer the same requests the same, with the
//! feature gate `ShardedListAndWatch` and without it.
//!
//! The requests stand in `requests.txt`. Without the programs of the real control plane the comparisons are ignored.
//! `in_process` asks the embedded server alone.

mod in_process;
mod script;
mod side;

use kube::Client;
use operetta_apiserver::{Builder, Server, User};

use script::Line;
use side::Side;

use crate::common::control_plane;

#[operetta_harness::test]
async fn shards_are_answered_as_by_the_real_server() {
    let control_plane = control_plane::with_feature("ShardedListAndWatch").await;
    let server = builder().sharded_lists().start();
    compare(&server, control_plane.client().unwrap()).await;
}

#[operetta_harness::test]
async fn without_the_feature_shards_are_ignored_as_by_the_real_server() {
    let control_plane = control_plane::own().await;
    compare(&builder().start(), control_plane.client().unwrap()).await;
}

fn builder() -> Builder {
    Server::builder().rbac().without_controller_manager()
}

async fn compare(server: &Server, real: Client) {
    let admin = User::new("admin").group("system:masters");
    let (mut embedded, mut real) = (Side::new(server.client_of(admin)), Side::new(real));
    let mut differences = 0;
    for line in script::lines() {
        match line {
            Line::Until(code, path) => {
                embedded.wait(code, path).await;
                real.wait(code, path).await;
            }
            Line::Keep => {
                embedded.keep();
                real.keep();
            }
            Line::Request(request) => {
                let (ours, theirs) = tokio::join!(embedded.send(&request), real.send(&request));
                if ours != theirs {
                    println!("{}\n--- embedded\n{ours}\n--- real\n{theirs}\n", request.line);
                    differences += 1;
                }
            }
        }
    }
    assert_eq!(differences, 0, "requests are answered differently");
}
