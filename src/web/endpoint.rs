//! A path and method of the web endpoint as data, for the router, the index, the `OpenAPI` document
//! and access control.

use actix_web::{
    Route,
    guard::{Guard, fn_guard},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::metrics::Attempt;

/// A path with a method, its access and its answer.
#[derive(Clone, Copy)]
pub(super) struct Endpoint {
    pub(super) method: Method,
    /// With the names of its parameters: `/readyz/{operator}`.
    pub(super) path: &'static str,
    /// One line, as a sentence without its full stop.
    pub(super) summary: &'static str,
    pub(super) query: &'static [Parameter],
    pub(super) body: Option<Body>,
    pub(super) answer: Responses,
    pub(super) access: AccessRule,
    /// Whether a read of it calls handlers or occupies the server, which no page of another site may cause.
    pub(super) acts: bool,
    /// Whether it is answered for one namespace alone, if the path or the query names that and the operator. Permissions
    /// for the parents in that namespace suffice then.
    pub(super) by_namespace: bool,
    /// What a request that changes something is audited as.
    pub(super) attempt: Attempt,
    /// The handler.
    pub(super) route: fn() -> Route,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Method {
    /// Also HEAD.
    Get,
    /// A command, which no page of another site may send.
    Post,
    Put,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "dashboard"),
    expect(dead_code, reason = "one is for the page, and one for `mcp`")
)]
pub(super) enum AccessRule {
    /// Everybody, but without the permission only the outcome is shown.
    Open,
    /// Everybody: the answer is the same for all and contains nothing about this process.
    Public,
    /// Users with the permission for this path.
    Guarded,
    /// Every user who is authenticated: the handler checks the permission for each part of what it is asked, and audits
    /// the commands in it.
    Authenticated,
}

/// A parameter of the path or the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) meaning: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    WholeNumber,
    /// Present or not, with any value.
    Flag,
    /// A [`Switch`](super::switch::Switch), and a request that has it acts.
    Switch,
    OneOf(&'static [&'static str]),
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    Secret,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    pub(super) media_type: &'static str,
    pub(super) meaning: &'static str,
    /// The fields of a form.
    pub(super) fields: &'static [Parameter],
}

#[derive(Clone, Copy)]
pub(super) struct Responses {
    pub(super) codes: &'static [u16],
    /// The first is the default.
    pub(super) media_types: &'static [&'static str],
    pub(super) schema: Option<fn(&mut SchemaGenerator) -> Schema>,
}

pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain";
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

// === Endpoint ===

impl Endpoint {
    /// Without parameters and body, for users with the permission.
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        answer: Responses,
        route: fn() -> Route,
    ) -> Self {
        let (query, body, access) = (&[], None, AccessRule::Guarded);
        let (acts, by_namespace) = (false, false);
        let attempt = Attempt::Command;
        Self {
            method,
            path,
            summary,
            query,
            body,
            answer,
            access,
            acts,
            by_namespace,
            attempt,
            route,
        }
    }

    pub(super) const fn taking(self, body: Body) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Sets the parameters of the query.
    pub(super) const fn with(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn open(self) -> Self {
        Self { access: AccessRule::Open, ..self }
    }

    pub(super) const fn acting(self) -> Self {
        Self { acts: true, ..self }
    }

    pub(super) const fn by_namespace(self) -> Self {
        Self { by_namespace: true, ..self }
    }

    /// Whether a read with this query calls handlers or occupies the server.
    pub(super) fn acts_on(&self, query: &str) -> bool {
        let is_switch =
            |name: &str| self.query.iter().any(|it| it.form == Form::Switch && it.name == name);
        self.acts || form_urlencoded::parse(query.as_bytes()).any(|(name, _)| is_switch(&name))
    }

    pub(super) fn takes_form(&self) -> bool {
        self.body.is_some_and(|body| body.media_type == FORM)
    }

    pub(super) fn path_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

// === Parameter ===

impl Parameter {
    pub(super) const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: Form::Text, meaning }
    }

    pub(super) const fn switch(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: Form::Switch, meaning }
    }

    pub(super) const fn flag(name: &'static str, meaning: &'static str) -> Self {
        Self { name, form: Form::Flag, meaning }
    }
}

// === Method ===

impl Method {
    /// As the `Allow` header names it.
    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Get => "GET, HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    /// As the `OpenAPI` document names it.
    pub(super) fn operation(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
        }
    }

    pub(super) fn is(self, method: &actix_web::http::Method) -> bool {
        self.names().split(", ").any(|name| name == method.as_str())
    }

    pub(super) fn guard(self) -> impl Guard {
        fn_guard(move |context| self.is(&context.head().method))
    }
}

// === Responses ===

impl Responses {
    /// A value as JSON.
    pub(super) const fn json<T: JsonSchema>() -> Self {
        let schema = Some(SchemaGenerator::subschema_for::<T> as fn(&mut SchemaGenerator) -> _);
        Self { codes: &[200], media_types: &[JSON], schema }
    }

    /// A text of this type.
    pub(super) const fn of(media_types: &'static [&'static str]) -> Self {
        Self { codes: &[200], media_types, schema: None }
    }

    /// The same in further media types; the first of `media_types` is the default.
    pub(super) const fn also_as(self, media_types: &'static [&'static str]) -> Self {
        Self { media_types, ..self }
    }

    /// The same with one of these codes.
    pub(super) const fn with_codes(self, codes: &'static [u16]) -> Self {
        Self { codes, ..self }
    }
}
