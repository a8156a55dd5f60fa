//! Which fields others hold, from the causes of a 409.

use crate::{
    diff::is_handed_over,
    object::K8sType,
    operator::Labels,
    plan::{HeldField, is_ownership_field},
    reply::{ApiError, Cause},
};

/// The fields of other managers for which the server refused an apply; `None` if it refused for another reason.
pub(in crate::run) fn held(error: &ApiError) -> Vec<HeldField> {
    let held = conflicts(error).map(|cause| {
        let manager = Holder::read(cause).map(|holder| holder.manager);
        HeldField { path: cause.field.clone(), manager }
    });
    held.collect()
}

/// The fields that remain held after an adoption: built-in Kubernetes managers keep theirs, and entries of a
/// subresource or another version stay with their manager.
///
/// The server refused the apply for another reason.
pub(super) fn held_after_adoption(
    error: ApiError,
    ty: &K8sType,
    labels: &Labels,
) -> Result<Vec<HeldField>, ApiError> {
    let stays = |cause: &&Cause| {
        let is_given = |holder: Holder| holder.is_handed_over_as(ty);
        !is_ownership_field(&cause.field, labels) && !Holder::read(cause).is_some_and(is_given)
    };
    if conflicts(&error).next().is_none() {
        return Err(error);
    }
    let held = held(&error).into_iter().zip(conflicts(&error));
    Ok(held.filter(|(_, cause)| stays(cause)).map(|(held, _)| held).collect())
}

fn conflicts(error: &ApiError) -> impl Iterator<Item = &Cause> {
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    causes.iter().filter(|cause| cause.reason == "FieldManagerConflict")
}

/// Who holds a field, as the message of a conflict says:
///
/// ```text
/// conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z
/// ```
///
/// The subresource is named where there is one, the version for updates, and the time mostly. Source: `printManager`
/// of `k8s.io/apimachinery/pkg/util/managedfields/internal`.
struct Holder {
    manager: String,
    in_subresource: bool,
    version: Option<String>,
}

impl Holder {
    /// `None` for other words: no manager is better than a wrong one.
    fn read(cause: &Cause) -> Option<Self> {
        let (manager, rest) = quoted(cause.message.strip_prefix("conflict with ")?)?;
        let (in_subresource, rest) = match rest.strip_prefix(" with subresource ") {
            Some(rest) => (true, quoted(rest)?.1),
            None => (false, rest),
        };
        let version = match rest.strip_prefix(" using ") {
            Some(using) => Some(using.split_once(" at ").map_or(using, |(version, _)| version)),
            None if rest.is_empty() => None,
            None => return None,
        };
        let is_one = |version: &str| !version.is_empty() && !version.contains(char::is_whitespace);
        let version = version.map(str::to_owned);
        let is_known = !manager.is_empty() && version.as_deref().is_none_or(is_one);
        is_known.then_some(Self { manager, in_subresource, version })
    }

    /// Whether an adoption takes over its fields of an object of this type.
    fn is_handed_over_as(&self, ty: &K8sType) -> bool {
        let is_of_it = |version: &String| version == ty.api_version();
        is_handed_over(&self.manager)
            && !self.in_subresource
            && self.version.as_ref().is_none_or(is_of_it)
    }
}

/// The text in quotes at the start, as Go quotes it, and what follows. The characters of a manager are printable, so
/// only quotes and backslashes are escaped.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut characters = text.strip_prefix('"')?.chars();
    let mut inside = String::new();
    loop {
        match characters.next()? {
            '"' => return Some((inside, characters.as_str())),
            '\\' => match characters.next()? {
                escaped @ ('"' | '\\') => inside.push(escaped),
                _ => return None,
            },
            other => inside.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(message: &str) -> Option<Holder> {
        Holder::read(&Cause { message: message.to_owned(), ..Cause::default() })
    }

    #[test]
    fn the_manager_of_a_conflict_is_read_whole_or_not_at_all() {
        let at = "apps/v1 at 2026-01-01T00:00:00Z";
        for (message, expected) in [
            (r#"conflict with "kubectl""#.to_owned(), Some("kubectl")),
            (format!(r#"conflict with "kubectl" using {at}"#), Some("kubectl")),
            (format!(r#"conflict with "a" with subresource "scale" using {at}"#), Some("a")),
            (r#"conflict with "a" with subresource "status""#.to_owned(), Some("a")),
            (r#"conflict with "a" using v1"#.to_owned(), Some("a")),
            // Names of managers may have any printable characters.
            (format!(r#"conflict with "my \"own\" tool" using {at}"#), Some(r#"my "own" tool"#)),
            (r#"conflict with "a\" using v1 \"b""#.to_owned(), Some(r#"a" using v1 "b"#)),
            (r#"conflict with "a\\" using v1"#.to_owned(), Some(r"a\")),
            (r#"conflict with "ü using v1""#.to_owned(), Some("ü using v1")),
            // Other words.
            (r#"conflict with manager "a""#.to_owned(), None),
            (r#"conflict with "a", "b""#.to_owned(), None),
            (r#"conflict with "a" (using v1)"#.to_owned(), None),
            (r#"conflict with "a" using "v1""#.to_owned(), Some("a")),
            (r#"conflict with "a" using v1 by "b""#.to_owned(), None),
            (r#"conflict with "a" using "#.to_owned(), None),
            (r#"conflict with "a\x41""#.to_owned(), None),
            (r#"conflict with """#.to_owned(), None),
            (r#"conflict with "a"#.to_owned(), None),
            ("\"a\"".to_owned(), None),
            (String::new(), None),
        ] {
            let manager = holder(&message).map(|holder| holder.manager);
            assert_eq!(manager.as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn an_adoption_leaves_fields_of_subresources_other_versions_and_unknown_managers() {
        let ty = K8sType::namespaced("apps/v1", "Deployment", "deployments");
        for (message, expected) in [
            (r#"conflict with "kubectl" using apps/v1"#, true),
            (r#"conflict with "kubectl""#, true),
            (r#"conflict with "kubectl" using apps/v1beta1"#, false),
            (r#"conflict with "kubectl" with subresource "scale" using apps/v1"#, false),
            (r#"conflict with "kube-controller-manager" using apps/v1"#, false),
        ] {
            assert_eq!(holder(message).unwrap().is_handed_over_as(&ty), expected, "{message}");
        }
    }
}
