//! Why a running process gave no answer: what happened, to which object, and what to do.

use std::{error::Error, io};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error(
        "nothing listens at {at}: start `operators run`, or give the address of a running process by --server"
    )]
    NothingListens { at: String },
    #[error("the certificate of {at} is not trusted: {why}; give its authority by --ca-file")]
    Untrusted { at: String, why: String },
    #[error(
        "{at} does not answer: {why}; check --server, and use https:// if the process serves TLS"
    )]
    Unreachable { at: String, why: String },
    #[error(
        "the token, or the password in the address, would be sent to {at} in clear text: use https://, or reach the process by --port-forward"
    )]
    ClearToken { at: String },
    #[error("{at} needs a token: give it by --token-file or in OPERETTA_TOKEN")]
    TokenMissing { at: String },
    #[error(
        "{at} refuses the token: {why}; create another one, for example by `kubectl create token` with the --audience \
         that the process accepts (its --auth-audience)"
    )]
    TokenRefused { at: String, why: String },
    #[error(
        "{why}; bind the ClusterRole operetta-reader to the user, or operetta-commander for commands (docs/security.md)"
    )]
    Forbidden { why: String },
    #[error("the operator `{operator}` does not exist at {at}{near}")]
    NoOperator { operator: String, at: String, near: String },
    #[error("the operator `{operator}` has no parent `{parent}`{near}")]
    NoParent { operator: String, parent: String, near: String },
    #[error("{at} is not the web endpoint of a program built with Operetta: {why}; check --server")]
    NotOperetta { at: String, why: String },
    #[error("{at} refused the request: {why}")]
    Refused { at: String, why: String, code: u16 },
}

impl Problem {
    /// The error of a request to `at`.
    pub(crate) fn of(error: kube::Error, at: &str, has_token: bool) -> Self {
        let at = at.to_owned();
        match error {
            kube::Error::Api(status) => {
                let (code, why) = (status.code, status.message.clone());
                match code {
                    401 if has_token => Self::TokenRefused { at, why },
                    401 => Self::TokenMissing { at },
                    403 => Self::Forbidden { why },
                    _ => Self::Refused { at, why: short(&why), code },
                }
            }
            error => Self::of_connection(&error, at),
        }
    }

    fn of_connection(error: &(dyn Error + 'static), at: String) -> Self {
        let mut deepest = error;
        while let Some(source) = deepest.source() {
            deepest = source;
        }
        let io = deepest.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return Self::NothingListens { at };
        }
        let why = deepest.to_string();
        if why.contains("certificate") {
            Self::Untrusted { at, why }
        } else {
            Self::Unreachable { at, why }
        }
    }

    /// Whether the process answered that there is no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code: 404, .. })
    }
}

/// A page of another server would fill the screen.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(300).collect()
}
