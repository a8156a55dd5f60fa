//! How operations and their groups are named.

/// `apps_v1`
pub(super) fn tag(group: &str, version: &str) -> String {
    format!("{}_{version}", short(group))
}

/// `rbacAuthorization` of `rbac.authorization.k8s.io`
pub(super) fn short(group: &str) -> String {
    let group = if group.is_empty() { "core" } else { group };
    let mut parts = group.trim_end_matches(".k8s.io").split('.');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + &capital(part))
}

/// With a capital letter.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// A plural has none.
pub(super) fn article(noun: &str) -> &'static str {
    if noun.ends_with('s') && !noun.ends_with("ss") {
        return " ";
    }
    let is_vowel = noun.starts_with(['A', 'E', 'I', 'O', 'U']);
    if is_vowel { " an " } else { " a " }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_without_its_domain() {
        let groups = ["", "apps", "rbac.authorization.k8s.io", "example.com"];
        let tags = groups.map(|group| tag(group, "v1"));
        assert_eq!(tags, ["core_v1", "apps_v1", "rbacAuthorization_v1", "exampleCom_v1"]);
    }

    #[test]
    fn nouns_have_their_articles() {
        let with = |noun: &str| format!("a{}{noun}", article(noun));
        assert_eq!(with("Pod"), "a a Pod");
        assert_eq!(with("Ingress"), "a an Ingress");
        assert_eq!(with("Endpoints"), "a Endpoints");
    }
}
