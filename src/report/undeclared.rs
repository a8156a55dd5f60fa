//! What of a status is not sent because the parent's type does not declare it: a fact about the type, said
//! once for an operator.

use crate::object::K8sType;

/// So many paths are named in a sentence.
const MAX_NAMED: usize = 10;

/// The status subresource itself.
pub fn of_subresource() -> String {
    "the status subresource".to_owned()
}

/// What is wrong with a type.
pub(super) fn text(ty: &K8sType, paths: &[String]) -> String {
    let named = paths.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let named = match paths.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    };
    if let [_] = paths {
        return format!(
            "{ty} does not declare {named}, so it is not written; declare it in the CRD, or do not \
             return it"
        );
    }
    format!(
        "{ty} does not declare {named}, so they are not written; declare them in the CRD, or do not \
         return them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_is_named_and_of_very_many_some() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let paths: Vec<String> = (0..12).map(|number| format!(".status.f{number}")).collect();
        let one = text(&ty, &paths[..1]);
        assert!(one.contains("declare .status.f0, so it is not written"), "{one}");
        let two = text(&ty, &paths[..2]);
        assert!(two.contains("declare .status.f0, .status.f1, so they are not"), "{two}");
        let many = text(&ty, &paths);
        assert!(many.contains(".status.f9 and 2 more, so they"), "{many}");
        assert!(!many.contains(".status.f10"), "{many}");
    }
}
