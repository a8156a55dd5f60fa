//! What the columns of built-in types are said to show, in their order.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;

const DATA: &str = include_str!("../../../data/columns.json");

static DESCRIPTIONS: LazyLock<Descriptions> = LazyLock::new(|| {
    serde_json::from_str(DATA).expect("the data file is part of this program and tested with it")
});

#[derive(Deserialize)]
struct Descriptions {
    texts: Vec<String>,
    /// Positions in the texts, by group and resource.
    columns: HashMap<String, Vec<usize>>,
}

/// The descriptions of the columns of a type.
pub(in crate::table) fn of(group: &str, plural: &str) -> impl Iterator<Item = &'static str> {
    let positions = DESCRIPTIONS.columns.get(&format!("{group}/{plural}"));
    positions.into_iter().flatten().filter_map(|at| DESCRIPTIONS.texts.get(*at)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_of_a_built_in_type_is_described() {
        for ty in crate::builtin::types().iter().filter(|ty| ty.verbs.contains(&"list")) {
            let columns = super::super::of(ty.group, ty.plural).len();
            assert_eq!(of(ty.group, ty.plural).count(), columns, "{} {}", ty.group, ty.plural);
        }
        assert_eq!(of("autoscaling", "scales").count(), super::super::SCALE.len());
        assert_eq!(of("", "componentstatuses").count(), super::super::COMPONENT.len());
    }
}
