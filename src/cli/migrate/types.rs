//! Which types to migrate: those of the program, or the one that was named.

use std::collections::BTreeMap;

use crate::{
    cli::near::near,
    object::K8sType,
    operator::{AnyOperator, conversion::Versions},
};

/// The CRD of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    /// Whether the user named it, so that it must be there.
    pub(super) is_named: bool,
}

/// There is no such type.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is no custom type of the program{near}. Another type is named as its CRD: PLURAL.GROUP"
)]
pub(super) struct UnknownType {
    name: String,
    near: String,
}

/// The custom types of a program, each once.
pub(super) fn known<'a>(
    operators: &'a [AnyOperator],
    versions: impl Iterator<Item = &'a Versions>,
) -> Vec<K8sType> {
    let parents = operators.iter().map(|one| one.config().parent().clone());
    let all = parents.chain(versions.map(|versions| versions.hub.clone()));
    let custom = all.filter(|ty| !ty.is_builtin()).map(|ty| (ty.resource_name(), ty));
    custom.collect::<BTreeMap<_, _>>().into_values().collect()
}

pub(super) fn chosen(known: &[K8sType], name: Option<&str>) -> Result<Vec<Wanted>, UnknownType> {
    let wanted = |name: String, is_named| Wanted { name, is_named };
    let Some(name) = name else {
        return Ok(known.iter().map(|ty| wanted(ty.resource_name(), false)).collect());
    };
    let is_it = |ty: &&K8sType| {
        [&*ty.resource_name(), ty.plural()].contains(&name) || ty.kind().eq_ignore_ascii_case(name)
    };
    match known.iter().find(is_it) {
        Some(ty) => Ok(vec![wanted(ty.resource_name(), true)]),
        None if name.contains('.') => Ok(vec![wanted(name.to_owned(), true)]),
        None => {
            let names: Vec<String> = known.iter().map(K8sType::resource_name).collect();
            Err(UnknownType { name: name.to_owned(), near: near(name, &names) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{operator::OperatorConfig, supervisor::tests::sync};

    #[test]
    fn a_type_is_named_by_its_crd_its_plural_or_its_kind() {
        let of = |name: &str, ty: &K8sType| {
            AnyOperator::new(OperatorConfig::new(name, ty.clone()), sync)
        };
        let shops = K8sType::namespaced("example.com/v1", "Shop", "shops");
        let maps = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let operators = [of("a", &shops), of("b", &shops), of("c", &maps)];
        let known = known(&operators, std::iter::empty());
        let names = |name: Option<&str>| {
            let chosen = chosen(&known, name).map_err(|error| error.to_string())?;
            Ok::<_, String>(chosen.into_iter().map(|it| (it.name, it.is_named)).collect::<Vec<_>>())
        };
        let shop = "shops.example.com".to_owned();
        assert_eq!(names(None), Ok(vec![(shop.clone(), false)]));
        for name in ["shops.example.com", "shops", "Shop", "shop"] {
            assert_eq!(names(Some(name)), Ok(vec![(shop.clone(), true)]), "{name}");
        }
        assert_eq!(names(Some("tills.example.com")).unwrap()[0].0, "tills.example.com");
        let error = names(Some("shpos")).unwrap_err();
        assert!(error.contains("`shops.example.com`"), "{error}");
    }
}
