//! Rust names for the names of a schema, and names that are unique.
//!
//! Only ASCII letters and digits are part of a name; whatever else there is separates words.

use std::collections::BTreeSet;

/// Names that were given. A name that is taken gets a number, so that the same schema always has the same names.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// The name, or the first of `name2`, `name3`, .. that is free.
    pub(crate) fn unique(&mut self, name: String) -> String {
        let numbered = (2_usize..).map(|number| format!("{name}{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|candidate| !self.0.contains(candidate)).unwrap_or(name);
        self.0.insert(free.clone());
        free
    }
}

/// The words that are identifiers only as `r#name`; those of `NEVER_RAW` not even so.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
const NEVER_RAW: [&str; 4] = ["self", "Self", "super", "crate"];

/// Whether a name is an identifier only as `r#name`.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// `privateKey` is `private_key`, `externalIPs` is `external_ips`, `self` is `self_`.
pub(crate) fn field(json: &str) -> String {
    let name = words(json).join("_").to_lowercase();
    let name = if name.is_empty() { "field".to_owned() } else { name };
    identifier(name, "_")
}

/// `privateKey` is `PrivateKey`; what is upper-case stays so: `HTTPRoute`.
pub(crate) fn type_name(json: &str) -> String {
    identifier(joined(pieces(json).map(capitalised)), "T")
}

/// `in_path` of a type within another.
pub(crate) fn nested(parent: &str, json: &str) -> String {
    let inner = joined(pieces(json).map(capitalised));
    identifier(joined([parent.to_owned(), inner].into_iter()), "T")
}

/// The variant of an enum for a value: `RSA` is `Rsa`, `ALWAYS_ON` is `AlwaysOn`, `TLSv1.3` is `TLSv1_3`, `5m` is `V5m`.
pub(crate) fn variant(value: &str) -> String {
    if value.is_empty() {
        return "Empty".to_owned();
    }
    let is_shouted = |piece: &str| !piece.contains(|c: char| c.is_ascii_lowercase());
    let word = |piece: &str| {
        if is_shouted(piece) { capitalised(&piece.to_lowercase()) } else { capitalised(piece) }
    };
    let name = joined(pieces(value).map(word));
    identifier(if name.is_empty() { "Value".to_owned() } else { name }, "V")
}

/// Makes a name an identifier by what begins it, if it begins with a digit.
fn identifier(name: String, start: &str) -> String {
    match name.chars().next() {
        None => start.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{start}{name}"),
        Some(_) if NEVER_RAW.contains(&&*name) => format!("{name}_"),
        Some(_) => name,
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty())
}

fn capitalised(piece: &str) -> String {
    let (first, rest) = piece.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// Two numbers stay apart: `1.3` is not `13`.
fn joined(pieces: impl Iterator<Item = String>) -> String {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    pieces.fold(String::new(), |name, piece| {
        let is_split = is_digit(name.chars().last()) && is_digit(piece.chars().next());
        name + if is_split { "_" } else { "" } + &piece
    })
}

/// The words of a name in camel case, as Kubernetes writes them.
fn words(text: &str) -> Vec<String> {
    pieces(text).flat_map(words_of_piece).collect()
}

fn words_of_piece(piece: &str) -> Vec<String> {
    let letters: Vec<char> = piece.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let begins = at > 0 && begins_word(&letters, at);
        if begins {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.push(*letter));
    }
    words
}

/// Whether an upper-case letter begins a word: after a lower-case letter or a digit, or as the last of several before a
/// lower-case letter. The endings of `IPs` and of `IPv4` are no words.
fn begins_word(letters: &[char], at: usize) -> bool {
    if !letters[at].is_ascii_uppercase() {
        return false;
    }
    let next = |offset: usize| letters.get(at + offset);
    let is_plural = next(1) == Some(&'s') && next(2).is_none_or(|c| !c.is_ascii_lowercase());
    let is_version = next(1) == Some(&'v') && next(2).is_some_and(char::is_ascii_digit);
    let ends_acronym = next(1).is_some_and(char::is_ascii_lowercase) && !is_plural && !is_version;
    !letters[at - 1].is_ascii_uppercase() || ends_acronym
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_in_snake_case_and_acronyms_are_one_word() {
        for (json, expected) in [
            ("privateKey", "private_key"),
            ("externalIPs", "external_ips"),
            ("clusterIP", "cluster_ip"),
            ("podCIDRsAllowed", "pod_cidrs_allowed"),
            ("supportsIPv4", "supports_ipv4"),
            ("IPv6Address", "ipv6_address"),
            ("HTTPGetAction", "http_get_action"),
            ("sha256Sum", "sha256_sum"),
            ("oAuth2", "o_auth2"),
            ("x-kubernetes-thing", "x_kubernetes_thing"),
            ("$ref", "ref"),
            ("", "field"),
            ("größe", "gr_e"),
            ("5m", "_5m"),
            ("type", "type"),
            ("self", "self_"),
            ("Self", "self_"),
            ("crate", "crate_"),
            ("super", "super_"),
        ] {
            assert_eq!(field(json), expected, "{json}");
        }
    }

    #[test]
    fn a_type_keeps_how_its_kind_is_written() {
        assert_eq!(type_name("HTTPRoute"), "HTTPRoute");
        assert_eq!(type_name("self"), "Self_");
        assert_eq!(type_name("my-kind"), "MyKind");
        assert_eq!(type_name("9Lives"), "T9Lives");
        assert_eq!(nested("CertificateSpec", "privateKey"), "CertificateSpecPrivateKey");
        assert_eq!(nested("TlsV1", "3"), "TlsV1_3");
        assert_eq!(nested("Spec", "$"), "Spec");
    }

    #[test]
    fn every_value_of_an_enum_has_a_variant() {
        for (value, expected) in [
            ("RSA", "Rsa"),
            ("ALWAYS_ON", "AlwaysOn"),
            ("IfNotPresent", "IfNotPresent"),
            ("key encipherment", "KeyEncipherment"),
            ("TLSv1.3", "TLSv1_3"),
            ("1.3", "V1_3"),
            ("5m", "V5m"),
            ("", "Empty"),
            (">=", "Value"),
            ("Self", "Self_"),
            ("self", "Self_"),
        ] {
            assert_eq!(variant(value), expected, "{value}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_the_next_number() {
        let mut names = Names::default();
        let given = ["Spec", "Spec", "Spec2", "Spec"].map(|name| names.unique(name.to_owned()));
        assert_eq!(given, ["Spec", "Spec2", "Spec22", "Spec3"]);
    }

    #[test]
    fn a_name_is_never_a_word_that_cannot_be_an_identifier() {
        for word in KEYWORDS.iter().chain(&NEVER_RAW) {
            let name = field(word);
            let raw = if is_keyword(&name) { format!("r#{name}") } else { name };
            syn::parse_str::<syn::Ident>(&raw).unwrap();
            syn::parse_str::<syn::Ident>(&variant(word)).unwrap();
            syn::parse_str::<syn::Ident>(&type_name(word)).unwrap();
        }
    }
}
