//! Sends requests to the API server.

use super::Context;
use crate::run::{Answer, DryRun, Force, Reply, Request, Whole};

impl Context {
    pub(super) async fn send(&self, request: Request) -> Answer {
        let (cluster, manager) = (self.cluster(), self.name().as_str());
        match request {
            Request::Read(id) => cluster.read(&id.ty, &id.key).await.map(Reply::Object),
            Request::ReadWhole(id) => {
                let whole = cluster.read_whole(&id.ty, &id.key).await;
                whole.map(|whole| Reply::Whole(whole.map(Whole)))
            }
            Request::Apply { id, body, force, dry_run } => {
                let (ty, key) = (&id.ty, &id.key);
                let written = match (dry_run, force) {
                    (DryRun::No, Force::Yes) => cluster.apply(ty, key, manager, &body).await,
                    (DryRun::No, Force::No) => {
                        cluster.apply_yielding(ty, key, manager, &body).await
                    }
                    (DryRun::Yes, Force::Yes) => cluster.try_apply(ty, key, manager, &body).await,
                    (DryRun::Yes, Force::No) => {
                        cluster.try_apply_yielding(ty, key, manager, &body).await
                    }
                    (DryRun::OfNew, _) => cluster.try_create(ty, key, manager, &body).await,
                };
                written.map(Reply::Written)
            }
            Request::Patch(id, body) => {
                cluster.patch_object(&id.ty, &id.key, manager, &body).await.map(Reply::Written)
            }
            Request::PatchStatus(id, body) => {
                cluster.patch_status(&id.ty, &id.key, manager, &body).await.map(Reply::Written)
            }
            Request::Delete { id, uid, version, propagation } => {
                let proof = (&uid, &version);
                cluster.delete(&id.ty, &id.key, proof, propagation).await.map(Reply::Deleted)
            }
            Request::List { ty, namespace, selector } => {
                let listed = cluster.list_labelled(&ty, namespace.as_deref(), selector).await;
                listed.map(Reply::Listed)
            }
        }
    }
}
