//! Handlers without the types of their users: what the framework calls.

use std::{fmt, sync::Arc};

use futures::FutureExt;

use super::{
    AsyncHandler, Call, Handler,
    async_handler::call_async,
    blocking::{call_blocking, call_related},
    erased::Erased,
};
use crate::{
    object::{K8sType, Object},
    operator::{FinalizeResponse, Parent, Related, Shallow, SyncRequest, SyncResponse},
};

/// A handler whose type is forgotten, for example in a list of several. Made by
/// [`IntoHandler::into_handler`](super::IntoHandler::into_handler).
#[derive(Clone)]
pub struct AnyHandler(Arc<dyn Erased>);

struct Blocking<H>(H);

struct Async<H>(Arc<H>);

impl AnyHandler {
    /// Forgets the type of a blocking handler.
    pub fn blocking(handler: impl Handler) -> Self {
        Self(Arc::new(Blocking(handler)))
    }

    /// Forgets the type of an asynchronous handler.
    pub fn asynchronous(handler: impl AsyncHandler) -> Self {
        Self(Arc::new(Async(Arc::new(handler))))
    }

    pub(super) fn of(erased: impl Erased) -> Self {
        Self(Arc::new(erased))
    }

    pub(crate) fn parent(&self) -> Option<K8sType> {
        self.0.parent()
    }

    pub(crate) fn has_finalizer(&self) -> bool {
        self.0.has_finalizer()
    }

    pub(crate) fn is_async(&self) -> bool {
        self.0.is_async()
    }

    /// Whether it certainly names related objects.
    pub(crate) fn names_related(&self) -> bool {
        self.0.names_related()
    }

    pub(crate) fn related(&self, parent: Object) -> Call<Related> {
        self.0.clone().related(parent)
    }

    pub(crate) fn sync(&self, request: SyncRequest) -> Call<SyncResponse> {
        self.0.clone().sync(request)
    }

    pub(crate) fn finalize(&self, request: SyncRequest) -> Call<FinalizeResponse> {
        self.0.clone().finalize(request)
    }
}

/// The responses are shallow: they can be dropped wherever the reconcile may end.
impl<H: Handler> Erased for Blocking<H> {
    fn parent(&self) -> Option<K8sType> {
        H::Parent::k8s_type()
    }

    fn has_finalizer(&self) -> bool {
        self.0.has_finalizer()
    }

    fn is_async(&self) -> bool {
        false
    }

    fn related(self: Arc<Self>, parent: Object) -> Call<Related> {
        Call::Blocking(Box::new(move || call_related(&parent, |parent| self.0.related(parent))))
    }

    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<SyncResponse> {
        Call::Blocking(Box::new(move || {
            call_blocking(&self.0, request, |handler, request| {
                handler.sync(request).map(|response| response.untyped().shallow())
            })
        }))
    }

    fn finalize(self: Arc<Self>, request: SyncRequest) -> Call<FinalizeResponse> {
        Call::Blocking(Box::new(move || {
            call_blocking(&self.0, request, |handler, request| {
                handler.finalize(request).map(Shallow::shallow)
            })
        }))
    }
}

impl<H: AsyncHandler> Erased for Async<H> {
    fn parent(&self) -> Option<K8sType> {
        H::Parent::k8s_type()
    }

    fn has_finalizer(&self) -> bool {
        self.0.has_finalizer()
    }

    fn is_async(&self) -> bool {
        true
    }

    fn related(self: Arc<Self>, parent: Object) -> Call<Related> {
        Call::Blocking(Box::new(move || call_related(&parent, |parent| self.0.related(parent))))
    }

    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<SyncResponse> {
        let sync = |handler: Arc<H>, request| async move {
            handler.sync(request).await.map(|response| response.untyped().shallow())
        };
        Call::Async(call_async(self.0.clone(), request, sync).boxed())
    }

    fn finalize(self: Arc<Self>, request: SyncRequest) -> Call<FinalizeResponse> {
        let finalize = |handler: Arc<H>, request| async move {
            handler.finalize(request).await.map(Shallow::shallow)
        };
        Call::Async(call_async(self.0.clone(), request, finalize).boxed())
    }
}

impl fmt::Debug for AnyHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_async() { "asynchronous" } else { "blocking" };
        write!(f, "AnyHandler({kind})")
    }
}
