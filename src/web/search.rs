//! `/api/v1/search`: the parents of all operators whose `namespace/name` contains a text, worst first.
//!
//! A reader with permissions in one namespace alone names that and the operator, as everywhere.

use actix_web::{
    HttpResponse,
    web::{Data, Query, block},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    endpoint::Parameter,
    members::{Item, Members, Order, Share, Spot},
    page::{List, ListMeta},
    parents::{ParentView, TEXT},
    severity::severity,
    state::WebState,
    status::Refused,
};
use crate::{
    board::{Board, OperatorSnapshot, ParentState, Window},
    object::ObjectKey,
};

/// What a reader searches. An absent or empty parameter does not restrict.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct SearchQuery {
    #[serde(default)]
    pub(super) q: String,
    #[serde(default)]
    pub(super) operator: String,
    #[serde(default)]
    pub(super) namespace: String,
}

/// A parent that was found. Its spot has its key and its operator.
#[derive(Debug)]
pub(super) struct FoundParent {
    pub(super) kind: String,
    pub(super) state: ParentState,
}

/// A parent that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundParent")]
pub(super) struct FoundView {
    /// The name of its operator.
    operator: String,
    kind: String,
    #[serde(flatten)]
    parent: ParentView,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    TEXT,
    Parameter::text("operator", "only parents of this operator"),
    Parameter::text("namespace", "only parents in this namespace"),
];

/// More are counted.
const SHOWN: usize = 50;

/// The worst first.
pub(super) const ORDER: Order = Order { limit: SHOWN, is_reversed: false };

pub(super) async fn list(
    query: Query<SearchQuery>,
    state: Data<WebState>,
    members: Members,
) -> Result<HttpResponse, Refused> {
    let Share { items, last, total, has_more } = find(&state.board, query.into_inner()).await?;
    let items = items.into_iter().map(FoundView::item).collect();
    let own = Share { items, last, total, has_more };
    if let Some(answer) = members.asks(&own) {
        return Ok(answer);
    }
    let (found, missing) = members.whole(own, ORDER).await;
    let metadata = ListMeta::cut(found.remaining()).lacking(missing);
    let items = found.items.into_iter().map(|item| item.value).collect();
    Ok(HttpResponse::Ok().json(List { items, metadata }))
}

/// Looks at every parent, which must not block other requests.
pub(super) async fn find(board: &Board, query: SearchQuery) -> Result<Share<FoundParent>, Refused> {
    let board = board.clone();
    block(move || found(&board, &query)).await.map_err(|_| Refused::Stopping)?
}

fn found(board: &Board, query: &SearchQuery) -> Result<Share<FoundParent>, Refused> {
    let (needle, mut found, mut chosen) = (query.q.to_lowercase(), Vec::new(), 0);
    let rank = |key: &ObjectKey, state: &ParentState| {
        let is_here =
            query.namespace.is_empty() || key.namespace.as_deref() == Some(&*query.namespace);
        (is_here && contains(key, &needle)).then(|| severity(state))
    };
    for operator in operators(board, &query.operator)? {
        let name = operator.info.name.as_str();
        // It may be gone meanwhile.
        let selection = board.select(name, &Window::first(SHOWN), rank).unwrap_or_default();
        chosen += selection.chosen;
        found.extend(selection.items.into_iter().map(|(key, state)| Item {
            spot: Spot { rank: severity(&state), key, operator: name.to_owned() },
            value: FoundParent { kind: operator.info.config.parent.kind().to_owned(), state },
        }));
    }
    found.sort_by(|one, other| one.spot.cmp(&other.spot));
    found.truncate(SHOWN);
    let last = found.last().map(|item| item.spot.clone());
    Ok(Share { has_more: found.len() < chosen, items: found, last, total: Some(chosen) })
}

fn operators(board: &Board, only: &str) -> Result<Vec<OperatorSnapshot>, Refused> {
    match only {
        "" => Ok(board.operators()),
        name => board
            .operator(name)
            .map(|operator| vec![operator])
            .ok_or_else(|| Refused::NoOperator(name.to_owned())),
    }
}

/// Whether `namespace/name` contains a text in small letters, ignoring case.
pub(super) fn contains(key: &ObjectKey, needle: &str) -> bool {
    needle.is_empty() || key.to_string().to_lowercase().contains(needle)
}

impl FoundView {
    fn item(Item { spot, value: FoundParent { kind, state } }: Item<FoundParent>) -> Item<Self> {
        let parent = ParentView::new(&spot.key, &state);
        Item { value: Self { operator: spot.operator.clone(), kind, parent }, spot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{OperatorInfo, ParentPhase},
        object::{K8sType, Uid},
        operator::OperatorConfig,
    };

    /// A board of operators with these parents each, of which those that end in `x` fail.
    fn board(operators: &[&str], keys: &[String]) -> Board {
        let board = Board::new();
        for operator in operators {
            let config = OperatorConfig::new(operator, K8sType::namespaced("v1", "Pod", "pods"));
            let name = config.operator_name().unwrap();
            board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
            for key in keys {
                let phase =
                    if key.ends_with('x') { ParentPhase::Failing } else { ParentPhase::Ready };
                let state = ParentState { phase, ..ParentState::pending(Uid::new(key), None) };
                board.record(&name, &key.parse().unwrap(), state);
            }
        }
        board
    }

    fn search(board: &Board, q: &str, operator: &str, namespace: &str) -> (Vec<String>, usize) {
        let [q, operator, namespace] = [q, operator, namespace].map(str::to_owned);
        let found = found(board, &SearchQuery { q, operator, namespace }).unwrap();
        let shown = found.items.iter().map(|it| format!("{} {}", it.spot.operator, it.spot.key));
        (shown.collect(), found.remaining())
    }

    #[test]
    fn the_parents_of_all_operators_are_found_the_worst_first() {
        let keys = ["a/web", "a/web-x", "b/WEB-1", "b/db-x"].map(str::to_owned);
        let board = board(&["baker", "cook"], &keys);
        for (q, operator, namespace, expected) in [
            (
                "web-",
                "",
                "",
                vec!["baker a/web-x", "cook a/web-x", "baker b/WEB-1", "cook b/WEB-1"],
            ),
            ("A/W", "cook", "", vec!["cook a/web-x", "cook a/web"]),
            ("", "cook", "b", vec!["cook b/db-x", "cook b/WEB-1"]),
            ("nothing", "", "", vec![]),
        ] {
            let (found, remaining) = search(&board, q, operator, namespace);
            assert_eq!(found, expected, "{q} {operator} {namespace}");
            assert_eq!(remaining, 0);
        }
        let query = SearchQuery { operator: "nobody".to_owned(), ..SearchQuery::default() };
        assert!(matches!(found(&board, &query), Err(Refused::NoOperator(_))));
    }

    #[test]
    fn at_most_fifty_are_shown_and_the_rest_is_counted() {
        let mut keys: Vec<String> = (0..200).map(|number| format!("ns/{number:03}")).collect();
        keys.push("ns/zx".to_owned());
        let names: Vec<String> = (0..50).map(|number| format!("op-{number:02}")).collect();
        let board = board(&names.iter().map(String::as_str).collect::<Vec<_>>(), &keys);
        let (found, remaining) = search(&board, "s/", "", "");
        assert_eq!((found.len(), remaining), (SHOWN, 50 * 201 - SHOWN));
        assert!(found.iter().all(|it| it.ends_with("ns/zx")), "those that fail: {found:?}");
        let (found, remaining) = search(&board, "/00", "", "");
        assert_eq!((found.len(), remaining), (SHOWN, 50 * 10 - SHOWN));
        assert_eq!(found[1], "op-01 ns/000");
    }
}
