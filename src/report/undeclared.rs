//! The message about a status field that the parent's type does not declare.

use crate::{
    object::K8sType,
    plan::{UndeclaredField, WantedBy},
};

/// The message about undeclared fields, with advice.
pub(crate) fn undeclared(ty: &K8sType, fields: &[&UndeclaredField]) -> String {
    let paths: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
    let advice = if fields.iter().any(|field| field.wanted_by == WantedBy::Handler) {
        "the CRD, or do not return what the handler returned"
    } else {
        "the CRD to see what Operetta reports there"
    };
    format!(
        "{ty} does not declare {}, which is not written; declare it in {advice}",
        paths.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_depends_on_who_wanted_the_field() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let (odd, conditions) = (
            UndeclaredField::returned(".status.odd".to_owned()),
            UndeclaredField::own("conditions"),
        );
        let both = undeclared(&ty, &[&odd, &conditions]);
        assert!(both.contains("declare .status.odd, .status.conditions, which is not"), "{both}");
        assert!(both.ends_with("or do not return what the handler returned"), "{both}");
        let own = undeclared(&ty, &[&conditions]);
        assert!(own.ends_with("declare it in the CRD to see what Operetta reports there"), "{own}");
    }
}
