//! The code of the user, and how the framework calls it.

mod any;
mod async_function;
mod async_handler;
mod blocking;
mod call;
mod erased;
mod finalizing;
mod forms;
mod function;
mod relating;
mod returned;

pub use any::AnyHandler;
pub use async_function::AsyncOnError;
pub use async_handler::AsyncHandler;
pub use blocking::Handler;
use call::Returned;
pub(crate) use call::{Call, Failed};
pub use finalizing::{AsyncFinalize, Finalize, WithFinalizer, with_finalizer};
pub use forms::{HasForm, IntoHandler, form};
pub use function::OnError;
pub use relating::with_related;
pub use returned::{Awaited, HandlerResult};
