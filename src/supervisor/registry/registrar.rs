//! The handle by which operators are registered at run time.

use std::time::Duration;

use tokio::sync::{mpsc::UnboundedSender, oneshot};

use super::RegistrationError;
use crate::operator::{AnyOperator, Fits, HasForm, IntoHandler, OperatorConfig, Role};

/// Registers and deregisters operators while the supervisor runs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Registrar(UnboundedSender<Request>);

/// What becomes of the parents of an operator that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRemoval {
    /// They stay as they are, with their children and finalizers, for a later registration.
    Leave,
    /// Each parent is finalized, as if it left the selection: the finalizer of the operator is removed, and its children
    /// stay.
    Finalize {
        /// How long that may take.
        within: Duration,
    },
}

/// A request of a [`Registrar`].
#[derive(Debug)]
pub(crate) enum Request {
    Register { operator: Box<AnyOperator>, answer: RegistrationResponder },
    Deregister { name: String, on_removal: OnRemoval, answer: RegistrationResponder },
    Reconfigure { config: Box<OperatorConfig>, answer: RegistrationResponder },
}

pub(crate) type RegistrationResponder = oneshot::Sender<Result<(), RegistrationError>>;

impl Registrar {
    pub(crate) fn new(requests: UnboundedSender<Request>) -> Self {
        Self(requests)
    }

    /// Adds an operator. It returns when the operator is registered, before its types are listed: an operator with an
    /// unknown type or a missing permission is degraded until that is fixed.
    ///
    /// Watches of types that other operators use are shared, and no operator notices. The first registration that
    /// needs more of a watched type replaces its watch once. So does a registration whose earlier writes the cache lacks.
    ///
    /// # Errors
    /// The configuration cannot work, its name is taken, or the supervisor has ended.
    pub async fn register<R: Role, Form, H>(
        &self,
        config: OperatorConfig<R>,
        handler: H,
    ) -> Result<(), RegistrationError>
    where
        H: HasForm<Form> + IntoHandler<Form>,
        H::Role: Fits<R>,
    {
        self.register_any(AnyOperator::new(config, handler)).await
    }

    /// The same for an operator whose role and types are forgotten.
    ///
    /// # Errors
    /// Those of [`register`](Self::register).
    pub async fn register_any(&self, operator: AnyOperator) -> Result<(), RegistrationError> {
        let operator = Box::new(operator);
        self.ask(|answer| Request::Register { operator, answer }).await
    }

    /// Removes an operator. It returns when its reconciles have ended and nothing of it is left: no watch that only it
    /// needed, no metric, no row on the page.
    ///
    /// # Errors
    /// There is no such operator, it is being removed already, some parents were not finalized in time, or the
    /// supervisor has ended.
    pub async fn deregister(
        &self,
        name: &str,
        on_removal: OnRemoval,
    ) -> Result<(), RegistrationError> {
        let name = name.to_owned();
        self.ask(|answer| Request::Deregister { name, on_removal, answer }).await
    }

    /// Replaces the configuration of the operator of this name, whose handler stays. It returns when the change is
    /// accepted; it takes effect when all types that are new are listed. Until then the operator works as before, and
    /// is degraded if a type cannot be listed.
    ///
    /// Parents that enter or leave the selection are treated as if their labels had changed; those that are now in
    /// other namespaces than the operator's stay as they are. With other children, or other rules for them, all
    /// parents are reconciled, else none but these. Children of a type that is no longer declared stay.
    ///
    /// # Errors
    /// There is no such operator, the configuration cannot work, or it has another parent type, finalizer, labels,
    /// predecessor, role or related types.
    pub async fn reconfigure<R: Role>(
        &self,
        config: OperatorConfig<R>,
    ) -> Result<(), RegistrationError> {
        let config = Box::new(config.erased());
        self.ask(|answer| Request::Reconfigure { config, answer }).await
    }

    async fn ask(
        &self,
        request: impl FnOnce(RegistrationResponder) -> Request,
    ) -> Result<(), RegistrationError> {
        let (answer, answered) = oneshot::channel();
        // Then the receiver of the answer fails too.
        let _ = self.0.send(request(answer));
        answered.await.unwrap_or(Err(RegistrationError::Stopped))
    }
}
