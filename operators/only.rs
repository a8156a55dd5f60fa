//! `--only`: which operators run.

use operators::Operator;

use crate::near::near;

/// A name that no operator has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("--only: there is no operator `{name}`{near}")]
pub(crate) struct UnknownOperator {
    name: String,
    near: String,
}

/// The operators of these names, in their order; all of them without names.
pub(crate) fn only(
    operators: Vec<Operator>,
    names: &[String],
) -> Result<Vec<Operator>, UnknownOperator> {
    let known: Vec<String> = operators.iter().map(|one| one.config.name.clone()).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(UnknownOperator { name: name.clone(), near: near(name, &known) }),
        None if names.is_empty() => Ok(operators),
        None => Ok(operators.into_iter().filter(|one| names.contains(&one.config.name)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(names: &[&str]) -> Result<Vec<String>, UnknownOperator> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let selected = only(operators::all(), &names)?;
        Ok(selected.into_iter().map(|one| one.config.name).collect())
    }

    #[test]
    fn operators_are_selected_by_name() {
        assert_eq!(selected(&["temp-namespace"]).unwrap(), ["temp-namespace"]);
        assert_eq!(selected(&[]).unwrap().len(), operators::all().len());
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_known_ones() {
        let error = selected(&["echo-server", "temp-namepsace"]).unwrap_err().to_string();
        assert!(error.contains("`temp-namepsace`; did you mean `temp-namespace`?"), "{error}");
        let error = selected(&["postgres"]).unwrap_err().to_string();
        assert!(error.contains("`echo-server`, `temp-namespace`"), "{error}");
    }
}
