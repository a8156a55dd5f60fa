//! A list of the parents of an operator: filters, orders, pages, and commands for the selected ones.

use std::time::SystemTime;

use askama::{Template, filters::HtmlSafe};
use serde::{Deserialize, Serialize};

use super::{
    chips::{Chip, Counts},
    glance::Glance,
    links,
    parent_row::ParentRow,
    parts::{count, counted},
    sort::{Column, Sort},
};
use crate::{
    board::{Board, ParentState, Place, Window},
    object::ObjectKey,
    web::{
        members::{Item, Order, Share, Spot},
        search::contains,
        status::Refused,
    },
};

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct ListQuery {
    /// A part of namespace and name.
    #[serde(default)]
    q: String,
    #[serde(default)]
    phase: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    r#continue: String,
}

#[derive(Template)]
#[template(path = "parents.html")]
pub(super) struct ParentList {
    query: ListQuery,
    chips: Vec<ChipLink>,
    /// The namespaces to choose from.
    namespaces: Vec<String>,
    shown: String,
    columns: [SortLink; 3],
    rows: Vec<ParentRow>,
    first: Option<String>,
    next: Option<String>,
}

impl HtmlSafe for ParentList {}

/// What a process has of a page of the list.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ListShare {
    parents: Share<Glance>,
    counts: Counts,
}

struct ChipLink {
    words: &'static str,
    count: String,
    href: String,
    is_current: bool,
}

/// The head of a column that sorts by it.
struct SortLink {
    href: String,
    /// As `aria-sort` has it.
    state: Option<&'static str>,
}

const ROWS: usize = 50;

/// The links of a list, which keep what they do not change of its query.
struct Links<'a> {
    path: String,
    /// Empty where the path has it.
    namespace: &'a str,
    query: &'a ListQuery,
}

impl ListShare {
    /// The parents of an operator that this process works for, on the page of one namespace those in it; `None` if there
    /// is no such operator.
    pub(super) fn of(
        board: &Board,
        (operator, namespace): (&str, Option<&str>),
        query: &ListQuery,
    ) -> Result<Option<Self>, Refused> {
        let (chip, sort) = (query.chip(), query.sort());
        let after = links::place(&query.r#continue)?;
        let window = Window { after, limit: ROWS, is_reversed: sort.is_reversed };
        let (wanted, needle) = (namespace.unwrap_or(&query.namespace), query.q.to_lowercase());
        let is_here =
            |key: &ObjectKey| wanted.is_empty() || key.namespace.as_deref() == Some(wanted);
        let mut counts = Counts::default();
        let rank = |key: &ObjectKey, state: &ParentState| {
            if !is_here(key) || !contains(key, &needle) {
                return None;
            }
            counts.add(state);
            chip.is_some_and(|chip| chip.has(state)).then(|| sort.rank(state))
        };
        let Some(found) = board.select(operator, &window, rank) else { return Ok(None) };
        let spot = |Place { rank, key }| Spot { rank, key, operator: String::new() };
        let items = found.items.into_iter().map(|(key, state)| Item {
            spot: spot(Place { rank: sort.rank(&state), key }),
            value: Glance::from(&state),
        });
        let (items, last) = (items.collect(), found.last.map(spot));
        let (total, has_more) = (Some(found.chosen), found.remaining > 0);
        Ok(Some(Self { parents: Share { items, last, total, has_more }, counts }))
    }

    /// The same with those of the other processes.
    pub(super) fn with(mut self, others: Vec<Self>, query: &ListQuery) -> Self {
        let order = Order { limit: ROWS, is_reversed: query.sort().is_reversed };
        for other in &others {
            self.counts.add_all(&other.counts);
        }
        let others = others.into_iter().map(|other| other.parents);
        Self { parents: self.parents.with(others, order), ..self }
    }
}

impl ParentList {
    /// The page of an operator, or of one namespace.
    pub(super) fn new(
        ListShare { parents, counts }: ListShare,
        (operator, namespace): (&str, Option<&str>),
        query: ListQuery,
        now: SystemTime,
    ) -> Self {
        let Share { items, last, total, has_more } = parents;
        let (rows, is_later) = (items.len(), !query.r#continue.is_empty());
        let last = last.filter(|_| has_more).map(|Spot { rank, key, .. }| Place { rank, key });
        let to = Links::of((operator, namespace), &query);
        let row = |Item { spot, value }| ParentRow::new(operator, &spot.key, value, now);
        Self {
            chips: to.chips(&counts),
            namespaces: Vec::new(),
            shown: shown(rows, total.unwrap_or(rows), is_later),
            columns: [Column::Name, Column::Severity, Column::Since].map(|it| to.column(it)),
            rows: items.into_iter().map(row).collect(),
            first: is_later.then(|| to.page("")),
            next: last.map(|last| to.page(&links::token(&last))),
            query,
        }
    }

    /// Offers these namespaces.
    pub(super) fn among(self, namespaces: Vec<String>) -> Self {
        Self { namespaces, ..self }
    }
}

impl ListQuery {
    /// `None` for an unknown one, in which no parent is.
    fn chip(&self) -> Option<Chip> {
        Chip::named(&self.phase)
    }

    fn sort(&self) -> Sort {
        Sort::named(&self.sort)
    }
}

impl<'a> Links<'a> {
    fn of((operator, namespace): (&str, Option<&str>), query: &'a ListQuery) -> Self {
        let (path, namespace) = match namespace {
            Some(namespace) => (links::in_namespace(operator, namespace), ""),
            None => (links::operator(operator), &*query.namespace),
        };
        Self { path, namespace, query }
    }

    fn chips(&self, counts: &Counts) -> Vec<ChipLink> {
        let selected = self.query.chip();
        let link = |(chip, number): (Chip, usize)| ChipLink {
            words: chip.words(),
            count: count(number),
            href: self.at(chip.name(), self.query.sort(), ""),
            is_current: Some(chip) == selected,
        };
        counts.shown(selected).map(link).collect()
    }

    fn column(&self, column: Column) -> SortLink {
        let sort = self.query.sort();
        let href = self.at(&self.query.phase, sort.after(column), "");
        SortLink { href, state: sort.state(column) }
    }

    fn page(&self, after: &str) -> String {
        self.at(&self.query.phase, self.query.sort(), after)
    }

    fn at(&self, phase: &str, sort: Sort, after: &str) -> String {
        let parameters = [
            ("q", &*self.query.q),
            ("phase", phase),
            ("namespace", self.namespace),
            ("sort", &sort.name()),
            ("continue", after),
        ];
        format!("{}{}", self.path, links::query(&parameters))
    }
}

fn shown(rows: usize, chosen: usize, is_later: bool) -> String {
    match (rows, is_later) {
        (0, _) => "No parent matches.".to_owned(),
        (_, false) if rows == chosen => counted(rows, "parent", "parents"),
        (_, false) => format!("The first {rows} of {} parents", count(chosen)),
        (_, true) => format!("{rows} of {} parents", count(chosen)),
    }
}
