//! Text whose long words are shortened in the middle, where names of Kubernetes differ least. The whole word is shown
//! on hover. Text between backticks is code.

use askama::{Template, filters::HtmlSafe};

use super::parts::coded;

#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = "{% for (is_code, pieces) in parts() %}{% if is_code %}<code>{% endif %}{% for (text, whole) in pieces %}{% if let Some(whole) = whole %}<span title=\"{{ whole }}\">{{ text }}</span>{% else %}{{ text }}{% endif %}{% endfor %}{% if is_code %}</code>{% endif %}{% endfor %}",
    ext = "html"
)]
pub(super) struct Shortened(String);

impl HtmlSafe for Shortened {}

type Piece<'a> = (String, Option<&'a str>);

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
    /// The parts of the text with their pieces, and whether a part is code.
    fn parts(&self) -> impl Iterator<Item = (bool, impl Iterator<Item = Piece<'_>>)> {
        coded(&self.0).map(|(is_code, text)| (is_code, pieces(text)))
    }
}

/// The pieces of a text; a shortened one with the whole.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    text.split_inclusive(' ').map(|word| match shortened(word.trim_end()) {
        Some(short) => (short + &word[word.trim_end().len()..], Some(word.trim_end())),
        None => (word.to_owned(), None),
    })
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
        let code = Shortened::from(format!("the field `{name}` of `<a>` is odd")).to_string();
        let span = format!("<code><span title=\"{name}\">{short}</span></code>");
        assert_eq!(code, format!("the field {span} of <code>&#60;a&#62;</code> is odd"));
    }
}
