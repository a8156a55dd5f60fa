//! Every path and method of the web endpoint. A path that is not here is not answered.
//!
//! Routes, index, `OpenAPI` document and access control are made from it, and tests go through it:
//! who adds a line has added all of them.

use std::sync::{Arc, LazyLock};

use actix_web::web::to;
use serde_json::Value;

use super::{
    about::{self, ConfigView, VersionView},
    cache, commands,
    endpoint::{Answer, Endpoint, Form, JSON, Parameter, TEXT},
    events::{self, EVENT_STREAM},
    explain::{self, ParentDetails},
    health,
    index::Index,
    kubernetes_events::EVENTS,
    log_level::{self, FILTER, LogLevelView},
    login, metrics, openapi, operators,
    page::{CONTINUE, LIMIT, List},
    parents,
    paths::Paths,
    selection::{FIELD_SELECTOR, LABEL_SELECTOR, NAMESPACE},
    status::Status,
    ui,
    views::{CacheView, OperatorView},
};
use crate::metrics::Metrics;

const HTML: &str = "text/html";

const PAGE: Answer = Answer::of(&[HTML]);

/// There is more at another path.
const GO_ON: Answer = PAGE.with_codes(&[303]);

const HEALTH: Answer = Answer::of(&[TEXT]).with_codes(&[200, 503]);

const OBJECT: Answer = Answer::json::<cache::CachedObject>().also_as(&[JSON, cache::YAML]);

/// An order that was carried out, and one that is going to be.
const DONE: Answer = Answer::json::<Status>();
const ACCEPTED: Answer = DONE.with_codes(&[202]);

const VERBOSE: Parameter =
    Parameter { name: "verbose", form: Form::Flag, meaning: "each check with its result" };

/// What the router, the index, the `OpenAPI` document and access control ask.
pub(super) static PATHS: LazyLock<Arc<Paths>> =
    LazyLock::new(|| Arc::new(Paths::new(ENDPOINTS, NAMES)));

/// Every endpoint, sorted by path.
static ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        "/",
        "What stands how, for people; for programs, the paths of this endpoint",
        Answer::json::<Index>().also_as(&[JSON, HTML]),
        || to(ui::overview),
    ),
    Endpoint::get(
        "/api/v1/cache",
        "The caches, each with the state of its watch",
        Answer::json::<List<CacheView>>(),
        || to(cache::list_types),
    ),
    Endpoint::get(
        "/api/v1/cache/{type}",
        "The cache of a type, and the names of its objects",
        Answer::json::<cache::CacheList>(),
        || to(cache::list),
    )
    .with(&[NAMESPACE, LABEL_SELECTOR, FIELD_SELECTOR, LIMIT, CONTINUE]),
    Endpoint::get(
        "/api/v1/cache/{type}/{namespace}/{name}",
        "A cached object, with what is secret redacted",
        OBJECT,
        || to(cache::show),
    )
    .with(&[cache::OUTPUT]),
    Endpoint::get(
        "/api/v1/cache/{type}/{name}",
        "A cached object of a cluster-scoped type, with what is secret redacted",
        OBJECT,
        || to(cache::show),
    )
    .with(&[cache::OUTPUT]),
    Endpoint::get(
        "/api/v1/events",
        "What changes, as server-sent events",
        Answer::of(&[EVENT_STREAM]),
        || to(events::stream),
    )
    .with(events::PARAMETERS),
    Endpoint::get(
        "/api/v1/openapi.json",
        "This document: every path, parameter and answer",
        Answer::json::<Value>(),
        || to(openapi::show),
    ),
    Endpoint::get(
        "/api/v1/operators",
        "The operators, and how each stands",
        Answer::json::<List<OperatorView>>(),
        || to(operators::list),
    ),
    Endpoint::get(
        "/api/v1/operators/{operator}",
        "An operator, with the caches that it lives on",
        Answer::json::<operators::OperatorDetails>(),
        || to(operators::show),
    ),
    Endpoint::get(
        "/api/v1/operators/{operator}/parents",
        "The parents of an operator, and how each stands",
        Answer::json::<List<parents::ParentView>>(),
        || to(parents::list),
    )
    .with(&[NAMESPACE, parents::PHASE, parents::TEXT, LIMIT, CONTINUE]),
    Endpoint::get(
        "/api/v1/operators/{operator}/parents/{namespace}/{name}",
        "A parent: where it stands and why, its children and its last reconciles",
        Answer::json::<ParentDetails>(),
        || to(explain::show),
    )
    .with(&[explain::DIFF, EVENTS]),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{namespace}/{name}/pause",
        "Pauses a parent, by its annotation",
        DONE,
        || to(commands::pause),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{namespace}/{name}/resume",
        "Ends the pause of a parent",
        DONE,
        || to(commands::resume),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{namespace}/{name}/sync",
        "Runs a parent now",
        ACCEPTED,
        || to(commands::sync),
    ),
    Endpoint::get(
        "/api/v1/operators/{operator}/parents/{name}",
        "A cluster-scoped parent: where it stands and why, its children and its last reconciles",
        Answer::json::<ParentDetails>(),
        || to(explain::show),
    )
    .with(&[explain::DIFF, EVENTS]),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{name}/pause",
        "Pauses a cluster-scoped parent, by its annotation",
        DONE,
        || to(commands::pause),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{name}/resume",
        "Ends the pause of a cluster-scoped parent",
        DONE,
        || to(commands::resume),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/parents/{name}/sync",
        "Runs a cluster-scoped parent now",
        ACCEPTED,
        || to(commands::sync),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/pause",
        "Pauses an operator, until the process ends",
        DONE,
        || to(commands::pause_operator),
    ),
    Endpoint::post(
        "/api/v1/operators/{operator}/resume",
        "Ends the pause of an operator",
        DONE,
        || to(commands::resume_operator),
    ),
    Endpoint::get(
        "/debug/config",
        "What the process was started with",
        Answer::json::<ConfigView>(),
        || to(about::config),
    ),
    Endpoint::get("/healthz", "The same as `/livez`", HEALTH, || to(health::live)).open(),
    Endpoint::get("/livez", "Whether the process is alive", HEALTH, || to(health::live))
        .with(&[VERBOSE])
        .open(),
    Endpoint::get("/log-level", "What is logged", Answer::json::<LogLevelView>(), || {
        to(log_level::show)
    }),
    Endpoint::put(
        "/log-level",
        "Changes what is logged, until the process ends",
        FILTER,
        Answer::json::<LogLevelView>(),
        || to(log_level::set),
    ),
    Endpoint::get(
        "/metrics",
        "What is measured, for Prometheus",
        Answer::of(&[Metrics::CONTENT_TYPE]),
        || to(metrics::show),
    ),
    Endpoint::get("/readyz", "Whether every operator runs or says why not", HEALTH, || {
        to(health::ready)
    })
    .with(&[VERBOSE])
    .open(),
    Endpoint::get("/readyz/{operator}", "Whether an operator runs", HEALTH, || {
        to(health::operator_ready)
    })
    .with(&[VERBOSE]),
    Endpoint::get("/ui/assets/{file}", "A file that pages need", ui::ASSETS, || to(ui::asset))
        .public(),
    Endpoint::get("/ui/cache", "The caches, for people", PAGE, || to(ui::cache_types)),
    Endpoint::get("/ui/cache/{type}", "The cache of a type, for people", PAGE, || {
        to(ui::cache_list)
    })
    .with(&[ui::NAMED, CONTINUE]),
    Endpoint::get(
        "/ui/cache/{type}/{namespace}/{name}",
        "A cached object, with what is secret redacted, for people",
        PAGE,
        || to(ui::cache_object),
    ),
    Endpoint::get(
        "/ui/cache/{type}/{name}",
        "A cached object of a cluster-scoped type, for people",
        PAGE,
        || to(ui::cache_object),
    ),
    Endpoint::get("/ui/login", "Where browsers log in", PAGE, || to(login::show)).public(),
    Endpoint::form(
        "/ui/login",
        "Logs a browser in, and sends it on with a cookie",
        login::TOKEN_FORM,
        GO_ON,
        || to(login::log_in),
    )
    .public(),
    Endpoint::form("/ui/logout", "Ends the session of a browser", login::NO_FIELDS, GO_ON, || {
        to(login::log_out)
    })
    .public(),
    Endpoint::get(
        "/ui/operators/{operator}",
        "An operator and its parents, for people",
        PAGE,
        || to(ui::operator),
    )
    .with(&[ui::NAMED, ui::PHASE, ui::NAMESPACE, CONTINUE]),
    Endpoint::get(
        "/ui/operators/{operator}/parents/{namespace}/{name}",
        "A parent, and why it stands where it stands, for people",
        PAGE,
        || to(ui::parent),
    )
    .with(&[explain::DIFF, EVENTS]),
    Endpoint::get(
        "/ui/operators/{operator}/parents/{name}",
        "A cluster-scoped parent, for people",
        PAGE,
        || to(ui::parent),
    )
    .with(&[explain::DIFF, EVENTS]),
    Endpoint::get("/version", "What runs here", Answer::json::<VersionView>(), || {
        to(about::version)
    }),
];

/// What the names in paths stand for.
const NAMES: &[Parameter] = &[
    named("file", "the name of a file"),
    named("name", "the name of an object"),
    named("namespace", "the namespace of an object"),
    named("operator", "the name of an operator"),
    named("type", "a resource type: `plural`, `plural.group` or `plural.version.group`"),
];

const fn named(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter { name, form: Form::Text, meaning }
}

#[cfg(test)]
mod tests;
