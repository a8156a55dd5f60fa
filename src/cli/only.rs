//! `--only`: which operators run.

use std::collections::BTreeSet;

use super::near::near;
use crate::operator::AnyOperator;

/// Operators that cannot be chosen.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ChoiceError {
    /// A name that no operator has.
    #[error("--only: there is no operator `{name}`{near}")]
    Unknown { name: String, near: String },
    /// It would not run, although it was asked for.
    #[error(
        "--namespaces: the parents of the operator `{0}` have no namespace, so it works in all of them: leave it out of \
         --only, or leave --namespaces out"
    )]
    WithoutNamespace(String),
}

/// The operators of these names, in their order; all of them without names.
pub(super) fn only(
    operators: Vec<AnyOperator>,
    names: &[String],
) -> Result<Vec<AnyOperator>, ChoiceError> {
    let known: Vec<String> = operators.iter().map(|one| one.config().name().to_owned()).collect();
    let is_named = |one: &AnyOperator| names.iter().any(|name| name == one.config().name());
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(ChoiceError::Unknown { name: name.clone(), near: near(name, &known) }),
        None if names.is_empty() => Ok(operators),
        None => Ok(operators.into_iter().filter(is_named).collect()),
    }
}

/// The parent types of which no operator has one of these names, as their CRDs are named; none without names.
pub(super) fn left_out(operators: &[AnyOperator], names: &[String]) -> BTreeSet<String> {
    let is_named = |one: &&AnyOperator| {
        names.is_empty() || names.iter().any(|name| name == one.config().name())
    };
    let types = |all: Vec<&AnyOperator>| -> BTreeSet<String> {
        all.into_iter().map(|one| one.config().parent().resource_name()).collect()
    };
    let (chosen, others): (Vec<_>, Vec<_>) = operators.iter().partition(is_named);
    &types(others) - &types(chosen)
}

/// The same within these namespaces; everywhere without namespaces.
pub(super) fn within(
    operators: Vec<AnyOperator>,
    names: &[String],
    namespaces: &[String],
) -> Result<Vec<AnyOperator>, ChoiceError> {
    let chosen = only(operators, names)?;
    let is_lost = |one: &&AnyOperator| !names.is_empty() && !one.config().parent().is_namespaced();
    match chosen.iter().find(is_lost) {
        Some(lost) if !namespaces.is_empty() => {
            Err(ChoiceError::WithoutNamespace(lost.config().name().to_owned()))
        }
        _ if namespaces.is_empty() => Ok(chosen),
        _ => Ok(restricted(chosen, namespaces)),
    }
}

/// Those that can be restricted to namespaces, within these.
pub(super) fn restricted(operators: Vec<AnyOperator>, namespaces: &[String]) -> Vec<AnyOperator> {
    let can_be = |one: &AnyOperator| one.config().parent().is_namespaced();
    operators.into_iter().filter(can_be).map(|one| one.within_namespaces(namespaces)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::K8sType, operator::OperatorConfig, supervisor::tests::sync};

    fn all() -> Vec<AnyOperator> {
        let echo = K8sType::namespaced("example.dev/v1", "EchoServer", "echoservers");
        let temp = K8sType::cluster_scoped("example.dev/v1", "TempNamespace", "tempnamespaces");
        let of = |name, parent| AnyOperator::new(OperatorConfig::new(name, parent), sync);
        vec![of("echo-server", echo), of("temp-namespace", temp)]
    }

    fn selected(names: &[&str]) -> Result<Vec<String>, ChoiceError> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let selected = only(all(), &names)?;
        Ok(selected.into_iter().map(|one| one.config().name().to_owned()).collect())
    }

    #[test]
    fn operators_are_selected_by_name() {
        assert_eq!(selected(&["temp-namespace"]).unwrap(), ["temp-namespace"]);
        assert_eq!(selected(&[]).unwrap().len(), all().len());
    }

    #[test]
    fn an_operator_that_namespaces_exclude_is_refused_where_it_was_asked_for() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let chosen = |only: &[&str], namespaces: &[&str]| {
            within(all(), &names(only), &names(namespaces)).map(|all| all.len())
        };
        assert_eq!(chosen(&["echo-server"], &["a"]), Ok(1));
        assert_eq!(chosen(&["temp-namespace"], &[]), Ok(1));
        assert!(chosen(&[], &["a"]).unwrap() < all().len(), "the others are not asked for");
        let error = chosen(&["echo-server", "temp-namespace"], &["a"]).unwrap_err().to_string();
        assert!(error.contains("`temp-namespace` have no namespace"), "{error}");
    }

    #[test]
    fn types_are_left_out_that_only_others_have() {
        let left_out = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            left_out(&all(), &names).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(left_out(&["echo-server"]), ["tempnamespaces.example.dev"]);
        assert!(
            left_out(&[]).is_empty() && left_out(&["echo-server", "temp-namespace"]).is_empty()
        );
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_known_ones() {
        let error = selected(&["echo-server", "temp-namepsace"]).unwrap_err().to_string();
        assert!(error.contains("`temp-namepsace`; did you mean `temp-namespace`?"), "{error}");
        let error = selected(&["postgres"]).unwrap_err().to_string();
        assert!(error.contains("`echo-server`, `temp-namespace`"), "{error}");
    }
}
