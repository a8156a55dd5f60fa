//! Whether a user may send a request, and as whom.

use http::{HeaderMap, Method};

use crate::{
    query::Query,
    rbac::{Attributes, Target},
    requests::RequestRecord,
    shared::Shared,
    status::StatusError,
    users::User,
};

/// The user that a request is of, if that user may send it.
pub(super) fn permitted(
    server: &Shared,
    user: User,
    record: &mut RequestRecord,
    headers: &HeaderMap,
) -> Result<User, StatusError> {
    let method = record.method.parse().map_err(|_| StatusError::method_not_allowed())?;
    let query = Query::parse(&record.query);
    let attributes = Attributes::of(&method, &record.path, &query);
    let decides = (&server.authorizer, &*server.cluster.log);
    let user = server.impersonation.user(decides, user, &attributes, headers)?;
    server.authorizer.check(&server.cluster.log, &user, &attributes).inspect_err(|_| {
        if let Target::Resource(target) = &attributes.target {
            record.verb.clone_from(&attributes.verb);
            record.resource = target.group_resource().to_string();
        }
    })?;
    Ok(user)
}

/// Refuses a request that a user may not send, without looking at the rest of it.
pub(crate) fn permit(
    server: &Shared,
    user: &User,
    method: &Method,
    path: &str,
    query: &str,
) -> Result<(), StatusError> {
    let attributes = Attributes::of(method, path, &Query::parse(query));
    server.authorizer.check(&server.cluster.log, user, &attributes)
}
