//! Whole lists, page by page, and the names in them that are similar to a name that does not exist.

use serde_json::{Value, json};

use super::{
    parent::{ParentName, segment},
    problem::Problem,
    server::Server,
};
use crate::{cli::near::near, object::OneLine};

/// The parents of an operator that pass a filter, of all pages.
pub(super) async fn all_parents(
    server: &Server,
    operator: &str,
    filter: &[(&str, Option<String>)],
) -> Result<Value, Problem> {
    let given = filter.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let filter = given.map(|(name, value)| format!("&{name}={}", segment(value)));
    let filter = filter.collect::<Vec<_>>().concat();
    let first = format!("/api/v1/operators/{}/parents?limit=5000{filter}", segment(operator));
    let (mut items, mut missing) = (Vec::new(), Value::Null);
    let mut path = first.clone();
    loop {
        let answer = server.get(&path).await;
        let mut page = named(server, operator, None, answer).await?;
        if let Some(Value::Array(more)) = page.get_mut("items").map(Value::take) {
            items.extend(more);
        }
        // A member that did not answer for one page may answer for the next.
        if let Some(more @ Value::Array(_)) = page["metadata"].get_mut("missing").map(Value::take) {
            missing = more;
        }
        match page["metadata"]["continue"].as_str() {
            Some(token) => path = format!("{first}&continue={}", segment(token)),
            None if missing.is_null() => return Ok(json!({"items": items})),
            None => return Ok(json!({"items": items, "metadata": {"missing": missing}})),
        }
    }
}

/// The processes whose parents a list lacks, a line for each.
pub(super) fn lacking(list: &Value) -> String {
    let missing = list["metadata"]["missing"].as_array().into_iter().flatten();
    let line = |one: &Value| {
        let why = one["why"].as_str().unwrap_or_default();
        match one["member"].as_str() {
            Some(member) => format!("WARNING: without the parents of {member}: {}\n", OneLine(why)),
            None => format!("WARNING: without some parents: {}\n", OneLine(why)),
        }
    };
    missing.map(line).collect()
}

/// The answer, or, if the operator or the parent does not exist, an error with the names that were meant.
pub(super) async fn named<T>(
    server: &Server,
    operator: &str,
    parent: Option<&ParentName>,
    answer: Result<T, Problem>,
) -> Result<T, Problem> {
    match answer {
        Err(problem) if problem.is_not_found() => {
            Err(missing(server, operator, parent).await?.unwrap_or(problem))
        }
        answer => answer,
    }
}

/// Which of the two does not exist; `None` if both do.
async fn missing(
    server: &Server,
    operator: &str,
    parent: Option<&ParentName>,
) -> Result<Option<Problem>, Problem> {
    let operators = names(&server.get("/api/v1/operators").await?);
    let named = operator.to_owned();
    if !operators.contains(&named) {
        let (at, near) = (server.at().to_owned(), near(operator, &operators));
        return Ok(Some(Problem::NoOperator { operator: named, at, near }));
    }
    let Some(parent) = parent else { return Ok(None) };
    // One page is enough for a suggestion.
    let page = format!("/api/v1/operators/{}/parents?limit=5000", segment(operator));
    let parents = names(&server.get(&page).await?);
    let is_there = parents.iter().any(|name| name == parent.as_str());
    let (parent, near) = (parent.to_string(), near(parent.as_str(), &parents));
    Ok((!is_there).then_some(Problem::NoParent { operator: named, parent, near }))
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().into_iter().flatten();
    let name = |item: &Value| {
        Some(ParentName::new(item["namespace"].as_str(), item["name"].as_str()?).to_string())
    };
    items.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_lacks_is_named() {
        let missing = json!([
            {"member": "cook-1", "why": "no answer\nwithin 2 s"},
            {"why": "no process works for 3 of the 64 buckets of parents yet"},
        ]);
        let list = json!({"items": [], "metadata": {"missing": missing}});
        let lines = lacking(&list);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.starts_with("WARNING: without the parents of cook-1: no answer"), "{lines}");
        assert!(lines.contains("without some parents: no process works"), "{lines}");
        assert_eq!(lacking(&json!({"items": [], "metadata": {}})), "");
    }
}
