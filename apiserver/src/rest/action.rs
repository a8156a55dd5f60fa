//! Subresources that hold no part of their object: bindings, evictions, tokens, and connections.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::{
    body::Body,
    call::{Call, Verb},
    decode, delete_options,
    kind::other_message,
    log_options, place, reply,
    route::ResourcePath,
    sent::Admitted,
    token,
};
use crate::{
    cluster::Cluster,
    log::ObjectKey,
    pods::{self, Binding, Connection},
    resource::{Resource, Resources},
    status::StatusError,
};

/// What a request does beside reading and writing objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Assigns a Pod to a node.
    Bind,
    /// Deletes a Pod within its disruption budget.
    Evict,
    /// Issues a token for a service account.
    IssueToken,
    /// Connects to what runs.
    Connect(Connection, &'static str),
}

/// The action that a path leads to, and the type that it is about.
pub(super) fn find<'r>(
    resources: &'r Resources,
    path: &ResourcePath,
) -> Option<(Action, &'r Arc<Resource>)> {
    if !path.group.is_empty() {
        return None;
    }
    let subresource = path.subresource.as_deref().unwrap_or_default();
    let first = subresource.split('/').next().unwrap_or_default();
    let action = match (path.plural.as_str(), first) {
        ("bindings", "") if path.name.is_none() && path.namespace.is_some() => Action::Bind,
        ("pods" | "services" | "nodes", "proxy") => Action::Connect(Connection::Proxy, "proxy"),
        _ if first != subresource => return None,
        ("serviceaccounts", "token") => Action::IssueToken,
        ("pods", "binding") => Action::Bind,
        ("pods", "eviction") => Action::Evict,
        ("pods", "log") => Action::Connect(Connection::Log, "log"),
        ("pods", "exec") => Action::Connect(Connection::Exec, "exec"),
        ("pods", "attach") => Action::Connect(Connection::Exec, "attach"),
        ("pods", "portforward") => Action::Connect(Connection::PortForward, "portforward"),
        _ => return None,
    };
    let plural = if path.plural == "bindings" { "pods" } else { path.plural.as_str() };
    Some((action, resources.by_path("", &path.version, plural)?))
}

impl Action {
    /// What a method does; most actions have one method.
    pub(super) fn verb(self, method: &Method) -> Result<Verb, StatusError> {
        match (self, method.as_str()) {
            (Self::Bind | Self::Evict | Self::IssueToken, "POST") => Ok(Verb::Create),
            (Self::Connect(Connection::Proxy, _), _)
            | (Self::Connect(..), "GET")
            | (Self::Connect(Connection::Exec | Connection::PortForward, _), "POST") => {
                Ok(Verb::Get)
            }
            _ => Err(StatusError::method_not_allowed()),
        }
    }

    /// Answers a request.
    pub(super) fn answer(
        self,
        cluster: &Cluster,
        call: &Call<'_>,
    ) -> Result<Response<Body>, StatusError> {
        match self {
            Self::Bind => bind(cluster, call),
            Self::Evict => evict(cluster, call),
            Self::IssueToken => token::issue(cluster, call),
            Self::Connect(connection, name) => {
                if connection == Connection::Log {
                    log_options::check(call.query, &call.key().name)?;
                }
                let (container, about) = (call.query.text("container"), (connection, name));
                let text = pods::connect(cluster, call.resource, &call.key(), about, container)?;
                let mut response = Response::new(Body::full(Bytes::from_static(text.as_bytes())));
                if text.is_empty() {
                    *response.status_mut() = StatusCode::NO_CONTENT;
                } else {
                    let plain = HeaderValue::from_static("text/plain");
                    response.headers_mut().insert(CONTENT_TYPE, plain);
                }
                Ok(response)
            }
        }
    }
}

fn bind(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let dry_run = call.write_options()?.dry_run;
    let mut binding = message(call, "Binding", &["v1"])?;
    // Bindings that name their Pod themselves are a resource of their own.
    let is_of_pod = call.path.name.is_some();
    let admission = is_of_pod.then(|| Admitted::of(call, ("", "v1", "Binding"), "binding"));
    if let Some(admission) = &admission {
        admission.mutate(cluster, &mut binding)?;
    }
    let name = match &call.path.name {
        Some(name) => check_name("Binding", name, &binding)?,
        None => binding["metadata"]["name"].as_str().unwrap_or_default(),
    };
    let key = ObjectKey::new(call.path.namespace.as_deref().unwrap_or_default(), name);
    if let Some(admission) = &admission {
        admission.validate(cluster, &binding)?;
    }
    pods::bind(cluster, call.resource, &key, &Binding(&binding), dry_run)?;
    let answered = created(call, &pods::success());
    reply::warned(answered, &admission.map(|it| it.warnings()).unwrap_or_default())
}

fn evict(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let dry_run = call.write_options()?.dry_run;
    let mut eviction = message(call, "Eviction", &["policy/v1", "policy/v1beta1"])?;
    let admission = Admitted::of(call, ("policy", "v1", "Eviction"), "eviction");
    admission.mutate(cluster, &mut eviction)?;
    check_name("Eviction", &call.key().name, &eviction)?;
    let given = &mut eviction["deleteOptions"];
    if dry_run && given["dryRun"].as_array().is_none_or(Vec::is_empty) {
        given["dryRun"] = json!(["All"]);
    }
    let options = delete_options::read(given)?;
    admission.validate(cluster, &eviction)?;
    let evicted = pods::evict(cluster, call.resource, &call.key(), &options)?;
    reply::warned(created(call, &evicted), &admission.warnings())
}

/// The object in the body of a request.
fn message(call: &Call<'_>, kind: &str, versions: &[&str]) -> Result<Value, StatusError> {
    let mut body = decode::message((versions[0], kind), call.content_type(), call.body)?;
    let given = |field: &str| body[field].as_str().unwrap_or_default();
    let (version, given_kind) = (given("apiVersion"), given("kind"));
    let fits = version.is_empty() || versions.contains(&version);
    if !fits || !given_kind.is_empty() && given_kind != kind {
        return Err(other_message(version, given_kind, kind));
    }
    place::check(call.path.namespace.as_deref(), None, &body)?;
    place::fill_namespace(call.path.namespace.as_deref(), &mut body);
    Ok(body)
}

fn check_name<'b>(kind: &str, name: &str, body: &'b Value) -> Result<&'b str, StatusError> {
    let given = body["metadata"]["name"].as_str().unwrap_or_default();
    if given == name {
        return Ok(given);
    }
    let message = format!("name in URL does not match name in {kind} object");
    Err(StatusError::bad_request(message))
}

fn created(call: &Call<'_>, status: &Value) -> Result<Response<Body>, StatusError> {
    let mut response = reply::value_as(call.accepted()?.format, status);
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    *response.status_mut() = code.unwrap_or(StatusCode::CREATED);
    Ok(response)
}
