//! The forms in which a text quotes a value.

use std::{borrow::Cow, collections::BTreeSet};

use base64::{
    Engine as _,
    alphabet::{STANDARD as PLAIN, URL_SAFE},
    engine::{
        DecodePaddingMode,
        general_purpose::{
            GeneralPurpose, GeneralPurposeConfig, STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD,
        },
    },
};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Replaces a secret.
pub(crate) const REDACTED: &str = "(redacted)";

/// A shorter word is no value in base64.
const MIN_WORD: usize = 6;
/// How many folders of a path may be before one.
const MAX_DEPTH: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// Both alphabets.
const ENCODINGS: [GeneralPurpose; 2] =
    [GeneralPurpose::new(&PLAIN, LENIENT), GeneralPurpose::new(&URL_SAFE, LENIENT)];

/// Plain and on one line, as JSON, Go and YAML quote it, quoted once more, and in both alphabets of base64.
pub(super) fn forms(text: &str) -> BTreeSet<String> {
    let once = quoted(text);
    let for_html = once.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let in_ascii = in_ascii(&once);
    [
        text.replace('\n', " "),
        text.replace('\'', "''"),
        quoted(&once),
        quoted(&for_html),
        for_html,
        in_ascii,
        once,
        STANDARD.encode(text),
        STANDARD_NO_PAD.encode(text),
        URL_SAFE_NO_PAD.encode(text),
        text.to_owned(),
    ]
    .into()
}

fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As a JSON text in ASCII.
fn in_ascii(text: &str) -> String {
    let mut units = [0; 2];
    let mut shown = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            shown.push(letter);
        } else {
            let units = letter.encode_utf16(&mut units).iter();
            shown.extend(units.map(|unit| format!("\\u{unit:04x}")));
        }
    }
    shown
}

/// Hides a short value where it is in quotes, or follows `=` or `:`.
pub(super) fn hide_short(text: &str, value: &str) -> Option<String> {
    let mut shown = String::new();
    let mut rest = 0;
    for (at, _) in text.match_indices(value) {
        let before = text[..at].trim_end_matches(' ');
        let after = text[at + value.len()..].chars().next();
        let is_quoted = before.ends_with(['"', '\'', '`', '=', ':']);
        let is_whole = after.is_none_or(|next| !next.is_alphanumeric() && next != '_');
        if at >= rest && is_quoted && is_whole {
            shown.push_str(&text[rest..at]);
            shown.push_str(REDACTED);
            rest = at + value.len();
        }
    }
    (rest > 0).then(|| shown + &text[rest..])
}

/// Hides each word in base64 or of a URL that has a secret in it.
pub(super) fn hide_encoded(text: &str, is_secret: impl Fn(&str) -> bool) -> Option<String> {
    let words = text.split(ends_word);
    let mut found: Vec<&str> = words.filter(|word| has_in_base64(word, &is_secret)).collect();
    let of_urls = text.split(|letter: char| letter.is_whitespace() || "\"'`<>".contains(letter));
    found.extend(of_urls.filter(|word| has_in_url(word, &is_secret)));
    // A longer word may contain a shorter one.
    found.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let hide = |shown: String, word: &str| shown.replace(word, REDACTED);
    (!found.is_empty()).then(|| found.into_iter().fold(text.to_owned(), hide))
}

fn ends_word(letter: char) -> bool {
    !(letter.is_ascii_alphanumeric() || "+/-_=".contains(letter))
}

fn has_in_base64(word: &str, is_secret: &impl Fn(&str) -> bool) -> bool {
    // It may be a parameter, or the end of a path.
    let parts = word.split('=').flat_map(ends_of);
    parts.filter(|part| part.len() >= MIN_WORD).any(|part| {
        let mut decoded = ENCODINGS.iter().filter_map(|encoding| encoding.decode(part).ok());
        decoded.any(|bytes| is_secret(&String::from_utf8_lossy(&bytes)))
    })
}

/// A text, and what follows each of the first slashes in it.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let after = path.match_indices('/').take(MAX_DEPTH).map(|(at, _)| &path[at + 1..]);
    std::iter::once(path).chain(after)
}

fn has_in_url(word: &str, is_secret: &impl Fn(&str) -> bool) -> bool {
    if !word.contains(['%', '+']) {
        return false;
    }
    let decoded: Cow<'_, str> = percent_decode_str(word).decode_utf8_lossy();
    let of_form = percent_decode_str(&word.replace('+', " ")).decode_utf8_lossy().into_owned();
    is_secret(&decoded) || is_secret(&of_form)
}
