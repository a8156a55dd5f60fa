//! The HTTP face of the cluster: from a request to a response, without sockets.
//!
//! ```text
//!  request ─ route ─┬─ documents    discovery, OpenAPI, health, version
//!                   │
//!                   └ Call ─┬─ read    get, list (page, selection)
//!                          ├─ watch   watcher ─ frames
//!                          ├─ change  create, update, patch ──> write
//!                          ├─ remove  delete ─────────────────> write
//!                          └─ action  binding, eviction, log ─> pods; tokens ─> account_tokens
//! ```
//!
//! Every failure is a `Status`; missing features are answered 501 or 415 with their name.
//! Not here: tokens and sockets (see [`crate::transport`]).

mod accept;
mod action;
mod admission;
mod beside;
mod body;
mod call;
mod change;
mod check;
mod component_status;
mod compression;
mod deadline;
mod decode;
mod delete_options;
mod documents;
mod fields;
mod frames;
mod health;
mod json_fault;
mod key_order;
mod kind;
mod list;
mod list_options;
mod log_options;
mod metrics;
mod options;
mod page;
mod patch;
mod permission;
mod place;
mod pretty;
mod publishing;
mod read;
mod remove;
mod reply;
mod representation;
mod review;
mod route;
mod scale;
mod selection;
mod sent;
mod strategic;
mod subresource;
mod token;
mod tree;
mod watch;
mod watcher;
mod yaml_fault;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};

pub use self::body::Body;
use self::{accept::Format, action::Action, call::Call, route::ResourcePath};
pub(crate) use self::{
    call::Verb,
    permission::permit,
    route::{Route, parse as parse_path},
};
use crate::{
    aside::aside,
    bootstrap,
    deep::{self, Turns},
    query::Query,
    rbac::Writer,
    requests::{RequestRecord, WatchRecord},
    resource::{Resource, Subresource},
    shared::Shared,
    status::StatusError,
    users::User,
};

/// The largest body that is read.
const BODY_LIMIT: usize = 3 * 1024 * 1024;
/// The size from which bodies are handled one after another.
const LARGE_BODY: usize = 256 * 1024;
/// How long a read waits for a version of the future.
const FUTURE_VERSION_PATIENCE: Duration = Duration::from_secs(3);

/// Answers a request.
pub(crate) async fn handle(server: &Arc<Shared>, request: Request<Bytes>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let text = |name| {
        let value =
            parts.headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let user = parts.extensions.get::<User>().cloned().unwrap_or_else(User::admin);
    let mut in_progress = server.requests.begin(RequestRecord {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        user_agent: text(header::USER_AGENT),
        user: user.name().to_owned(),
        verb: String::new(),
        resource: String::new(),
        status: 0,
    });
    let record = &mut in_progress.record;
    let query = Query::parse(&record.query);
    let permitted = deadline::check(&record.path, &query)
        .and_then(|()| permission::permitted(server, user, record, &parts.headers));
    let answered = match permitted {
        Ok(user) => in_turns(server, &user, record, &parts.headers, &body).await,
        Err(error) => Err(error),
    };
    let response = match durable(server, answered).await {
        Ok(response) => compression::compressed(&parts.headers, response),
        Err(error) => reply::failure(&error, accepted_format(&parts.headers)),
    };
    in_progress.record.status = response.status().as_u16();
    pretty::answer(response, parts.uri.path(), &query, &parts.headers)
}

/// Answers; again if that needs a deep stack.
async fn in_turns(
    server: &Arc<Shared>,
    user: &User,
    record: &mut RequestRecord,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response<Body>, StatusError> {
    let mut was_stopped = false;
    let answering = async {
        let answered = answer(server, user, record, headers, body).await;
        was_stopped = deep::was_stopped();
        answered
    };
    let answered = Turns::of(answering).await;
    if !was_stopped || answered.is_ok() {
        return answered;
    }
    deep::begin();
    Turns::of(answer(server, user, record, headers, body)).await
}

/// Holds an answer back until everything that it may show is durable.
async fn durable(
    server: &Shared,
    answered: Result<Response<Body>, StatusError>,
) -> Result<Response<Body>, StatusError> {
    if let Some(persistence) = &server.persistence {
        let durable = persistence.durable(server.cluster.log.change_count()).await;
        durable.map_err(|why| {
            StatusError::internal(format!("cannot write the data directory: {why}"))
        })?;
    }
    answered
}

/// The answer to a request that does not get as far.
pub(crate) fn refusal(error: &StatusError) -> Response<Body> {
    reply::failure(error, Format::Json)
}

fn accepted_format(headers: &HeaderMap) -> Format {
    accept::format(headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()))
}

async fn answer(
    server: &Arc<Shared>,
    user: &User,
    record: &mut RequestRecord,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response<Body>, StatusError> {
    if body.len() > BODY_LIMIT {
        return Err(StatusError::too_large(BODY_LIMIT));
    }
    match route::parse(&record.path) {
        Route::Watch(path) if path.subresource.is_some() => Err(StatusError::no_such_resource()),
        Route::Watch(_) if record.method != "GET" => Err(StatusError::method_not_allowed()),
        Route::Objects(path) | Route::Watch(path) => {
            let query = selection::parameters(server, &record.query);
            objects(server, user, record, (&path, &query), headers, body).await
        }
        route => documents::answer(server, record, &route, headers).await,
    }
}

async fn objects(
    server: &Arc<Shared>,
    user: &User,
    record: &mut RequestRecord,
    (path, query): (&ResourcePath, &Query),
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response<Body>, StatusError> {
    let resources = server.cluster.registry.snapshot();
    let (action, resource) = action::find(&resources, path).unzip();
    let stored = || resources.by_path(&path.group, &path.version, &path.plural);
    let Some(resource) = resource.or_else(stored) else {
        if (path.group.as_str(), path.plural.as_str()) == ("", component_status::PLURAL) {
            let now = server.cluster.clock.now();
            return component_status::answer(&record.method, path, query, headers, now);
        }
        return review::beyond_resources(server, user, &resources, record, path, headers, body);
    };
    let answered =
        answered(server, user, (action, resource), record, (path, query), headers, body).await;
    // A path that leads nowhere is not deprecated, except below a custom resource.
    let is_routed = resource.is_custom() || !matches!(&answered, Err(error) if error.is_of_path());
    match &resource.deprecation {
        Some(warning) if is_routed => reply::warned(answered, std::slice::from_ref(warning)),
        _ => answered,
    }
}

async fn answered(
    server: &Arc<Shared>,
    user: &User,
    (action, resource): (Option<Action>, &Arc<Resource>),
    record: &mut RequestRecord,
    (path, query): (&ResourcePath, &Query),
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response<Body>, StatusError> {
    let method = record.method.parse().map_err(|_| StatusError::method_not_allowed())?;
    let verb = match action {
        Some(action) => action.verb(&method)?,
        None => Verb::of(&method, path, query).ok_or_else(StatusError::method_not_allowed)?,
    };
    verb.name().clone_into(&mut record.verb);
    record.resource = resource.id.to_string();
    check::scope(resource, path, verb)?;
    check::verb(resource, path, verb)?;
    let subresource = match action {
        Some(_) => Subresource::Main,
        None => subresource::find(resource, path, verb)?,
    };
    path.check_name()?;
    let now = server.cluster.clock.now();
    let writer = Writer { authorizer: &server.authorizer, log: &server.cluster.log, user };
    let chain = verb.is_write().then(|| server.chains.current(&server.cluster.log));
    let converts = resource.converter().is_some() && verb != Verb::Watch;
    let waits = converts || chain.as_ref().is_some_and(|chain| chain.calls());
    let caller = None;
    let call = Call {
        resource,
        path,
        verb,
        subresource,
        query,
        headers,
        body,
        now,
        writer,
        chain,
        caller,
    };
    // An unacceptable `Accept` must be refused before a write.
    call.accepted()?;
    if let Some(action) = action {
        if !waits {
            return action.answer(&server.cluster, &call);
        }
        let act = move |server: &Arc<Shared>, call: &Call<'_>, _: Verb, _: &RequestRecord| {
            action.answer(&server.cluster, call)
        };
        return beside::answer(server, &call, record, act).await;
    }
    check::parameters(&call)?;
    bootstrap::complete(&server.cluster, &resource.id);
    if matches!(verb, Verb::Get | Verb::List | Verb::Watch) {
        await_version(server, &call, verb).await?;
    }
    if waits {
        return beside::answer(server, &call, record, dispatch).await;
    }
    // Trees are many times as large as their texts, so that large ones come one after another.
    let is_large = body.len() > LARGE_BODY;
    let _turn = if is_large { Some(server.turn.lock().await) } else { None };
    let answer = || dispatch(server, &call, verb, record);
    if check::takes_long(server, &call) { aside(answer) } else { answer() }
}

fn dispatch(
    server: &Arc<Shared>,
    call: &Call<'_>,
    verb: Verb,
    record: &RequestRecord,
) -> Result<Response<Body>, StatusError> {
    let cluster = &server.cluster;
    match verb {
        Verb::Get if call.subresource == Subresource::Scale => scale::get(cluster, call),
        Verb::Update | Verb::Patch if call.subresource == Subresource::Scale => {
            scale::change(cluster, call)
        }
        Verb::Get => read::get(cluster, call),
        Verb::List => read::list(cluster, call),
        Verb::Watch => {
            let open = server.requests.opened(WatchRecord {
                resource: record.resource.clone(),
                path: record.path.clone(),
                query: record.query.clone(),
                user_agent: record.user_agent.clone(),
            });
            watch::watch(server, call, open)
        }
        Verb::Create => change::create(cluster, call),
        Verb::Update => change::update(cluster, call),
        Verb::Patch => change::patch(cluster, call),
        Verb::Delete => remove::delete(cluster, call),
        Verb::DeleteCollection => remove::delete_collection(cluster, call),
    }
}

/// Waits for a version of the future for a while, as the real server does.
async fn await_version(
    server: &Arc<Shared>,
    call: &Call<'_>,
    verb: Verb,
) -> Result<(), StatusError> {
    if verb == Verb::Watch && !call.query.flag("sendInitialEvents") {
        return Ok(());
    }
    let version = match verb {
        Verb::List => call.query.version_of_list()?,
        _ => call.query.resource_version()?,
    };
    let Some(version) = version else { return Ok(()) };
    let log = &server.cluster.log;
    if version <= log.head() {
        return Ok(());
    }
    let mut commits = log.follow();
    let reached = async { while log.head() < version && commits.recv().await.is_some() {} };
    tokio::time::timeout(FUTURE_VERSION_PATIENCE, reached)
        .await
        .map_err(|_| StatusError::version_too_large(version, log.head()))
}
