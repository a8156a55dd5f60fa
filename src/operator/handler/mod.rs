//! The code of the user, and how the framework calls it.

mod any;
mod async_handler;
mod blocking;
mod call;
mod erased;
mod finalizing;
mod forms;
mod relating;

pub use any::AnyHandler;
pub use async_handler::AsyncHandler;
pub use blocking::Handler;
use call::Returned;
pub(crate) use call::{Call, Failed, panic_text};
pub use finalizing::{WithFinalizer, with_finalizer};
pub use forms::{IntoHandler, form};
pub use relating::with_related;
