//! The endpoints of the pages.

use actix_web::web::to;

use super::{
    activity, assets, cache, login, map, namespace, object, operator, overview, parent, search,
};
use crate::{
    metrics::Attempt,
    web::{
        accept::HTML,
        activity::PARAMETERS,
        endpoint::{
            AccessRule, Endpoint, JSON,
            Method::{Get, Post},
            Parameter, Responses,
        },
        explain::DIFF,
        index::Index,
        kubernetes_events::EVENTS,
        page::CONTINUE,
        pages::Pages,
        search::PARAMETERS as PLACES,
    },
};

const PAGE: Responses = Responses::of(&[HTML]);

const REDIRECT: Responses = PAGE.with_codes(&[303]);

const ASSET: Responses = Responses::of(&["text/css", "text/javascript", "image/svg+xml"]);

const NAMED: Parameter = Parameter::text("q", "a part of the namespace and name");
const PHASE: Parameter = Parameter::text(
    "phase",
    "the phase of the parents, or not-ready, flapping, held (deletions of them are held)",
);
const SORT: Parameter = Parameter::text(
    "sort",
    "severity (the default), name, or since: the longest in its state first; with a minus before it in reverse",
);
const NAMESPACE: Parameter = Parameter::text("namespace", "the namespace of the parents");

pub(in crate::web) static PAGES: Pages =
    Pages { endpoints: ENDPOINTS, names: NAMES, denied: login::denied };

/// Every endpoint, sorted by path.
#[rustfmt::skip]
static ENDPOINTS: &[Endpoint] = &[
    Endpoint::new(Get, "/", "The overview as a page, or the paths of this endpoint as JSON",
        Responses::json::<Index>().also_as(&[JSON, HTML]), || to(overview::show)),
    Endpoint::new(Get, "/ui/activity", "The page of what happened, the newest first",
        PAGE, || to(activity::show)).with(PARAMETERS).by_namespace(),
    public(Endpoint::new(Get, "/ui/assets/{file}", "A file of the pages",
        ASSET, || to(assets::show))),
    Endpoint::new(Get, "/ui/cache", "The page of the caches",
        PAGE, || to(cache::types)),
    Endpoint::new(Get, "/ui/cache/{type}", "The page of the cache of a type",
        PAGE, || to(cache::list)).with(&[NAMED, CONTINUE]),
    Endpoint::new(Get, "/ui/cache/{type}/{namespace}/{name}",
        "The page of a cached object, redacted", PAGE, || to(object::show)),
    Endpoint::new(Get, "/ui/cache/{type}/{name}",
        "The page of a cached object of a cluster-scoped type, redacted",
        PAGE, || to(object::show)),
    public(Endpoint::new(Get, "/ui/login", "The login page",
        PAGE, || to(login::show))),
    audited(Attempt::Login, Endpoint::new(Post, "/ui/login", "Logs a browser in and redirects it",
        REDIRECT, || to(login::log_in)).taking(login::TOKEN_FORM)),
    audited(Attempt::Logout, Endpoint::new(Post, "/ui/logout", "Logs a browser out",
        REDIRECT, || to(login::log_out)).taking(login::NO_FIELDS)),
    Endpoint::new(Get, "/ui/operators/{operator}", "The page of an operator and its parents",
        PAGE, || to(operator::show)).with(&[NAMED, PHASE, NAMESPACE, SORT, CONTINUE]),
    Endpoint::new(Get, "/ui/operators/{operator}/map/{namespace}/{name}",
        "The page of the map of a parent", PAGE, || to(map::show)).with(map::PARAMETERS).by_namespace(),
    Endpoint::new(Get, "/ui/operators/{operator}/map/{name}",
        "The page of the map of a cluster-scoped parent", PAGE, || to(map::show)).with(map::PARAMETERS),
    Endpoint::new(Get, "/ui/operators/{operator}/namespaces/{namespace}",
        "The page of the parents of an operator in a namespace", PAGE, || to(namespace::show))
        .with(&[NAMED, PHASE, SORT, CONTINUE]).by_namespace(),
    Endpoint::new(Get, "/ui/operators/{operator}/parents/{namespace}/{name}",
        "The page of a parent", PAGE, || to(parent::show)).with(&[DIFF, EVENTS]).by_namespace(),
    Endpoint::new(Get, "/ui/operators/{operator}/parents/{name}",
        "The page of a cluster-scoped parent", PAGE, || to(parent::show))
        .with(&[DIFF, EVENTS]),
    Endpoint::new(Get, "/ui/search", "The page of the parents of all operators with a text in their name, worst first",
        PAGE, || to(search::show)).with(PLACES).by_namespace(),
];

const NAMES: &[Parameter] = &[Parameter::text("file", "the name of a file")];

const fn public(endpoint: Endpoint) -> Endpoint {
    Endpoint { access: AccessRule::Public, ..endpoint }
}

/// A public command that is not audited as a command.
const fn audited(attempt: Attempt, endpoint: Endpoint) -> Endpoint {
    Endpoint { attempt, ..public(endpoint) }
}
