//! What users are allowed and refused by roles: the same requests to the embedded and to the real server must be
//! answered with the same code and the same body.
//!
//! The requests stand in `requests.txt`. Without the programs of the real control plane the test is ignored.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod script;
mod side;

use std::process::ExitCode;

use operetta_apiserver::{Server, User};
use operetta_controlplane::{ControlPlane, Error, Options, User as RealUser};
use operetta_harness::ignore_outside_ci;

use script::Line;
use side::Side;

/// The users with their groups; the administrator is not among them.
const USERS: [(&str, &[&str]); 4] =
    [("jane", &["people"]), ("dave", &["devs"]), ("carol", &["people"]), ("erin", &["people"])];

fn main() -> ExitCode {
    operetta_harness::main()
}

#[operetta_harness::test]
async fn users_are_allowed_and_refused_the_same_as_by_the_real_server() {
    let mut options = Options::default().audit(false).controller_manager(false);
    for (name, groups) in USERS {
        options = options.user(groups.iter().fold(RealUser::new(name), |user, it| user.group(*it)));
    }
    let start = move || ControlPlane::start_with(&options);
    let control_plane = match tokio::task::spawn_blocking(start).await.unwrap() {
        Ok(control_plane) => control_plane,
        Err(missing @ Error::Unavailable { .. }) => ignore_outside_ci(missing),
        Err(error) => panic!("{error}"),
    };
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
