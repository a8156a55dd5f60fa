//! `/api/v1/shards`: the part of this process in the group with which it shares its parents, and the other members.

use actix_web::web::{Data, Json};
use schemars::JsonSchema;
use serde::Serialize;

use super::{state::WebState, status::Refused};
use crate::{board::Group, election::Standing};

/// A group whose members share the parents of all operators. Buckets are written as ranges: `0-20,42`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Shards")]
pub(super) struct ShardsView {
    group: String,
    /// This process, as its Lease is named.
    member: String,
    /// The buckets in which this process works.
    works: String,
    /// The buckets that this process gives to another, when its reconciles there have ended.
    closing: String,
    /// Whether it gives all to others, because its caches could not be completed for a minute.
    declines: bool,
    /// The buckets whose objects this process watches.
    watches: String,
    /// The buckets in which no process works, as far as this one knows.
    unowned: String,
    /// The other processes.
    others: Vec<OtherView>,
    /// Whether the API server selects the parents of a process (KEP-5866); otherwise the process drops what it receives of
    /// others. Absent while it is not known. Children are always selected, by their label.
    #[serde(skip_serializing_if = "Option::is_none")]
    parents_selected_by_server: Option<bool>,
}

/// Another process of the group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ShardMember")]
struct OtherView {
    member: String,
    /// What it says of itself; absent if its Lease was edited.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    said: Option<SaidView>,
}

/// What a process says of itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ShardStanding")]
struct SaidView {
    holds: String,
    /// The buckets that it could take at once.
    warm: String,
    is_leaving: bool,
    /// Whether others are to have its buckets until its caches are complete.
    declines: bool,
    /// Where its web endpoint answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

pub(super) async fn show(state: Data<WebState>) -> Result<Json<ShardsView>, Refused> {
    let group = state.board.group().ok_or(Refused::NotShared)?;
    let Group { name, member, works, closing, declines, watches, unowned, selects_shards, others } =
        group;
    Ok(Json(ShardsView {
        group: name,
        member,
        works: works.to_string(),
        closing: closing.to_string(),
        declines,
        watches: watches.to_string(),
        unowned: unowned.to_string(),
        others: others.into_iter().map(OtherView::from).collect(),
        parents_selected_by_server: selects_shards,
    }))
}

impl From<(String, Option<Standing>)> for OtherView {
    fn from((member, said): (String, Option<Standing>)) -> Self {
        let said = said.map(|Standing { holds, warm, is_leaving, declines, url }| SaidView {
            holds: holds.to_string(),
            warm: warm.to_string(),
            is_leaving,
            declines,
            url,
        });
        Self { member, said }
    }
}
