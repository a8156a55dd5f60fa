//! All endpoints: finds the one for a request, and the methods of a path. The
//! [`table`](super::table) lists them with their handlers; handlers get it as a value.

use actix_web::{dev::ResourceDef, http};

use super::endpoint::{Endpoint, Method, Parameter};

pub(super) struct Paths {
    endpoints: &'static [Endpoint],
    /// The parameters in paths.
    names: &'static [Parameter],
    patterns: Vec<ResourceDef>,
}

impl Paths {
    pub(super) fn new(endpoints: &'static [Endpoint], names: &'static [Parameter]) -> Self {
        let patterns = endpoints.iter().map(|one| ResourceDef::new(one.path)).collect();
        Self { endpoints, names, patterns }
    }

    pub(super) fn endpoints(&self) -> &'static [Endpoint] {
        self.endpoints
    }

    pub(super) fn meaning_of(&self, name: &str) -> Option<&'static Parameter> {
        self.names.iter().find(|parameter| parameter.name == name)
    }

    /// Every path once, in the order of the table.
    pub(super) fn each(&self) -> Vec<&'static str> {
        let mut paths: Vec<_> = self.endpoints.iter().map(|endpoint| endpoint.path).collect();
        paths.dedup();
        paths
    }

    /// The endpoint for a request, with the path as the router decodes it.
    pub(super) fn find(&self, method: &http::Method, path: &str) -> Option<&'static Endpoint> {
        self.matching(path).find(|endpoint| endpoint.method.is(method))
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
        let all = self.patterns.iter().zip(self.endpoints);
        all.filter(move |(pattern, _)| pattern.is_match(path)).map(|(_, endpoint)| endpoint)
    }
}
