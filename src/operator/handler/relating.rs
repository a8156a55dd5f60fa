//! A handler with a function that names related objects.

use std::{marker::PhantomData, sync::Arc};

use super::{AnyHandler, Call, HasForm, IntoHandler, blocking::call_related, erased::Erased};
use crate::{
    object::{K8sType, Object},
    operator::{DecoratorResponse, FinalizeResponse, Parent, Related, SyncRequest},
};

/// A handler, and a function that names the objects that a parent reads and does not own, see
/// [`Handler::related`](super::Handler::related). The handler may have any form, also
/// [`with_finalizer`](super::with_finalizer).
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operetta::{object::Object, operator::with_related, prelude::*};
/// use serde_json::json;
///
/// fn related(_: &Object) -> Related {
///     Related::new().named::<Secret>("credentials")
/// }
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let has_credentials = request.related_object::<Secret>("credentials")?.is_some();
///     Ok(SyncResponse::status(json!({"hasCredentials": has_credentials})))
/// }
///
/// let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// let config = OperatorConfig::new("websites", website).related::<Secret>();
/// let supervisor = Supervisor::builder().register(config, with_related(sync, related));
/// ```
pub fn with_related<Form, H, P, F>(handler: H, related: F) -> AnyHandler<H::Role>
where
    H: HasForm<Form> + IntoHandler<Form>,
    P: Parent,
    F: Fn(&P) -> Related + Send + Sync + 'static,
{
    let handler = handler.into_handler().erased();
    AnyHandler::of(Arc::new(Relating { handler, related, parent: PhantomData }))
}

struct Relating<F, P> {
    handler: AnyHandler,
    related: F,
    parent: PhantomData<fn(P)>,
}

impl<F, P> Erased for Relating<F, P>
where
    P: Parent,
    F: Fn(&P) -> Related + Send + Sync + 'static,
{
    fn parent(&self) -> Option<K8sType> {
        self.handler.parent().or_else(P::k8s_type)
    }

    fn has_finalizer(&self) -> bool {
        self.handler.has_finalizer()
    }

    fn is_async(&self) -> bool {
        self.handler.is_async()
    }

    fn names_related(&self) -> bool {
        true
    }

    fn related(self: Arc<Self>, parent: Object) -> Call<Related> {
        Call::Blocking(Box::new(move || call_related(&parent, &self.related)))
    }

    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<DecoratorResponse> {
        self.handler.sync(request)
    }

    fn finalize(self: Arc<Self>, request: SyncRequest) -> Call<FinalizeResponse> {
        self.handler.finalize(request)
    }
}
