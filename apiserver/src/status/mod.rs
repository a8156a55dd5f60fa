//! The `Status` bodies of failed requests, with the messages of kube-apiserver.
//!
//! Values only: how a failure is written to a connection is decided in [`crate::rest`].

mod error;
mod failures;

pub(crate) use self::error::{Result, StatusError};
