//! Who sent a message, what they may do, and what the tools read.

use std::{net::IpAddr, sync::Arc};

use actix_web::{HttpMessage, HttpRequest};

use super::requests::ApiRequest;
use crate::web::{
    audit::{Entry, Quota},
    paths::Paths,
    request_rules::RequestRules,
    state::WebState,
    status::Refused,
    targets,
    visitor::Caller,
};

/// The sender of a message.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) state: WebState,
    /// The namespace where a tool names none.
    pub(super) namespace: Option<String>,
    paths: Arc<Paths>,
    /// `None` without authentication: everybody may do everything.
    caller: Option<Caller>,
    quota: Quota,
    from: Option<IpAddr>,
}

impl Client {
    pub(super) fn of(
        request: &HttpRequest,
        namespace: Option<String>,
        state: &WebState,
        rules: &RequestRules,
    ) -> Result<Self, Refused> {
        let caller = request.extensions().get::<Caller>().cloned();
        if rules.access.is_some() && caller.is_none() {
            return Err(Refused::TokenMissing);
        }
        Ok(Self {
            state: state.clone(),
            namespace: namespace.filter(|name| !name.is_empty()),
            paths: Arc::clone(&rules.paths),
            caller,
            quota: rules.quota.clone(),
            from: request.peer_addr().map(|peer| peer.ip()),
        })
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.caller.as_ref().map(Caller::name)
    }

    /// Whether the HTTP API would answer this request.
    pub(super) async fn may(&self, request: &ApiRequest) -> Result<(), Refused> {
        let Some(caller) = &self.caller else { return Ok(()) };
        let ApiRequest { method, path, query } = request;
        let endpoint = self.paths.find(method, path);
        let targets = targets::of(endpoint, path, query, Some(&self.state.board));
        caller.check(method, targets).await
    }

    /// The entry of a command in the audit log.
    pub(super) fn entry(&self, request: &ApiRequest) -> Entry {
        let command = (request.method.clone(), request.path.clone());
        let mut entry = Entry::of_command(&self.state.metrics, &self.quota, command, self.from);
        self.user().into_iter().for_each(|user| entry.is_by(user));
        entry
    }
}
