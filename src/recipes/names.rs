//! Names that fit the rules of Kubernetes, also where they are made of the name of a parent, which may be longer.
//!
//! Only the form is decided here: whether a name is free is known by the server.

use super::digest;

/// What a name is for. Each has at most 63 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS-1123 label: lower case letters, digits and `-`, which begins and ends with a letter or digit. For most
    /// objects, and for containers, volumes and namespaces.
    Label,
    /// A DNS-1035 label: the same, and begins with a letter. For Services.
    ServiceName,
    /// The value of a label: letters, digits, `-`, `_` and `.`, which begins and ends with a letter or digit; or empty.
    LabelValue,
}

/// The most characters that each of the rules allows.
const MAX: usize = 63;
/// 60 bits.
const HASH_LENGTH: usize = 12;
/// Room for a letter, a hyphen and the hash.
const MIN: usize = HASH_LENGTH + 2;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl NameRule {
    /// The text as such a name of at most 63 characters.
    ///
    /// A text that is one already stays as it is. Any other is shortened and changed, and gets a suffix: twelve
    /// characters of a SHA-256 of the whole text. So texts that differ only in what was cut off or changed have
    /// different names, and the same text always has the same.
    ///
    /// ```
    /// use operetta::recipes::NameRule;
    ///
    /// assert_eq!(NameRule::Label.fit("shop-config"), "shop-config");
    /// assert_eq!(NameRule::Label.fit("shop.example.com"), "shop-example-com-uukrbhuu6nww");
    /// assert_eq!(NameRule::ServiceName.fit("1st-shop"), "x1st-shop-elnhquexvqyg");
    /// assert_eq!(NameRule::LabelValue.fit("Shop.Example_1"), "Shop.Example_1");
    /// let long = "x".repeat(100);
    /// assert_eq!(NameRule::Label.fit(&long).len(), 63);
    /// ```
    pub fn fit(self, text: &str) -> String {
        self.fit_within(MAX, text)
    }

    /// The same with at most `max` characters, at least 14 and at most 63. Kubernetes itself makes longer names of
    /// some: 52 are left for a `StatefulSet` and a `CronJob`.
    ///
    /// ```
    /// use operetta::recipes::NameRule;
    ///
    /// let name = NameRule::Label.fit_within(52, &format!("{}-backup", "shop".repeat(20)));
    /// assert_eq!(name.len(), 52);
    /// ```
    pub fn fit_within(self, max: usize, text: &str) -> String {
        let max = max.clamp(MIN, MAX);
        if text.len() <= max && self.is_fit(text) {
            return text.to_owned();
        }
        let mut name = self.replaced(text);
        name.truncate(max - 1 - HASH_LENGTH);
        let end = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
        name.truncate(end);
        if name.is_empty() {
            name.push('x');
        }
        format!("{name}-{}", hash(text))
    }

    /// Whether a text is such a name as it is.
    pub fn is_fit(self, text: &str) -> bool {
        let is_inside =
            |c: u8| self.allows(c) || (self == Self::LabelValue && b"_.".contains(&c)) || c == b'-';
        let (first, last) = (text.bytes().next(), text.bytes().last());
        let (Some(first), Some(last)) = (first, last) else { return self == Self::LabelValue };
        text.len() <= MAX
            && self.allows(first)
            && self.allows(last)
            && (self != Self::ServiceName || first.is_ascii_lowercase())
            && text.bytes().all(is_inside)
    }

    /// Whether it is a letter or digit that the name may have.
    fn allows(self, c: u8) -> bool {
        c.is_ascii_lowercase()
            || c.is_ascii_digit()
            || (self == Self::LabelValue && c.is_ascii_uppercase())
    }

    /// With other characters for those that are not allowed, and a begin that is.
    fn replaced(self, text: &str) -> String {
        let kept = |c: char| match self {
            Self::LabelValue if "_.".contains(c) || c.is_ascii_uppercase() => c,
            _ if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '-',
        };
        // Longer than any name, so that a long text costs nothing.
        let name: String = text.chars().take(2 * MAX).map(kept).collect();
        let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let begins =
            self != Self::ServiceName || name.starts_with(|c: char| c.is_ascii_lowercase());
        if begins { name.to_owned() } else { format!("x{name}") }
    }
}

fn hash(text: &str) -> String {
    let digest = digest::of_texts(&[text]);
    digest[..HASH_LENGTH].iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const RULES: [NameRule; 3] = [NameRule::Label, NameRule::ServiceName, NameRule::LabelValue];

    #[test]
    fn a_name_that_is_fine_stays() {
        let longest = "a".repeat(63);
        for name in ["a", "a-b", "web-0", "a--b", &*longest] {
            for rule in RULES {
                assert_eq!(rule.fit(name), name);
            }
        }
        for name in ["", "A_b.C", "v1.2"] {
            assert_eq!(NameRule::LabelValue.fit(name), name);
        }
        assert_eq!(NameRule::Label.fit("0a"), "0a");
    }

    #[test]
    fn every_other_text_becomes_a_name_that_fits() {
        let long = "ab.".repeat(1000);
        let cut = format!("{}-b", "a".repeat(70));
        for text in
            ["", "-", "-a", "a-", "A", "ä", "Ünïcode", "a/b", "...", "__", "1", "a b", &long, &cut]
        {
            for (rule, max) in
                RULES.into_iter().flat_map(|rule| [(rule, 63), (rule, 20), (rule, 0)])
            {
                let name = rule.fit_within(max, text);
                assert!(
                    rule.is_fit(&name) && name.len() <= max.max(MIN),
                    "{rule:?} {text}: {name}"
                );
                assert_eq!(rule.fit_within(max, text), name);
                assert_eq!(rule.fit_within(max, &name), name);
            }
        }
    }

    #[test]
    fn texts_that_were_changed_have_different_names() {
        let long = |end: &str| format!("{}{end}", "a".repeat(80));
        let texts = ["a.b", "a/b", "a_b", "A-b", "a-B", "-a-b", "a-b-", "", "-", "--"];
        let texts = texts.map(str::to_owned).into_iter().chain([long("1"), long("2"), long("")]);
        let names: BTreeSet<_> = texts.clone().map(|text| NameRule::Label.fit(&text)).collect();
        assert_eq!(names.len(), texts.count(), "{names:?}");
    }
}
