//! The forms of admission handlers, and how they are called without the types of their users.

use std::{future::Future, marker::PhantomData, sync::Arc};

use anyhow::Result;
use futures::{FutureExt, future::BoxFuture};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Admission, AdmissionRequest, DenialReason,
    carried::carried,
    request::{Misfit, typed},
};

/// A call that has not begun.
pub(crate) enum Call {
    /// To be made where blocking is fine.
    Blocking(Box<dyn FnOnce() -> Result<Answered> + Send>),
    /// Dropping it cancels the call.
    Async(BoxFuture<'static, Result<Answered>>),
}

/// The answer, and of a mutating handler the object as it is to be stored.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    pub(crate) admission: Admission,
    pub(crate) object: Option<Value>,
}

/// An admission handler without its types.
pub(crate) trait Admits: Send + Sync {
    fn call(self: Arc<Self>, request: AdmissionRequest) -> Call;
}

/// What can validate: `fn(&AdmissionRequest<T>) -> Result<Admission>`, which may block, or
/// `async fn(AdmissionRequest<T>) -> Result<Admission>`. `T` is the type of the object, or [`serde_json::Value`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not validate",
    label = "this has none of the forms of a validating handler",
    note = "a handler that blocks is `fn(request: &AdmissionRequest<T>) -> Result<Admission>`",
    note = "one that awaits is `async fn(request: AdmissionRequest<T>) -> Result<Admission>`",
    note = "a closure says its types: `|request: &AdmissionRequest<T>| -> Result<Admission> {{ .. }}`"
)]
pub trait IntoValidator<Form> {
    /// The type of the object.
    type Object;

    #[doc(hidden)]
    fn into_validator(self) -> form::Erased;
}

/// What can mutate: `fn(&AdmissionRequest<T>, &mut T) -> Result<Admission>`, which may block, or
/// `async fn(AdmissionRequest<T>, T) -> Result<(T, Admission)>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not mutate",
    label = "this has none of the forms of a mutating handler",
    note = "a handler that blocks is `fn(request: &AdmissionRequest<T>, object: &mut T) -> Result<Admission>`",
    note = "one that awaits is `async fn(request: AdmissionRequest<T>, object: T) -> Result<(T, Admission)>`",
    note = "a closure says its types: `|request: &AdmissionRequest<T>, object: &mut T| -> Result<Admission> {{ .. }}`"
)]
pub trait IntoMutator<Form> {
    /// The type of the object.
    type Object;

    #[doc(hidden)]
    fn into_mutator(self) -> form::Erased;
}

/// Names the forms of [`IntoValidator`] and [`IntoMutator`].
pub mod form {
    use std::{marker::PhantomData, sync::Arc};

    /// A blocking function, by the type of its object.
    #[derive(Debug)]
    pub struct Blocking<T>(PhantomData<T>);
    /// An asynchronous function, by the type of its object and its future.
    #[derive(Debug)]
    pub struct Async<T, Fut>(PhantomData<(T, Fut)>);

    /// A handler without its types.
    pub struct Erased(pub(super) Arc<dyn super::Admits>);

    impl Erased {
        pub(crate) fn into_inner(self) -> Arc<dyn super::Admits> {
            self.0
        }
    }

    impl std::fmt::Debug for Erased {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Erased")
        }
    }
}

struct Validates<F, T>(F, PhantomData<fn() -> T>);
struct ValidatesAsync<F, T>(F, PhantomData<fn() -> T>);
struct Mutates<F, T>(F, PhantomData<fn() -> T>);
struct MutatesAsync<F, T>(F, PhantomData<fn() -> T>);

// === validating ===

impl<F, T> IntoValidator<form::Blocking<T>> for F
where
    F: Fn(&AdmissionRequest<T>) -> Result<Admission> + Send + Sync + 'static,
    T: DeserializeOwned + 'static,
{
    type Object = T;

    fn into_validator(self) -> form::Erased {
        form::Erased(Arc::new(Validates(self, PhantomData)))
    }
}

impl<F, T, Fut> IntoValidator<form::Async<T, Fut>> for F
where
    F: Fn(AdmissionRequest<T>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Admission>> + Send + 'static,
    T: DeserializeOwned + Send + 'static,
{
    type Object = T;

    fn into_validator(self) -> form::Erased {
        form::Erased(Arc::new(ValidatesAsync(self, PhantomData)))
    }
}

impl<F, T> Admits for Validates<F, T>
where
    F: Fn(&AdmissionRequest<T>) -> Result<Admission> + Send + Sync + 'static,
    T: DeserializeOwned + 'static,
{
    fn call(self: Arc<Self>, request: AdmissionRequest) -> Call {
        Call::Blocking(Box::new(move || match request.map(|object| typed::<T>(&object)) {
            Ok(request) => (self.0)(&request).map(Answered::from),
            Err(misfit) => Ok(misfit.into()),
        }))
    }
}

impl<F, T, Fut> Admits for ValidatesAsync<F, T>
where
    F: Fn(AdmissionRequest<T>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Admission>> + Send + 'static,
    T: DeserializeOwned + Send + 'static,
{
    fn call(self: Arc<Self>, request: AdmissionRequest) -> Call {
        let answer = async move {
            match request.map(|object| typed::<T>(&object)) {
                Ok(request) => (self.0)(request).await.map(Answered::from),
                Err(misfit) => Ok(misfit.into()),
            }
        };
        Call::Async(answer.boxed())
    }
}

// === mutating ===

impl<F, T> IntoMutator<form::Blocking<T>> for F
where
    F: Fn(&AdmissionRequest<T>, &mut T) -> Result<Admission> + Send + Sync + 'static,
    T: DeserializeOwned + Serialize + 'static,
{
    type Object = T;

    fn into_mutator(self) -> form::Erased {
        form::Erased(Arc::new(Mutates(self, PhantomData)))
    }
}

impl<F, T, Fut> IntoMutator<form::Async<T, Fut>> for F
where
    F: Fn(AdmissionRequest<T>, T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(T, Admission)>> + Send + 'static,
    T: DeserializeOwned + Serialize + Send + 'static,
{
    type Object = T;

    fn into_mutator(self) -> form::Erased {
        form::Erased(Arc::new(MutatesAsync(self, PhantomData)))
    }
}

impl<F, T> Admits for Mutates<F, T>
where
    F: Fn(&AdmissionRequest<T>, &mut T) -> Result<Admission> + Send + Sync + 'static,
    T: DeserializeOwned + Serialize + 'static,
{
    fn call(self: Arc<Self>, request: AdmissionRequest) -> Call {
        Call::Blocking(Box::new(move || {
            let Some(mut edited) = Edited::<T>::of(&request) else {
                return Ok(Answered::default());
            };
            match (edited.typed(), request.map(|object| typed::<T>(&object))) {
                (Ok(mut object), Ok(request)) => {
                    let admission = (self.0)(&request, &mut object)?;
                    edited.answer(&object, admission)
                }
                (Err(misfit), _) | (_, Err(misfit)) => Ok(misfit.into()),
            }
        }))
    }
}

impl<F, T, Fut> Admits for MutatesAsync<F, T>
where
    F: Fn(AdmissionRequest<T>, T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(T, Admission)>> + Send + 'static,
    T: DeserializeOwned + Serialize + Send + 'static,
{
    fn call(self: Arc<Self>, request: AdmissionRequest) -> Call {
        let answer = async move {
            let Some(mut edited) = Edited::<T>::of(&request) else {
                return Ok(Answered::default());
            };
            match (edited.typed(), request.map(|object| typed::<T>(&object))) {
                (Ok(object), Ok(request)) => {
                    let (object, admission) = (self.0)(request, object).await?;
                    edited.answer(&object, admission)
                }
                (Err(misfit), _) | (_, Err(misfit)) => Ok(misfit.into()),
            }
        };
        Call::Async(answer.boxed())
    }
}

/// The object of a request while a handler changes it. A deletion has none.
struct Edited<T> {
    original: Value,
    before: Value,
    ty: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + Serialize> Edited<T> {
    fn of(request: &AdmissionRequest) -> Option<Self> {
        let original = request.object.clone()?;
        Some(Self { original, before: Value::Null, ty: PhantomData })
    }

    fn typed(&mut self) -> Result<T, Misfit> {
        let object = typed::<T>(&self.original)?;
        let unserializable =
            |error: serde_json::Error| Misfit { path: ".".to_owned(), why: error.to_string() };
        self.before = serde_json::to_value(&object).map_err(unserializable)?;
        Ok(object)
    }

    fn answer(self, object: &T, admission: Admission) -> Result<Answered> {
        let after = serde_json::to_value(object)?;
        let object = carried(self.original, &self.before, after);
        Ok(Answered { admission, object: Some(object) })
    }
}

impl From<Admission> for Answered {
    fn from(admission: Admission) -> Self {
        Self { admission, object: None }
    }
}

impl From<Misfit> for Answered {
    /// What does not fit the type of the handler would not fit the operator either.
    fn from(Misfit { path, why }: Misfit) -> Self {
        let field = if path == "." { "the object".to_owned() } else { path };
        Admission::deny(DenialReason::Invalid, format!("{field}: {why}")).cause(field, why).into()
    }
}

#[cfg(test)]
mod tests;
