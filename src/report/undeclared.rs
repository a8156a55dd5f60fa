//! The message about a status field that the parent's type does not declare.

use crate::{
    object::K8sType,
    plan::{UndeclaredField, WantedBy},
};

/// The message about an undeclared field, with advice.
pub(crate) fn undeclared(
    ty: &K8sType,
    UndeclaredField { path, wanted_by }: &UndeclaredField,
) -> String {
    let advice = match wanted_by {
        WantedBy::Handler => "the CRD, or do not return it",
        WantedBy::Framework => "the CRD to see what Operetta reports there",
    };
    format!("{ty} does not declare {path}, so it is not written; declare it in {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_depends_on_who_wanted_the_field() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let returned = undeclared(&ty, &UndeclaredField::returned(".status.odd".to_owned()));
        assert!(returned.contains("declare .status.odd, so it is not written"), "{returned}");
        assert!(returned.ends_with("or do not return it"), "{returned}");
        let own = undeclared(&ty, &UndeclaredField::own("conditions"));
        assert!(own.ends_with("declare it in the CRD to see what Operetta reports there"), "{own}");
    }
}
