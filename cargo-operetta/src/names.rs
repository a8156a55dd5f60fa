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
    #[error(
        "`{0}` is no name of a webhook: use up to 63 lower-case letters, digits and `-`, with a letter first, such as \
         `short-names`; not a word of Rust, `webhook`, or the name of a function beside it"
    )]
    Webhook(String),
    #[error("`{0}` is no version: use one such as `v1`, `v2alpha1` or `v1beta2`")]
    Version(String),
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

/// The function and the module of a webhook: `short_names` of `short-names`.
pub(crate) fn webhook_function(name: &str) -> Result<String, NameError> {
    let function = name.replace('-', "_");
    let is_name = is_label(name)
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && syn::parse_str::<syn::Ident>(&function).is_ok()
        // The function beside it, and the words of its tests.
        && !["webhook", "config", "sync", "named", "tests"].contains(&name);
    if is_name { Ok(function) } else { Err(NameError::Webhook(name.to_owned())) }
}

/// Whether a text is a version as Kubernetes orders them: `v1`, `v1alpha1`, `v1beta2`.
pub(crate) fn check_version(text: &str) -> Result<(), NameError> {
    let is_number = |text: &str| {
        text.starts_with(|first: char| matches!(first, '1'..='9'))
            && text.len() <= 9
            && text.chars().all(|letter| letter.is_ascii_digit())
    };
    let is_version = text.strip_prefix('v').is_some_and(|numbers| {
        let split = numbers.split_once("alpha").or_else(|| numbers.split_once("beta"));
        split.map_or(is_number(numbers), |(major, minor)| is_number(major) && is_number(minor))
    });
    if is_version { Ok(()) } else { Err(NameError::Version(text.to_owned())) }
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

    #[test]
    fn webhooks_are_named_by_labels_that_are_functions_too() {
        assert_eq!(webhook_function("short-names").unwrap(), "short_names");
        for name in ["", "Short", "1st", "short-", "a_b", "a.b", "type", "self", "webhook", "ä"] {
            assert_eq!(webhook_function(name), Err(NameError::Webhook(name.to_owned())));
        }
    }

    #[test]
    fn versions_are_those_that_kubernetes_orders() {
        for version in ["v1", "v12", "v1alpha1", "v2beta10"] {
            assert_eq!(check_version(version), Ok(()));
        }
        for version in
            ["", "1", "v", "v0", "v1alpha", "alpha1", "v1gamma1", "V1", "v1-1", "v1alpha0"]
        {
            assert_eq!(check_version(version), Err(NameError::Version(version.to_owned())));
        }
    }
}
