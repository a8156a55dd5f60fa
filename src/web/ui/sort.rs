//! The orders of a list of parents. Pure.

use std::time::{SystemTime, UNIX_EPOCH};

use super::glance::since;
use crate::{board::ParentState, web::severity::severity};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sort {
    pub(super) column: Column,
    pub(super) is_reversed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Column {
    /// The worst first.
    #[default]
    Severity,
    Name,
    /// What has been as it is for longest comes first.
    Since,
}

impl Sort {
    /// By its value in a query; an unknown one counts as none.
    pub(super) fn named(text: &str) -> Self {
        let (name, is_reversed) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let all = [Column::Severity, Column::Name, Column::Since];
        let column = all.into_iter().find(|column| column.name() == name);
        column.map(|column| Self { column, is_reversed }).unwrap_or_default()
    }

    /// The value in a query; the default has none.
    pub(super) fn name(self) -> String {
        if self == Self::default() {
            return String::new();
        }
        format!("{}{}", if self.is_reversed { "-" } else { "" }, self.column.name())
    }

    /// After a click on the head of a column.
    pub(super) fn after(self, column: Column) -> Self {
        let is_reversed = self.column == column && !self.is_reversed;
        Self { column, is_reversed }
    }

    /// The state of a column, as `aria-sort` has it.
    pub(super) fn state(self, column: Column) -> Option<&'static str> {
        let state = if self.is_reversed { "descending" } else { "ascending" };
        (self.column == column).then_some(state)
    }

    /// The rank in this order. Equal ones are sorted by name.
    pub(super) fn rank(self, state: &ParentState) -> u64 {
        match self.column {
            Column::Severity => severity(state),
            Column::Name => 0,
            Column::Since => since(state).map_or(u64::MAX, micros),
        }
    }
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Severity => "severity",
            Self::Name => "name",
            Self::Since => "since",
        }
    }
}

fn micros(at: SystemTime) -> u64 {
    let passed = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_click_reverses_the_order() {
        let mut sort = Sort::named("odd");
        assert_eq!((sort.name(), sort.state(Column::Severity)), (String::new(), Some("ascending")));
        for (column, name) in [
            (Column::Since, "since"),
            (Column::Since, "-since"),
            (Column::Since, "since"),
            (Column::Severity, ""),
            (Column::Severity, "-severity"),
            (Column::Name, "name"),
        ] {
            sort = sort.after(column);
            assert_eq!(sort.name(), name);
            assert_eq!(Sort::named(name), sort);
            assert!(sort.state(column).is_some());
        }
    }
}
