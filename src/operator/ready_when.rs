//! A function of a program that decides whether children of a type are ready.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::object::{K8sType, Object, Readiness};

/// A function that decides whether children of a type are ready.
#[derive(Clone)]
pub struct ReadyWhen {
    pub(super) ty: K8sType,
    pub(super) is: Arc<dyn Fn(&Object) -> Readiness + Send + Sync>,
}

impl ReadyWhen {
    /// A child that is being deleted or that its controller has not observed is not ready in any case.
    pub(super) fn readiness(&self, child: &Object) -> Readiness {
        Readiness::unless_settled(child).unwrap_or_else(|| {
            let called = catch_unwind(AssertUnwindSafe(|| (self.is)(child)));
            called.unwrap_or_else(|_| Readiness::failed("the function of `ready_when` panicked"))
        })
    }
}

impl fmt::Debug for ReadyWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadyWhen({})", self.ty)
    }
}
