//! The names of an operator: checked, and made of each other.

/// The names in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    /// Of the package, such as `shop-operator`.
    pub(crate) package: String,
    /// Of the crate, such as `shop_operator`.
    pub(crate) krate: String,
    /// The kind, such as `Shop`.
    pub(crate) kind: String,
    /// The kind in lower-case letters, which is the name of the operator too.
    pub(crate) singular: String,
    /// The API group.
    pub(crate) group: String,
}

/// A name that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error(
        "`{0}` is no name of a package: use lower-case letters, digits and `-`, with a letter first"
    )]
    Package(String),
    #[error(
        "--kind `{0}`: use up to 63 letters and digits, with a capital first, such as `WebShop`"
    )]
    Kind(String),
    #[error("--group `{0}`: use a DNS name with a dot, such as `shop.example.com`")]
    Group(String),
    #[error(
        "--group `{0}` is one of Kubernetes itself: use a domain of your own, such as `shop.example.com`"
    )]
    Reserved(String),
}

impl Names {
    pub(crate) fn new(
        package: &str,
        kind: Option<String>,
        group: Option<String>,
    ) -> Result<Self, NameError> {
        if !is_label(package) || !package.starts_with(|first: char| first.is_ascii_lowercase()) {
            return Err(NameError::Package(package.to_owned()));
        }
        let kind = kind.unwrap_or_else(|| kind_of(package));
        let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase())
            && kind.len() <= 63
            && kind.chars().all(|letter| letter.is_ascii_alphanumeric());
        if !is_kind {
            return Err(NameError::Kind(kind));
        }
        let singular = kind.to_ascii_lowercase();
        let group = group.unwrap_or_else(|| format!("{singular}.example.dev"));
        if !group.contains('.') || group.len() > 253 || !group.split('.').all(is_label) {
            return Err(NameError::Group(group));
        }
        if ["k8s.io", "kubernetes.io"].iter().any(|of| is_within(&group, of)) {
            return Err(NameError::Reserved(group));
        }
        let (package, krate) = (package.to_owned(), package.replace('-', "_"));
        Ok(Self { package, krate, kind, singular, group })
    }
}

/// Whether a text is a label of DNS (RFC 1123).
fn is_label(text: &str) -> bool {
    let is_inside =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(is_inside)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_within(group: &str, domain: &str) -> bool {
    group == domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// `WebShop` of `web-shop-operator`.
fn kind_of(package: &str) -> String {
    let name = package.strip_suffix("-operator").unwrap_or(package);
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    name.split('-').map(capital).collect()
}

/// `web_shop` of `WebShop`, and `dns_zone` of `DNSZone`.
pub(crate) fn snake(kind: &str) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let is_after_small = at > 0 && !letters[at - 1].is_ascii_uppercase();
        let is_before_small = at > 0 && letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && (is_after_small || is_before_small) {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(package: &str, kind: Option<&str>, group: Option<&str>) -> Result<Names, NameError> {
        Names::new(package, kind.map(str::to_owned), group.map(str::to_owned))
    }

    #[test]
    fn names_are_made_of_that_of_the_package() {
        let names = of("web-shop-operator", None, None).unwrap();
        let Names { package, krate, kind, singular, group } = names;
        assert_eq!((&*package, &*krate), ("web-shop-operator", "web_shop_operator"));
        assert_eq!((&*kind, &*singular, &*group), ("WebShop", "webshop", "webshop.example.dev"));
        assert_eq!(of("shop", None, None).unwrap().kind, "Shop");
        let till = of("shop", Some("Till"), Some("shop.example.com")).unwrap();
        assert_eq!((&*till.kind, &*till.group), ("Till", "shop.example.com"));
    }

    #[test]
    fn modules_and_functions_are_named_by_kinds() {
        for (kind, name) in [("Till", "till"), ("WebShop", "web_shop"), ("DNSZone", "dns_zone")] {
            assert_eq!(snake(kind), name);
        }
    }

    #[test]
    fn names_that_cargo_or_kubernetes_refuse_are_refused() {
        for package in ["", "Shop", "1shop", "shop-", "a_b", "a b", "ä"] {
            assert_eq!(of(package, None, None), Err(NameError::Package(package.to_owned())));
        }
        for kind in ["shop", "Web-Shop", "", "Ä"] {
            assert_eq!(of("a", Some(kind), None), Err(NameError::Kind(kind.to_owned())));
        }
        for group in ["shop", "shop..dev", "Shop.dev", ".dev", "shop.-a"] {
            assert_eq!(of("a", None, Some(group)), Err(NameError::Group(group.to_owned())));
        }
        for group in ["k8s.io", "shop.k8s.io", "apps.kubernetes.io"] {
            assert_eq!(of("a", None, Some(group)), Err(NameError::Reserved(group.to_owned())));
        }
        assert!(of("a", None, Some("notk8s.io")).is_ok());
    }
}
