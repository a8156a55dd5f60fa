//! Text whose long words are shortened in the middle, where names of Kubernetes differ least. The whole word is shown
//! on hover.

use askama::{Template, filters::HtmlSafe};

#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = "{% for (text, whole) in pieces() %}{% if let Some(whole) = whole %}<span title=\"{{ whole }}\">{{ text }}</span>{% else %}{{ text }}{% endif %}{% endfor %}",
    ext = "html"
)]
pub(super) struct Shortened(String);

impl HtmlSafe for Shortened {}

/// A longer word is shortened, in characters.
const LONGEST: usize = 48;
/// What is kept at its beginning and at its end.
const KEPT: usize = 22;

impl<T: Into<String>> From<T> for Shortened {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Shortened {
    /// The pieces of the text; a shortened one with the whole.
    fn pieces(&self) -> impl Iterator<Item = (String, Option<&str>)> {
        self.0.split_inclusive(' ').map(|word| match shortened(word.trim_end()) {
            Some(short) => (short + &word[word.trim_end().len()..], Some(word.trim_end())),
            None => (word.to_owned(), None),
        })
    }
}

fn shortened(word: &str) -> Option<String> {
    let letters: Vec<char> = word.chars().collect();
    (letters.len() > LONGEST).then(|| {
        let begin: String = letters[..KEPT].iter().collect();
        let end: String = letters[letters.len() - KEPT..].iter().collect();
        format!("{begin}…{end}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_loses_its_middle_and_keeps_it_on_hover() {
        let name = format!("ns/{}-end", "n".repeat(60));
        let shown = Shortened::from(format!("Pod {name} <b> is not ready")).to_string();
        let short = format!("ns/{}…{}-end", "n".repeat(19), "n".repeat(18));
        assert_eq!(
            shown,
            format!("Pod <span title=\"{name}\">{short} </span>&#60;b&#62; is not ready")
        );
        assert_eq!(Shortened::from("Pod ns/a").to_string(), "Pod ns/a");
    }
}
