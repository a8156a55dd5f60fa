//! Handlers without the types of their users: what the framework calls.

use std::{fmt, marker::PhantomData, sync::Arc};

use futures::FutureExt;

use super::{
    AsyncHandler, Call, Handler,
    async_handler::call_async,
    blocking::{call_blocking, call_related},
    erased::Erased,
};
use crate::{
    object::{K8sType, Object},
    operator::{
        DecoratorResponse, FinalizeResponse, Owns, Parent, Related, Response, Role, Shallow,
        SyncRequest, Untyped,
    },
};

/// A handler whose type is forgotten, for example in a list of several. Made by
/// [`IntoHandler::into_handler`](super::IntoHandler::into_handler).
///
/// `R` is the [`Role`] of the operators whose handler it is: one that returns a [`DecoratorResponse`] is that of
/// decorators only.
pub struct AnyHandler<R = Owns> {
    handler: Arc<dyn Erased>,
    role: PhantomData<R>,
}

struct Blocking<H>(H);

struct Async<H>(Arc<H>);

impl<R: Role> AnyHandler<R> {
    /// Forgets the type of a blocking handler.
    pub fn blocking<H>(handler: H) -> Self
    where
        H: Handler,
        H::Response: Response<Role = R>,
    {
        Self::of(Arc::new(Blocking(handler)))
    }

    /// Forgets the type of an asynchronous handler.
    pub fn asynchronous<H>(handler: H) -> Self
    where
        H: AsyncHandler,
        H::Response: Response<Role = R>,
    {
        Self::of(Arc::new(Async(Arc::new(handler))))
    }

    pub(super) fn of(handler: Arc<dyn Erased>) -> Self {
        Self { handler, role: PhantomData }
    }

    /// The same without its role, as the framework calls it.
    pub(crate) fn erased(self) -> AnyHandler {
        AnyHandler::of(self.handler)
    }

    pub(crate) fn parent(&self) -> Option<K8sType> {
        self.handler.parent()
    }

    pub(crate) fn has_finalizer(&self) -> bool {
        self.handler.has_finalizer()
    }

    pub(crate) fn is_async(&self) -> bool {
        self.handler.is_async()
    }

    /// Whether it certainly names related objects.
    pub(crate) fn names_related(&self) -> bool {
        self.handler.names_related()
    }

    pub(crate) fn related(&self, parent: Object) -> Call<Related> {
        self.handler.clone().related(parent)
    }

    pub(crate) fn sync(&self, request: SyncRequest) -> Call<DecoratorResponse> {
        self.handler.clone().sync(request)
    }

    pub(crate) fn finalize(&self, request: SyncRequest) -> Call<FinalizeResponse> {
        self.handler.clone().finalize(request)
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

    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<DecoratorResponse> {
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

    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<DecoratorResponse> {
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

// Not derived: that would require `R: Clone`.
impl<R> Clone for AnyHandler<R> {
    fn clone(&self) -> Self {
        Self { handler: self.handler.clone(), role: PhantomData }
    }
}

impl<R> fmt::Debug for AnyHandler<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.handler.is_async() { "asynchronous" } else { "blocking" };
        write!(f, "AnyHandler({kind})")
    }
}
