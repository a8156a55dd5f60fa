//! Answers requests beside the runtime: on a thread that may wait for webhooks.

use std::sync::Arc;

use http::Response;
use tokio::runtime::Handle;

use super::{
    body::Body,
    call::{Call, Verb},
};
use crate::{
    callout::Caller, conversion, deep, log::Object, rbac::Writer, requests::RequestRecord,
    resource::Resource, shared::Shared, status::StatusError,
};

/// Answers a request on a thread of its own. Holds no lock meanwhile.
pub(super) async fn answer(
    server: &Arc<Shared>,
    call: &Call<'_>,
    record: &RequestRecord,
    dispatch: impl Send
    + 'static
    + FnOnce(
        &Arc<Shared>,
        &Call<'_>,
        Verb,
        &RequestRecord,
    ) -> Result<Response<Body>, StatusError>,
) -> Result<Response<Body>, StatusError> {
    let Call {
        resource, path, verb, subresource, query, headers, body, now, writer, chain, ..
    } = call;
    let user = writer.user.clone();
    let (server, record) = (Arc::clone(server), record.clone());
    let (resource, path, query) = (Arc::clone(resource), (*path).clone(), (*query).clone());
    let (headers, body, chain) = ((*headers).clone(), (*body).clone(), chain.clone());
    let (verb, subresource, now) = (*verb, *subresource, *now);
    let answer = move || {
        let caller = Caller::new(Handle::current(), Arc::clone(&server.services));
        let call = Call {
            resource: &resource,
            path: &path,
            verb,
            subresource,
            query: &query,
            headers: &headers,
            body: &body,
            now,
            writer: Writer {
                authorizer: &server.authorizer,
                log: &server.cluster.log,
                user: &user,
            },
            chain,
            caller: Some(caller.clone()),
        };
        let uid = server.cluster.ids.uid();
        let answered = || dispatch(&server, &call, verb, &record);
        // It waits for others in its turn, so that no others may wait for its end.
        let answering = || (conversion::within(caller, uid, answered), deep::was_stopped());
        let ((answered, converted), was_stopped) = deep::deep(answering);
        (converted.map_err(StatusError::internal).and(answered), was_stopped)
    };
    let failed = |_| StatusError::internal_error("the request could not be answered");
    let (answered, was_stopped) = tokio::task::spawn_blocking(answer).await.map_err(failed)?;
    if was_stopped {
        deep::stop();
    }
    answered
}

/// Converts objects of a type, so that their forms are known.
pub(super) async fn learn(
    server: &Arc<Shared>,
    resource: &Arc<Resource>,
    objects: Vec<Arc<Object>>,
) -> Result<(), StatusError> {
    let (server, resource) = (Arc::clone(server), Arc::clone(resource));
    let learn = move || {
        let caller = Caller::new(Handle::current(), Arc::clone(&server.services));
        let decode = || {
            for object in &objects {
                resource.decode(object);
            }
        };
        let uid = server.cluster.ids.uid();
        let ((), converted) = deep::deep(|| conversion::within(caller, uid, decode));
        converted.map_err(StatusError::internal)
    };
    let failed = |_| StatusError::internal_error("the objects could not be converted");
    tokio::task::spawn_blocking(learn).await.map_err(failed)?
}
