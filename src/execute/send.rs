//! Sends requests to the API server.

use super::Context;
use crate::{
    object::Uid,
    reply::ApiError,
    run::{Answer, Reply, Request, Whole},
};

impl Context {
    /// Sends a request of a reconcile of a parent.
    pub(super) async fn send(&self, parent: Uid, request: Request) -> Answer {
        if let Some(id) = request.written().filter(|_| !self.may_write(&parent)) {
            let request = format!("write {} {}", id.ty.resource_name(), id.key);
            return Err(ApiError::NotLeading { request });
        }
        let (cluster, manager) = (&self.parts.cluster, self.name().as_str());
        match request {
            Request::Read(id) => cluster.read(&id.ty, &id.key).await.map(Reply::Object),
            Request::ReadWhole(id) => {
                let whole = cluster.read_whole(&id.ty, &id.key).await;
                whole.map(|whole| Reply::Whole(whole.map(Whole)))
            }
            Request::Apply { id, body, force, dry_run } => {
                let how = (force, dry_run);
                cluster.apply(&id, manager, &body, how).await.map(Reply::Written)
            }
            Request::ApplyStatus { id, body, force } => {
                cluster.apply_status(&id, manager, &body, force).await.map(Reply::Written)
            }
            Request::Patch(id, body) => {
                cluster.patch_object(&id.ty, &id.key, manager, &body).await.map(Reply::Written)
            }
            Request::PatchStatus(id, body) => {
                cluster.patch_status(&id, manager, &body).await.map(Reply::Written)
            }
            Request::Scale { id, version, replicas } => {
                cluster.scale(&id, manager, &version, replicas).await.map(|()| Reply::Scaled)
            }
            Request::Delete { id, uid, version, propagation } => {
                let proof = (&uid, &version);
                cluster.delete(&id, proof, propagation).await.map(Reply::Deleted)
            }
            Request::List { ty, namespace, selector } => {
                let listed = cluster.list_labelled(&ty, namespace.as_deref(), selector).await;
                listed.map(Reply::Listed)
            }
        }
    }
}
