//! All metrics of an operator, and their limits.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use super::{
    MetricError,
    family::{Family, MAX_SERIES, OVERFLOW},
    kind::MetricKind,
    names::cut,
    values::Value,
};

/// The most metrics of an operator.
pub(super) const MAX_METRICS: usize = 50;
/// The longest help text, in bytes.
const MAX_HELP: usize = 500;

#[derive(Default)]
pub(super) struct State {
    pub(super) families: BTreeMap<String, Family>,
    /// Which metrics have overflowed since this was read, once each.
    pub(super) news: Vec<String>,
    has_too_many: bool,
}

/// A series that a handler asks for; the names and values of its labels are valid and in order.
pub(super) struct Asked<'a> {
    pub(super) kind: MetricKind,
    pub(super) name: &'a str,
    pub(super) help: &'a str,
    pub(super) labels: Vec<String>,
    pub(super) values: Vec<String>,
    pub(super) limits: &'a [f64],
}

impl State {
    /// The series, and whether it is beyond a limit.
    pub(super) fn series(&mut self, asked: Asked<'_>) -> Result<(Arc<Value>, bool), MetricError> {
        let Asked { kind, name, help, labels, values, limits } = asked;
        let is_full = self.families.len() >= MAX_METRICS;
        let family = match self.families.entry(name.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_full => return Ok((self.too_many(name, limits), true)),
            Entry::Vacant(free) => {
                let help = cut(help, MAX_HELP).to_owned();
                free.insert(Family::new(kind, help, labels.clone(), limits))
            }
        };
        family.check(name, kind, &labels, limits)?;
        let (value, is_beyond) = family.series(values);
        if is_beyond && !std::mem::replace(&mut family.has_overflowed, true) {
            self.news.push(format!(
                "the metric {name:?} of the handler has more than {MAX_SERIES} series, so others are counted \
                 together as {OVERFLOW:?}: a label must have few values"
            ));
        }
        Ok((value, is_beyond))
    }

    /// A value that is not shown.
    fn too_many(&mut self, name: &str, limits: &[f64]) -> Arc<Value> {
        if !std::mem::replace(&mut self.has_too_many, true) {
            self.news.push(format!(
                "the handler has more than {MAX_METRICS} metrics, so {name:?} and others are not shown"
            ));
        }
        Arc::new(Value::new(limits))
    }
}
