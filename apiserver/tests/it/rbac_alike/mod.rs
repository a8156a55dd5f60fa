//! What users are allowed and refused by roles: the same requests to the embedded and to the real server must be
//! answered with the same code and the same body.
//!
//! The requests stand in `requests.txt`. Without the programs of the real control plane the test is ignored.

mod script;
mod side;

use operetta_apiserver::{Server, User};

use script::Line;
use side::Side;

use crate::common::control_plane::{self, USERS};

#[operetta_harness::test]
async fn users_are_allowed_and_refused_the_same_as_by_the_real_server() {
    let control_plane = control_plane::shared().await;
    let server = Server::builder().rbac().start();
    let (mut embedded, mut real) = (Side::default(), Side::default());
    embedded.add("admin", server.client());
    real.add("admin", control_plane.client().unwrap());
    for (name, groups) in USERS {
        let user = groups.iter().fold(User::new(name), |user, group| user.group(*group));
        embedded.add(name, server.client_of(user));
        real.add(name, control_plane.client_for(name).unwrap());
    }
    let mut differences = 0;
    for line in script::lines() {
        match line {
            Line::Until(condition) => {
                embedded.wait(&condition).await;
                real.wait(&condition).await;
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
