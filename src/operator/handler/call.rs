//! One call of a handler, without the types of its user.

use std::{any::Any, sync::Arc};

use anyhow::{Error, anyhow};
use futures::future::BoxFuture;

use crate::{
    object::{K8sType, ParseAsError},
    operator::{ErrorResponse, Permanent, Shallow, panic_text},
};

pub(crate) type Returned<R> = Result<R, Failed>;

/// A call that has not begun.
pub(crate) enum Call<R> {
    /// To be made where blocking is fine.
    Blocking(Box<dyn FnOnce() -> Returned<R> + Send>),
    /// Dropping it cancels the call.
    Async(BoxFuture<'static, Returned<R>>),
}

/// The error of a handler, with its response to it.
pub(crate) struct Failed {
    pub(crate) error: Arc<Error>,
    /// Boxed, because most calls succeed.
    pub(crate) response: Box<ErrorResponse>,
    /// The panic of `on_error`.
    pub(crate) panic: Option<String>,
}

impl Failed {
    pub(super) fn new(
        error: Arc<Error>,
        answer: Result<ErrorResponse, Box<dyn Any + Send>>,
    ) -> Self {
        match answer {
            Ok(response) => Self { error, response: Box::new(response.shallow()), panic: None },
            Err(panic) => {
                let panic = Some(panic_text(panic));
                Self { error, response: Box::default(), panic }
            }
        }
    }

    /// The parent does not fit the type of the handler. No retry changes that.
    pub(super) fn misfit(error: &ParseAsError) -> Self {
        Self::permanent(error.to_string())
    }

    /// The operator declares no related type, and the handler names objects of one.
    pub(super) fn undeclared(ty: &K8sType) -> Self {
        Self::permanent(format!(
            "the handler names related objects of type {ty}, and the operator does not declare that type: \
             add `OperatorConfig::related` (or `related_of_type`) for it"
        ))
    }

    fn permanent(why: String) -> Self {
        let error = anyhow!(Permanent(why));
        Self { error: error.into(), response: Box::default(), panic: None }
    }
}
