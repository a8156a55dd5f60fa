//! What a request, or one frame of a watch, is about.

use std::fmt;

use http::{Request, header};
use serde_json::Value;

use crate::{
    query::Query,
    rest::{Route, Verb, parse_path},
};

/// What a request, or one frame of a watch, is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// As RBAC says it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`; empty for
    /// paths that are no resources.
    pub verb: String,
    /// The resource as RBAC says it, `pods` or `pods/status`; empty for other paths.
    pub resource: String,
    /// The namespace.
    pub namespace: Option<String>,
    /// The name of the object; a frame has that of the object in it.
    pub name: Option<String>,
    /// The client.
    pub user_agent: String,
    /// The path.
    pub path: String,
    /// Whether a watch begins with a list.
    pub streams_list: bool,
}

impl Target {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let path = request.uri().path().to_owned();
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let user_agent = request.headers().get(header::USER_AGENT);
        let user_agent = user_agent.and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
        let Route::Objects(about) = parse_path(&path) else {
            return Self { user_agent, path, ..Self::default() };
        };
        let verb = Verb::of(request.method(), &about, &query).map_or("", Verb::name).to_owned();
        let resource = match about.subresource {
            Some(subresource) => format!("{}/{subresource}", about.plural),
            None => about.plural,
        };
        let streams_list = query.flag("watch") && query.flag("sendInitialEvents");
        let (namespace, name) = (about.namespace, about.name);
        Self { verb, resource, namespace, name, user_agent, path, streams_list }
    }

    /// The same for an object of the answer.
    pub(super) fn for_object(&self, object: &Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
        let namespace = text("namespace").or_else(|| self.namespace.clone());
        Self { namespace, name: text("name"), ..self.clone() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.path)?;
        match &self.name {
            Some(name) if self.verb == "watch" => write!(f, " ({name})"),
            Some(_) | None => Ok(()),
        }
    }
}
