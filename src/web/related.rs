//! The related objects that a parent reads, by name; never their contents.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{board::Board, object::Uid, related::ShownRead};

/// Related objects that a parent reads and does not own.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RelatedView {
    pub(super) api_version: String,
    pub(super) kind: String,
    /// The name as `namespace/name`, or the label selector and the namespace.
    pub(super) which: String,
    /// How many of them exist; absent while that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<usize>,
    /// Why they cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

pub(super) fn of_parent(board: &Board, operator: &str, parent: &Uid) -> Vec<RelatedView> {
    board.related(operator, parent).into_iter().map(RelatedView::from).collect()
}

impl From<ShownRead> for RelatedView {
    fn from(ShownRead { ty, which, found, problem }: ShownRead) -> Self {
        let (api_version, kind) = (ty.api_version().to_owned(), ty.kind().to_owned());
        Self { api_version, kind, which, found, problem }
    }
}
