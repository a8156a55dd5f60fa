//! The operations on one resource: what a method of a path does, takes and answers.

use serde_json::{Value, json};

use super::{
    content::{content, reference, required, responses},
    definitions::{Definitions, KINDS},
    media,
    naming::{article, capital, short, tag},
    parameter,
};
use crate::discovery::{Kind, Listed, Subresource};

const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
const WATCH_EVENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

/// An operation with its method, and parameters that may be those of the whole path.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) parameters: Vec<Value>,
    pub(super) value: Value,
}

/// One resource in one version, with what its operations need.
pub(super) struct Subject<'a> {
    pub(super) definitions: &'a Definitions<'a>,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) listed: &'a Listed,
    pub(super) is_custom: bool,
    /// The name of the definition of an object.
    pub(super) definition: String,
    /// The name of the definition of a list.
    pub(super) list_definition: String,
    /// Whether a deletion is answered with the object.
    pub(super) returns_deleted: bool,
}

/// What distinguishes one operation.
struct Act<'a> {
    method: &'static str,
    action: &'static str,
    description: String,
    id: String,
    options: Vec<Value>,
    kind: [&'a str; 3],
    answers: Vec<(&'static str, &'static str, Value)>,
    body: Option<Value>,
}

impl Subject<'_> {
    /// The operations on the collection, within a namespace or of cluster-scoped objects.
    pub(super) fn on_collection(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        if self.listed.has("list") {
            operations.push(self.list(self.scope(), ""));
        }
        if self.listed.has("create") {
            operations.push(self.create("", self.own_kind(), &self.definition));
        }
        if self.listed.has("deletecollection") {
            operations.push(self.delete_collection());
        }
        operations
    }

    /// The list of all namespaces.
    pub(super) fn in_all_namespaces(&self) -> Vec<Operation> {
        vec![self.list("", "ForAllNamespaces")]
    }

    /// The operations on one object.
    pub(super) fn on_object(&self) -> Vec<Operation> {
        let definition = &self.definition;
        let mut operations: Vec<_> = ["get", "put", "patch"]
            .into_iter()
            .filter(|method| self.listed.has(verb(method)))
            .map(|method| self.plain(method, "", self.own_kind(), definition))
            .collect();
        if self.listed.has("delete") {
            operations.push(self.delete());
        }
        operations
    }

    /// The deprecated watch of a collection.
    pub(super) fn watch_list(&self, everywhere: bool) -> Vec<Operation> {
        let (scope, end) = if everywhere { ("", "ForAllNamespaces") } else { (self.scope(), "") };
        let kind = self.kind();
        let description = format!(
            "watch individual changes to a list of {kind}. deprecated: use the 'watch' parameter with a list \
             operation instead."
        );
        vec![self.watch("watchlist", description, &format!("{scope}{kind}List{end}"))]
    }

    /// The deprecated watch of an object.
    pub(super) fn watch_object(&self) -> Vec<Operation> {
        let kind = self.kind();
        let description = format!(
            "watch changes to an object of kind {kind}. deprecated: use the 'watch' parameter with a list operation \
             instead, filtered to a single item with the 'fieldSelector' parameter."
        );
        vec![self.watch("watch", description, &format!("{}{kind}", self.scope()))]
    }

    /// The operations on a subresource.
    pub(super) fn on_subresource(&self, subresource: &Subresource) -> Vec<Operation> {
        let Kind { group, version, kind } = &subresource.response_kind;
        if kind.ends_with("Options") {
            return self.connect(subresource, false);
        }
        let shown: [&str; 3] = match &**version {
            _ if self.is_custom => self.own_kind(),
            "" => [self.group, self.version, kind],
            version => [group, version, kind],
        };
        let definition = match &**kind {
            "Scale" => "io.k8s.api.autoscaling.v1.Scale".to_owned(),
            kind if kind == self.kind() => self.definition.clone(),
            kind => {
                self.definitions.of_kind(shown[0], shown[1], kind).unwrap_or_default().to_owned()
            }
        };
        let mut operations: Vec<_> = ["get", "put", "patch"]
            .into_iter()
            .filter(|method| subresource.has(verb(method)))
            .map(|method| self.plain(method, &subresource.name, shown, &definition))
            .collect();
        if subresource.has("create") {
            operations.push(self.create(&subresource.name, shown, &definition));
        }
        operations
    }

    /// The operations on a proxied or streamed subresource, and on what is behind it.
    pub(super) fn connect(&self, subresource: &Subresource, with_path: bool) -> Vec<Operation> {
        let all = ["get", "put", "post", "delete", "options", "head", "patch"];
        let methods: &[_] = if subresource.has("update") { &all } else { &["get", "post"] };
        let options = match (&*self.listed.plural, &*subresource.name) {
            ("services", "proxy") => "serviceproxy",
            ("nodes", "proxy") => "nodeproxy",
            (_, name) => name,
        };
        let one = |method: &&'static str| {
            let name = &subresource.name;
            let upper = method.to_uppercase();
            let tail = if with_path { "WithPath" } else { "" };
            let (kind, scope, title) = (self.kind(), self.scope(), capital(name));
            self.operation(Act {
                method,
                action: "connect",
                description: format!("connect {upper} requests to {name} of {kind}"),
                id: format!("connect{}{}{scope}{kind}{title}{tail}", self.id(), capital(method)),
                options: parameter::of_options(self.definitions, options),
                kind: [self.group, self.version, &subresource.response_kind.kind],
                answers: vec![("200", "OK", content(&[media::ANY], &json!({ "type": "string" })))],
                body: None,
            })
        };
        methods.iter().map(one).collect()
    }

    fn list(&self, scope: &str, end: &str) -> Operation {
        let kind = self.kind();
        let may_watch = self.listed.has("watch") && !self.is_custom;
        let verbs = if may_watch { "list or watch" } else { "list" };
        let streams: &[_] = if self.is_custom { &[] } else { &media::STREAMS };
        let media = [media::media(self.is_custom), streams].concat();
        self.operation(Act {
            method: "get",
            action: "list",
            description: format!("{verbs} objects of kind {kind}"),
            id: format!("list{}{scope}{kind}{end}", self.id()),
            options: self.with_pretty("list"),
            kind: self.own_kind(),
            answers: vec![("200", "OK", content(&media, &reference(&self.list_definition)))],
            body: None,
        })
    }

    fn create(&self, subresource: &str, kind: [&str; 3], definition: &str) -> Operation {
        let object = content(media::media(self.is_custom), &reference(definition));
        let of = if subresource.is_empty() { String::new() } else { format!(" {subresource} of") };
        let (article, own, scope) = (article(self.kind()), self.kind(), self.scope());
        self.operation(Act {
            method: "post",
            action: "post",
            description: format!("create{of}{article}{own}"),
            id: format!("create{}{scope}{own}{}", self.id(), capital(subresource)),
            options: self.with_pretty("create"),
            kind,
            answers: vec![
                ("200", "OK", object.clone()),
                ("201", "Created", object.clone()),
                ("202", "Accepted", object),
            ],
            body: Some(self.body(&reference(definition))),
        })
    }

    /// Reads and changes of an object or of a subresource.
    fn plain(
        &self,
        method: &'static str,
        subresource: &str,
        kind: [&str; 3],
        definition: &str,
    ) -> Operation {
        let (word, prefix, options) = match method {
            "get" => ("read", "read", "get"),
            "put" => ("replace", "replace", "update"),
            _ => ("partially update", "patch", "patch"),
        };
        let schema = reference(definition);
        let is_log = subresource == "log";
        let object = if is_log {
            content(
                &[media::media(self.is_custom), &["text/plain"]].concat(),
                &json!({ "type": "string" }),
            )
        } else {
            content(media::media(self.is_custom), &schema)
        };
        let mut answers = vec![("200", "OK", object.clone())];
        if method == "put" || (method == "patch" && !self.is_custom) {
            answers.push(("201", "Created", object));
        }
        let of = if subresource.is_empty() { String::new() } else { format!(" {subresource} of") };
        let (own, scope) = (self.kind(), self.scope());
        self.operation(Act {
            method,
            action: method,
            description: format!("{word}{of} the specified {own}"),
            id: format!("{prefix}{}{scope}{own}{}", self.id(), capital(subresource)),
            options: match options {
                "get" if is_log => self.with_pretty("log"),
                "get" if !self.is_custom => vec![parameter::pretty()],
                options => self.with_pretty(options),
            },
            kind,
            answers,
            body: match method {
                "get" => None,
                "put" => Some(self.body(&schema)),
                _ => Some(required(content(media::patches(self.is_custom), &reference(PATCH)))),
            },
        })
    }

    fn delete(&self) -> Operation {
        let answer = if self.returns_deleted { &self.definition } else { STATUS };
        let answer = content(media::media(self.is_custom), &reference(answer));
        let (kind, scope) = (self.kind(), self.scope());
        self.operation(Act {
            method: "delete",
            action: "delete",
            description: format!("delete{}{kind}", article(kind)),
            id: format!("delete{}{scope}{kind}", self.id()),
            options: self.with_pretty("delete"),
            kind: self.own_kind(),
            answers: vec![("200", "OK", answer.clone()), ("202", "Accepted", answer)],
            body: Some(content(media::accepted(self.is_custom), &reference(DELETE_OPTIONS))),
        })
    }

    fn delete_collection(&self) -> Operation {
        let (kind, scope) = (self.kind(), self.scope());
        let mut options = self.with_pretty("list");
        if !self.is_custom {
            options.retain(|it| it["name"] != "watch" && it["name"] != "allowWatchBookmarks");
            options.extend(parameter::of_options(self.definitions, "delete"));
        }
        self.operation(Act {
            method: "delete",
            action: "deletecollection",
            description: format!("delete collection of {kind}"),
            id: format!("delete{}Collection{scope}{kind}", self.id()),
            options,
            kind: self.own_kind(),
            answers: vec![("200", "OK", content(media::media(self.is_custom), &reference(STATUS)))],
            body: (!self.is_custom)
                .then(|| content(media::accepted(self.is_custom), &reference(DELETE_OPTIONS))),
        })
    }

    fn watch(&self, action: &'static str, description: String, id: &str) -> Operation {
        let media = [media::media(self.is_custom), &media::STREAMS].concat();
        self.operation(Act {
            method: "get",
            action,
            description,
            id: format!("watch{}{id}", self.id()),
            options: self.with_pretty("list"),
            kind: self.own_kind(),
            answers: vec![("200", "OK", content(&media, &reference(WATCH_EVENT)))],
            body: None,
        })
    }

    fn operation(&self, act: Act<'_>) -> Operation {
        let [group, version, kind] = act.kind;
        let mut value = json!({
            "tags": [tag(self.group, self.version)],
            "description": act.description,
            "operationId": act.id,
            "responses": responses(act.answers),
            "x-kubernetes-action": act.action,
            KINDS: { "group": group, "version": version, "kind": kind },
        });
        if let Some(body) = act.body {
            value["requestBody"] = body;
        }
        Operation { method: act.method, parameters: act.options, value }
    }

    fn with_pretty(&self, options: &str) -> Vec<Value> {
        let mut parameters = parameter::of_options(self.definitions, options);
        parameters.push(parameter::pretty());
        parameters
    }

    fn body(&self, schema: &Value) -> Value {
        required(content(media::accepted(self.is_custom), schema))
    }

    fn kind(&self) -> &str {
        &self.listed.response_kind.kind
    }

    fn own_kind(&self) -> [&str; 3] {
        [self.group, self.version, self.kind()]
    }

    fn scope(&self) -> &'static str {
        if self.listed.is_namespaced() { "Namespaced" } else { "" }
    }

    /// `AppsV1`
    fn id(&self) -> String {
        format!("{}{}", capital(&short(self.group)), capital(self.version))
    }
}

fn verb(method: &str) -> &str {
    if method == "put" { "update" } else { method }
}
