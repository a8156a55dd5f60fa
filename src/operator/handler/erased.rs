//! What the framework asks of every handler, whatever its types.

use std::sync::Arc;

use super::Call;
use crate::{
    object::{K8sType, Object},
    operator::{DecoratorResponse, FinalizeResponse, Related, SyncRequest},
};

pub(super) trait Erased: Send + Sync + 'static {
    /// The type of its parents; `None` for any.
    fn parent(&self) -> Option<K8sType>;
    fn has_finalizer(&self) -> bool;
    fn is_async(&self) -> bool;
    /// Whether it certainly names related objects; one that implements a trait may.
    fn names_related(&self) -> bool {
        false
    }
    fn related(self: Arc<Self>, parent: Object) -> Call<Related>;
    fn sync(self: Arc<Self>, request: SyncRequest) -> Call<DecoratorResponse>;
    fn finalize(self: Arc<Self>, request: SyncRequest) -> Call<FinalizeResponse>;
}
