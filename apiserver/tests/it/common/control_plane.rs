//! The real control plane. Without its programs the calling test is ignored.
//!
//! It runs without controllers, which would act between two requests.

use std::sync::OnceLock;

use operetta_controlplane::{ControlPlane, Error, Options, User};
use operetta_harness::ignore_outside_ci;

/// The users of the shared one, with their groups; the administrator is not among them.
pub(crate) const USERS: [(&str, &[&str]); 4] =
    [("jane", &["people"]), ("dave", &["devs"]), ("carol", &["people"]), ("erin", &["people"])];

/// One for all tests that only see objects of their own. It ends with the process.
pub(crate) async fn shared() -> &'static ControlPlane {
    static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
    let start = || SHARED.get_or_init(start).as_ref();
    or_ignore(tokio::task::spawn_blocking(start).await.unwrap())
}

/// One for a test that sees the whole cluster.
pub(crate) async fn own() -> ControlPlane {
    or_ignore(tokio::task::spawn_blocking(start).await.unwrap())
}

/// The same with a feature gate switched on.
pub(crate) async fn with_feature(gate: &'static str) -> ControlPlane {
    let start = move || ControlPlane::start_with(&options().feature_gate(gate, true));
    or_ignore(tokio::task::spawn_blocking(start).await.unwrap())
}

/// The same for a test that needs no runtime.
pub(crate) fn own_blocking() -> ControlPlane {
    or_ignore(start())
}

fn start() -> Result<ControlPlane, Error> {
    ControlPlane::start_with(&options())
}

fn options() -> Options {
    let options = Options::default().audit(false).controller_manager(false);
    let user = |(name, groups): (&str, &[&str])| {
        groups.iter().fold(User::new(name), |user, group| user.group(*group))
    };
    USERS.map(user).into_iter().fold(options, Options::user)
}

fn or_ignore<C>(started: Result<C, impl std::borrow::Borrow<Error>>) -> C {
    started.unwrap_or_else(|error| match error.borrow() {
        missing @ Error::Unavailable { .. } => ignore_outside_ci(missing),
        error => panic!("{error}"),
    })
}
