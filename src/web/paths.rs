//! All endpoints: finds the one for a request, and the methods of a path. The
//! [`table`](super::table) lists those of programs, and [`Pages`] those of browsers; handlers get all as
//! a value.

use std::fmt;

use actix_web::{dev::ResourceDef, http};

use super::{
    endpoint::{AccessRule, Endpoint, Method, Parameter},
    pages::Pages,
};

pub(super) struct Paths {
    /// Sorted by path, each with its pattern.
    endpoints: Vec<(&'static Endpoint, ResourceDef)>,
    /// The parameters in paths.
    names: Vec<&'static Parameter>,
    pub(super) pages: &'static Pages,
}

impl Paths {
    pub(super) fn new(
        endpoints: impl Iterator<Item = &'static Endpoint>,
        names: &'static [Parameter],
        pages: &'static Pages,
    ) -> Self {
        let mut all: Vec<_> = endpoints.chain(pages.endpoints).collect();
        all.sort_by_key(|endpoint| (endpoint.path, endpoint.method));
        let endpoints = all.into_iter().map(|one| (one, ResourceDef::new(one.path))).collect();
        Self { endpoints, names: names.iter().chain(pages.names).collect(), pages }
    }

    pub(super) fn endpoints(&self) -> impl ExactSizeIterator<Item = &'static Endpoint> {
        self.endpoints.iter().map(|(endpoint, _)| *endpoint)
    }

    pub(super) fn meaning_of(&self, name: &str) -> Option<&'static Parameter> {
        self.names.iter().find(|parameter| parameter.name == name).copied()
    }

    /// Every path once, in the order of the table.
    pub(super) fn each(&self) -> Vec<&'static str> {
        let mut paths: Vec<_> = self.endpoints().map(|endpoint| endpoint.path).collect();
        paths.dedup();
        paths
    }

    /// The endpoint for a request, with the path as the router decodes it.
    pub(super) fn find(&self, method: &http::Method, path: &str) -> Option<&'static Endpoint> {
        self.matching(path).find(|endpoint| endpoint.method.is(method))
    }

    /// The access of a request. Of a path whose handler checks permissions itself, the users learn the methods.
    pub(super) fn access(&self, method: &http::Method, path: &str) -> AccessRule {
        let checks_itself = |it: &&Endpoint| it.access == AccessRule::Authenticated;
        let found = self.find(method, path).or_else(|| self.matching(path).find(checks_itself));
        found.map_or(AccessRule::Guarded, |endpoint| endpoint.access)
    }

    /// The methods of a path for the `Allow` header; empty for an unknown path.
    pub(super) fn methods_of(&self, path: &str) -> String {
        let mut methods: Vec<Method> =
            self.matching(path).map(|endpoint| endpoint.method).collect();
        methods.sort_unstable();
        methods.dedup();
        let names: Vec<&str> = methods.into_iter().map(Method::names).collect();
        names.join(", ")
    }

    fn matching(&self, path: &str) -> impl Iterator<Item = &'static Endpoint> {
        let matching = self.endpoints.iter().filter(move |(_, pattern)| pattern.is_match(path));
        matching.map(|(endpoint, _)| *endpoint)
    }
}

impl fmt::Debug for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each()).finish()
    }
}
