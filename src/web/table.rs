//! Every path and method of the web endpoint for programs: health, metrics and the HTTP API.
//!
//! [`Pages`](super::pages::Pages) has those of browsers.
//! Routes, index, `OpenAPI` document and access control are derived from it, and tests iterate over it.

use std::sync::{Arc, LazyLock};

use actix_web::web::to;
use serde_json::Value;

#[cfg(not(feature = "dashboard"))]
use super::no_ui::PAGES;
#[cfg(feature = "dashboard")]
use super::ui::PAGES;
use super::{
    about::{self, ConfigView, VersionView},
    activity::{self, ActivityList},
    approval::CODE,
    cache, commands,
    endpoint::{
        Endpoint, JSON,
        Method::{Get, Post, Put},
        Parameter, Responses, TEXT,
    },
    events::{self, EVENT_STREAM},
    explain::{self, ParentDetails},
    health,
    kubernetes_events::EVENTS,
    log_level::{self, FILTER, LogLevelView},
    map::{self, Map},
    mcp, metrics, openapi, operators,
    page::{CONTINUE, LIMIT, List},
    pages::Pages,
    parents,
    paths::Paths,
    pausing::PAUSE,
    plan::Plans,
    plans, search,
    selection::{FIELD_SELECTOR, LABEL_SELECTOR, NAMESPACE},
    shards::{self, ShardsView},
    status::Status,
    views::{CacheView, OperatorView},
};
use crate::metrics::Metrics;

const HEALTH: Responses = Responses::of(&[TEXT]).with_codes(&[200, 503]);

const OBJECT: Responses = Responses::json::<cache::CachedObject>().also_as(&[JSON, cache::YAML]);

/// A command that was executed, and one that was accepted.
const DONE: Responses = Responses::json::<Status>();
const ACCEPTED: Responses = DONE.with_codes(&[202]);

const VERBOSE: Parameter = Parameter::flag("verbose", "show the result of each check");

/// The table for the router, the index, the `OpenAPI` document and access control.
pub(super) static PATHS: LazyLock<Arc<Paths>> = LazyLock::new(|| with(&PAGES));

/// The same, with the endpoint for AI assistants.
pub(super) static PATHS_WITH_MCP: LazyLock<Arc<Paths>> =
    LazyLock::new(|| Arc::new(Paths::new(ENDPOINTS.iter().chain(mcp::ENDPOINTS), NAMES, &PAGES)));

/// The endpoints for programs, with these for browsers.
pub(super) fn with(pages: &'static Pages) -> Arc<Paths> {
    Arc::new(Paths::new(ENDPOINTS.iter(), NAMES, pages))
}

/// Every endpoint for programs, sorted by path.
#[rustfmt::skip]
static ENDPOINTS: &[Endpoint] = &[
    Endpoint::new(Get, "/api/v1/activity", "What happened, the newest first",
        Responses::json::<ActivityList>(), || to(activity::list)).with(activity::PARAMETERS)
        .by_namespace(),
    Endpoint::new(Get, "/api/v1/cache", "The caches and the states of their watches",
        Responses::json::<List<CacheView>>(), || to(cache::list_types)),
    Endpoint::new(Get, "/api/v1/cache/{type}", "The cache of a type, with the names of its objects",
        Responses::json::<cache::CacheList>(), || to(cache::list))
        .with(&[NAMESPACE, LABEL_SELECTOR, FIELD_SELECTOR, LIMIT, CONTINUE]),
    Endpoint::new(Get, "/api/v1/cache/{type}/{namespace}/{name}", "A cached object, redacted",
        OBJECT, || to(cache::show)).with(&[cache::OUTPUT]),
    Endpoint::new(Get, "/api/v1/cache/{type}/{name}",
        "A cached object of a cluster-scoped type, redacted", OBJECT, || to(cache::show))
        .with(&[cache::OUTPUT]),
    Endpoint::new(Get, "/api/v1/events", "Changes as server-sent events",
        Responses::of(&[EVENT_STREAM]), || to(events::stream)).with(events::PARAMETERS).acting().by_namespace(),
    Endpoint::new(Get, "/api/v1/openapi.json", "This document: every path, parameter and answer",
        Responses::json::<Value>(), || to(openapi::show)),
    Endpoint::new(Get, "/api/v1/operators", "The operators and their states",
        Responses::json::<List<OperatorView>>(), || to(operators::list)),
    Endpoint::new(Get, "/api/v1/operators/{operator}", "An operator, with the caches that it uses",
        Responses::json::<operators::OperatorDetails>(), || to(operators::show)),
    Endpoint::new(Get, "/api/v1/operators/{operator}/map/{namespace}/{name}",
        "The map of a parent: its children, their Pods and claims, and its related objects",
        Responses::json::<Map>(), || to(map::show)).with(&[map::OWNERS]).by_namespace(),
    Endpoint::new(Get, "/api/v1/operators/{operator}/map/{name}",
        "The map of a cluster-scoped parent", Responses::json::<Map>(), || to(map::show))
        .with(&[map::OWNERS]),
    Endpoint::new(Get, "/api/v1/operators/{operator}/parents",
        "The parents of an operator and their states",
        Responses::json::<List<parents::ParentView>>(), || to(parents::list))
        .with(&[NAMESPACE, parents::PHASE, parents::TEXT, LIMIT, CONTINUE]).by_namespace(),
    Endpoint::new(Get, "/api/v1/operators/{operator}/parents/{namespace}/{name}",
        "A parent: its state with an explanation, its children and its last reconciles",
        Responses::json::<ParentDetails>(), || to(explain::show)).with(&[explain::DIFF, EVENTS])
        .by_namespace(),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{namespace}/{name}/allow-deletions",
        "Allows the deletions of a parent that are held, by their code", DONE,
        || to(commands::allow_deletions)).taking(CODE).by_namespace(),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{namespace}/{name}/pause",
        "Pauses a parent by its annotation", DONE, || to(commands::pause)).taking(PAUSE).by_namespace(),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{namespace}/{name}/resume",
        "Resumes a parent", DONE, || to(commands::resume)).by_namespace(),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{namespace}/{name}/sync",
        "Reconciles a parent now", ACCEPTED, || to(commands::sync)).by_namespace(),
    Endpoint::new(Get, "/api/v1/operators/{operator}/parents/{name}",
        "A cluster-scoped parent: its state with an explanation, its children and its last reconciles",
        Responses::json::<ParentDetails>(), || to(explain::show)).with(&[explain::DIFF, EVENTS]),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{name}/allow-deletions",
        "Allows the deletions of a cluster-scoped parent that are held, by their code", DONE,
        || to(commands::allow_deletions)).taking(CODE),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{name}/pause",
        "Pauses a cluster-scoped parent by its annotation", DONE, || to(commands::pause)).taking(PAUSE),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{name}/resume",
        "Resumes a cluster-scoped parent", DONE, || to(commands::resume)),
    Endpoint::new(Post, "/api/v1/operators/{operator}/parents/{name}/sync",
        "Reconciles a cluster-scoped parent now", ACCEPTED, || to(commands::sync)),
    Endpoint::new(Post, "/api/v1/operators/{operator}/pause",
        "Pauses an operator, at the longest until the process ends", DONE,
        || to(commands::pause_operator)).taking(PAUSE),
    Endpoint::new(Post, "/api/v1/operators/{operator}/resume", "Resumes an operator",
        DONE, || to(commands::resume_operator)),
    Endpoint::new(Get, "/api/v1/plans",
        "What the operators would do now, of a process in plan mode: the handlers are called, and nothing is written",
        Responses::json::<Plans>().also_as(&[JSON, cache::YAML, TEXT]), || to(plans::show))
        .with(&[plans::OPERATOR, NAMESPACE, plans::OUTPUT]).acting().by_namespace(),
    Endpoint::new(Get, "/api/v1/search",
        "The parents of all operators with a text in their namespace and name, worst first",
        Responses::json::<List<search::FoundView>>(), || to(search::list))
        .with(search::PARAMETERS).by_namespace(),
    Endpoint::new(Get, "/api/v1/shards",
        "The part of this process in the group with which it shares its parents, and the other members",
        Responses::json::<ShardsView>(), || to(shards::show)),
    Endpoint::new(Get, "/debug/config", "The configuration of the process",
        Responses::json::<ConfigView>(), || to(about::config)),
    Endpoint::new(Get, "/healthz", "The same as `/livez`",
        HEALTH, || to(health::live)).open(),
    Endpoint::new(Get, "/livez", "Whether the process is alive",
        HEALTH, || to(health::live)).with(&[VERBOSE]).open(),
    Endpoint::new(Get, "/log-level", "The log filter",
        Responses::json::<LogLevelView>(), || to(log_level::show)),
    Endpoint::new(Put, "/log-level", "Changes the log filter until the process ends",
        Responses::json::<LogLevelView>(), || to(log_level::set)).taking(FILTER),
    Endpoint::new(Get, "/metrics", "The metrics for Prometheus",
        Responses::of(&[Metrics::CONTENT_TYPE, Metrics::OPENMETRICS_TYPE]), || to(metrics::show)),
    Endpoint::new(Get, "/readyz", "Whether every operator is running or degraded with a reason",
        HEALTH, || to(health::ready)).with(&[VERBOSE]).open(),
    Endpoint::new(Get, "/readyz/{operator}", "Whether an operator is running",
        HEALTH, || to(health::operator_ready)).with(&[VERBOSE]),
    Endpoint::new(Get, "/version", "The versions of the framework and the program",
        Responses::json::<VersionView>(), || to(about::version)),
];

/// The parameters in paths.
const NAMES: &[Parameter] = &[
    Parameter::text("name", "the name of an object"),
    Parameter::text("namespace", "the namespace of an object"),
    Parameter::text("operator", "the name of an operator"),
    Parameter::text("type", "a resource type: `plural`, `plural.group` or `plural.version.group`"),
];

#[cfg(test)]
mod tests;
