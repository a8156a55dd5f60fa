//! One parsed request to a resource.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    accept::{self, Accepted, MetaVersion, Offer, Representation},
    route::ResourcePath,
};
use crate::{
    admission::Chain,
    callout::Caller,
    certificates,
    log::ObjectKey,
    query::Query,
    rbac::{Signing, Writer},
    resource::{Resource, Subresource},
    schema::{FieldError, FieldPath},
    status::StatusError,
    table::{Include, TableOptions},
};

/// One request to a resource.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) resource: &'a Arc<Resource>,
    pub(super) path: &'a ResourcePath,
    pub(super) verb: Verb,
    pub(super) subresource: Subresource,
    pub(super) query: &'a Query,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
    pub(super) now: Timestamp,
    pub(super) writer: Writer<'a>,
    /// The configurations of admission, for a write.
    pub(super) chain: Option<Arc<Chain>>,
    /// Who calls webhooks, where that is possible.
    pub(super) caller: Option<Caller>,
}

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// The verb of a request; `None` for methods that no resource has.
    pub(crate) fn of(method: &Method, path: &ResourcePath, query: &Query) -> Option<Self> {
        let named = path.name.is_some();
        match (method.as_str(), named) {
            ("GET", _) if path.watched => Some(Self::Watch),
            ("GET", true) => Some(Self::Get),
            ("GET", false) if query.flag("watch") => Some(Self::Watch),
            ("GET", false) => Some(Self::List),
            ("POST", false) => Some(Self::Create),
            ("PUT", true) => Some(Self::Update),
            ("PATCH", true) => Some(Self::Patch),
            ("DELETE", true) => Some(Self::Delete),
            ("DELETE", false) => Some(Self::DeleteCollection),
            _ => None,
        }
    }

    /// Whether it may change something.
    pub(super) fn is_write(self) -> bool {
        match self {
            Self::Get | Self::List | Self::Watch => false,
            Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection => {
                true
            }
        }
    }

    /// As Kubernetes spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl Call<'_> {
    /// The key of the object that the path names.
    pub(super) fn key(&self) -> ObjectKey {
        let namespace = self.path.namespace.as_deref().unwrap_or_default();
        ObjectKey::new(namespace, self.path.name.as_deref().unwrap_or_default())
    }

    /// Refuses to give more rights than the user has, by a role, a binding or a certificate.
    pub(super) fn check_rights(
        &self,
        live: Option<&Value>,
        next: &Value,
    ) -> Result<(), StatusError> {
        let key = self.key();
        self.writer.check((&self.resource.id, &key.namespace, &key.name), live, next)?;
        let signing = live.and_then(|live| Some((self.signing(live, next)?, live)));
        signing
            .map_or(Ok(()), |(what, live)| self.writer.check_signing(what, &self.resource.id, live))
    }

    /// What a change does to a request for a certificate.
    fn signing(&self, live: &Value, next: &Value) -> Option<Signing> {
        if !certificates::is_signing_request(self.resource) {
            return None;
        }
        match self.subresource {
            Subresource::Approval => Some(Signing::Approve),
            Subresource::Status => {
                certificates::is_signed_anew(live, next).then_some(Signing::Sign)
            }
            _ => None,
        }
    }

    /// Refuses an update or a patch that creates, where the user may not create.
    pub(super) fn check_creation(&self) -> Result<(), StatusError> {
        let key = self.key();
        match self.verb {
            Verb::Update | Verb::Patch => {
                self.writer.check_creation((&self.resource.id, &key.namespace, &key.name))
            }
            _ => Ok(()),
        }
    }

    /// A header as text.
    pub(super) fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The `Content-Type`.
    pub(super) fn content_type(&self) -> Option<&str> {
        self.header(header::CONTENT_TYPE)
    }

    /// The `User-Agent`.
    pub(super) fn user_agent(&self) -> &str {
        self.header(header::USER_AGENT).unwrap_or_default()
    }

    /// Whether the whole object was sent, and not a patch.
    pub(super) fn method_is_put(&self) -> bool {
        self.verb == Verb::Update
    }

    /// The requested form of the answer.
    pub(super) fn accepted(&self) -> Result<Accepted, StatusError> {
        let offer = Offer {
            is_custom: self.resource.is_custom(),
            can_stream: matches!(self.verb, Verb::List | Verb::Watch),
            is_watch: self.verb == Verb::Watch,
        };
        accept::choose(self.header(header::ACCEPT), offer)
    }

    /// The contents of a table, if one is requested.
    pub(super) fn table_options(&self) -> Result<TableOptions, StatusError> {
        let (version, is_table) = match self.accepted() {
            Ok(Accepted { representation: Representation::Table(version), .. }) => (version, true),
            _ => (MetaVersion::V1, false),
        };
        let include = match self.query.text("includeObject") {
            Some("None") => Include::Nothing,
            Some("Object") => Include::Object,
            None | Some("Metadata") => Include::Metadata,
            Some(other) if is_table => return Err(not_included(other)),
            Some(_) => Include::Metadata,
        };
        let api_version = version.api_version();
        Ok(TableOptions { headings: true, include, now: self.now, api_version })
    }
}

fn not_included(what: &str) -> StatusError {
    let detail = "must be 'Metadata', 'Object', 'None', or empty";
    let error = FieldError::invalid(&FieldPath::new("includeObject"), &what.into(), detail);
    let (path, why) = (&error.path, error.message());
    StatusError::bad_request(format!("Unable to convert to Table as requested: {path}: {why}"))
}
