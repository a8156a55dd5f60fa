//! The objects of a list or watch: namespace, labels, fields, shard.

use serde_json::{Value, json};

use super::{
    call::Call,
    fields::{self, Fields},
};
use crate::{
    log::{Object, ObjectKey, Scope},
    query::Query,
    selector::{FieldSelector, LabelSelector},
    shard::{self, ShardSelector},
    shared::Shared,
    status::StatusError,
};

/// The objects that a list or watch is about.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    /// The namespace, or all.
    pub(super) scope: Scope,
    name: Option<String>,
    labels: LabelSelector,
    fields: Fields,
    shard: Option<ShardSelector>,
}

/// The parameters of a request. A server without shards does not know theirs, and ignores it.
pub(super) fn parameters(server: &Shared, query: &str) -> Query {
    let query = Query::parse(query);
    if server.sharded_lists { query } else { query.without(shard::PARAMETER) }
}

/// The selectors of a request, whatever its type.
pub(super) fn selectors(query: &Query) -> Result<(LabelSelector, FieldSelector), StatusError> {
    let labels = query.text("labelSelector").unwrap_or_default();
    let labels = LabelSelector::parse(labels)
        .map_err(|error| StatusError::bad_request(error.to_string()))?;
    Ok((labels, fields::parse(query.text("fieldSelector").unwrap_or_default())?))
}

/// The shard that a request asks for, if it does. The real server says of one that is wrong that it failed itself.
pub(super) fn shard(query: &Query) -> Result<Option<ShardSelector>, StatusError> {
    let parsed = query.text(shard::PARAMETER).map(ShardSelector::parse).transpose();
    parsed.map_err(|error| StatusError::internal(format!("invalid shard selector: {error}")))
}

impl Selection {
    /// What a request selects.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, StatusError> {
        let (labels, fields) = selectors(call.query)?;
        let fields = Fields::of(call.resource, fields)?;
        let scope = match &call.path.namespace {
            Some(namespace) => Scope::Namespace(namespace.as_str().into()),
            None => Scope::All,
        };
        let shard = shard(call.query)?;
        Ok(Self { scope, name: call.path.name.clone(), labels, fields, shard })
    }

    /// Whether everything in the scope is chosen.
    pub(super) fn is_everything(&self) -> bool {
        self.name.is_none()
            && self.labels.is_empty()
            && self.fields.is_empty()
            && self.shard.is_none()
    }

    /// What a list says about the shard that it is.
    pub(super) fn shard_info(&self) -> Option<Value> {
        self.shard.as_ref().map(|shard| json!({ "selector": shard.to_string() }))
    }

    /// Whether only objects of one name are chosen.
    pub(super) fn names_one(&self) -> bool {
        self.name.is_some() || self.fields.name_one()
    }

    /// Whether an object is chosen.
    pub(super) fn chooses(&self, key: &ObjectKey, object: &Object) -> bool {
        let labels = &object.meta.labels;
        self.scope.contains(key)
            && self.shard.as_ref().is_none_or(|it| it.chooses(&object.meta.uid, &key.namespace))
            && self.name.as_deref().is_none_or(|name| *name == *key.name)
            && self.labels.matches(|label| labels.get(label))
            && self.fields.choose(key, object)
    }
}
