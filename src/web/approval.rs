//! The body of `POST .../allow-deletions`, and whether its code is that of the deletions that are held now. Pure, but for
//! reading the body.

use actix_web::web::Payload;
use serde::Deserialize;

use super::{
    body,
    endpoint::{Body, JSON, Parameter},
    status::Refused,
};
use crate::{board::Board, object::ObjectKey};

pub(super) const CODE: Body = Body {
    media_type: JSON,
    meaning: "the code of the deletions to allow. Its type JSON proves that no form of another site sent it",
    fields: &[Parameter::text("code", "`approval` of the parent")],
};

const MAX_BODY: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalBody {
    code: String,
}

pub(super) async fn read(payload: Payload) -> Result<String, Refused> {
    let text = body::text(payload, MAX_BODY).await?;
    let body = serde_json::from_str(&text);
    let ApprovalBody { code } =
        body.map_err(|error| Refused::BadRequest(format!("the body: {error}")))?;
    Ok(code)
}

/// Refuses a code that allows nothing, so that its user does not wait for a deletion. The annotation of a code that is out
/// of date by then allows nothing either.
pub(super) fn check(
    board: &Board,
    operator: &str,
    key: &ObjectKey,
    code: &str,
) -> Result<(), Refused> {
    let no_parent = || Refused::NoParent { operator: operator.to_owned(), key: key.clone() };
    let parent = board.parent(operator, key).ok_or_else(no_parent)?;
    match parent.approval.as_deref() {
        Some(held) if held == code => Ok(()),
        Some(_) => Err(Refused::OtherDeletions(key.clone())),
        None => Err(Refused::NoneHeld(key.clone())),
    }
}
