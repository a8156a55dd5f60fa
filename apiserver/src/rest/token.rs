//! The subresource of service accounts that issues tokens.

use http::{Response, StatusCode};

use super::{body::Body, call::Call, decode, place, reply, sent::Admitted};
use crate::{account_tokens, cluster::Cluster, status::StatusError, write};

/// Answers a request for a token.
pub(super) fn issue(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = call.write_options()?;
    let (mut asked, mut warnings) = decode::token_request(call, options.validation)?;
    account_tokens::default(&mut asked);
    let mut asked = write::track_token_request(cluster, asked, &options);
    let admission = Admitted::of(call, ("authentication.k8s.io", "v1", "TokenRequest"), "token");
    place::fill_namespace(call.path.namespace.as_deref(), &mut asked);
    admission.mutate(cluster, &mut asked)?;
    let issued = account_tokens::issue(cluster, &call.key(), asked, &|asked| {
        admission.validate(cluster, asked)
    });
    let answered = issued.and_then(|token| {
        let mut response = reply::value_as(call.accepted()?.format, &token);
        *response.status_mut() = StatusCode::CREATED;
        Ok(response)
    });
    warnings.extend(admission.warnings());
    reply::warned(answered, &warnings)
}
